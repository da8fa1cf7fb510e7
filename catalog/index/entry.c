#include "catalog/index/entry.h"

#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "catalog/index/fbc.h"

struct obj *entry_chart(const struct obj *chart)
{
	static const char *const keys[] = {"name", "version", "kubeVersion", "deprecated",
					   "description"};
	struct obj *o = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (obj_get(chart, keys[i]))
			obj_set(o, keys[i], obj_ref(obj_get(chart, keys[i])));
	const char *package =
		obj_as_string(obj_get(obj_get(chart, "annotations"), PACKAGE_ANNOTATION));
	if (package) {
		struct obj *annotations = obj_map();
		obj_set_str(annotations, PACKAGE_ANNOTATION, package);
		obj_set(o, "annotations", annotations);
	}
	return o;
}

struct obj *entry_error(const char *where, const char *why, enum error_reason reason)
{
	struct obj *o = obj_map();
	obj_set_str(o, "where", where);
	obj_set_str(o, "error", why);
	if (reason)
		obj_set_str(o, "reason", error_reason_text(reason));
	return o;
}

int entry_own_crds(const struct obj *const *crds, size_t n, struct obj **ret, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	const char **resources = NULL;
	size_t n_resources = 0;
	for (size_t i = 0; i < n; i++)
		if (package_crd_resources(crds[i], a, &resources, &n_resources, err) < 0)
			return error_wrap(err, "crds");
	struct obj *list = obj_list();
	for (size_t i = 0; i < n_resources; i++)
		obj_append(list, obj_string(resources[i]));
	*ret = list;
	return 0;
}

void entry_print(const struct obj *entry, struct strbuf *lines)
{
	json_print(entry, lines);
	strbuf_addc(lines, '\n');
}

void entry_seal(struct obj *entry)
{
	struct error err = ERROR_INIT;
	struct obj *package = NULL;
	const struct obj *annotations = obj_get(obj_get(entry, "chart"), "annotations");
	struct str text = obj_as_str(obj_get(entry, "descriptor"));
	if (!text.ptr)
		text = obj_as_str(obj_get(annotations, PACKAGE_ANNOTATION));
	if (package_parse_descriptor(text, &package, &err) < 0)
		obj_set_str(entry, "error", err.msg);
	else if (package)
		obj_set(entry, "package", package);
}

void entry_print_notices(struct str text, struct strbuf *lines)
{
	struct error err = ERROR_INIT;
	struct obj *notices = NULL;
	CLEANUP(obj_unrefp) struct obj *line = obj_map();
	obj_set(line, "catalogYaml", obj_stringn(text));
	if (str_trim(text).len && yaml_parse_one(text, &notices, &err) < 0)
		obj_set_str(line, "error", err.msg);
	else if (notices)
		obj_set(line, "notices", notices);
	entry_print(line, lines);
}

static void take_notices(struct catalog_index *x, const struct obj *line)
{
	const char *problem = obj_str(line, "error");
	x->catalog_yaml = arena_strdup(x->arena, obj_str(line, "catalogYaml"));
	x->notices = obj_keep(x->arena, obj_ref(obj_get(line, "notices")));
	x->notices_error = problem ? arena_strdup(x->arena, problem) : NULL;
}

static void entry_add(struct catalog_index *x, const struct obj *entry)
{
	const char *where = obj_str(entry, "where"), *problem = obj_str(entry, "error");
	const char *digest = obj_str(entry, "digest"), *locator = obj_str(entry, "locator");
	const char *descriptor = obj_str(entry, "descriptor");
	struct error err = ERROR_INIT;
	if (problem)
		err.reason = error_reason_find(obj_str(entry, "reason"));
	else if (!digest || !*digest || !locator)
		error_because(&err, E_INVALID, REASON_MISSING_DIGEST, "nothing says what it is");
	if (problem || err.code) {
		index_reject(x, where ? where : "an entry", problem ? problem : err.msg,
			     err.reason);
		return;
	}
	struct package_source s = {.chart = obj_get(entry, "chart"),
				   .descriptor = str_of(descriptor),
				   .parsed = obj_get(entry, "package"),
				   .own_crds = obj_get(entry, "ownCrds"),
				   .unread = obj_flag(entry, "unread", false),
				   .digest = digest,
				   .locator = locator,
				   .verified_by = obj_str(entry, "verified.by"),
				   .verified_until_s = obj_i64(entry, "verified.until", 0),
				   .unusable = obj_str(entry, "unusable"),
				   .where = where};
	index_add(x, &s);
}

static int read_line(struct catalog_index *x, struct str line, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (json_parse(line, &o, err) < 0 || obj_type(o) != OBJ_MAP)
		return error_set(err, E_CORRUPT, "an entry line is damaged");
	if (obj_str(o, "catalogYaml"))
		take_notices(x, o);
	else if (obj_has(o, "generated"))
		(void)clock_parse(obj_as_str(obj_get(o, "generated")), &x->generated_ns);
	else if (obj_has(o, "olm"))
		fbc_take(x, o);
	else
		entry_add(x, o);
	return 0;
}

int entry_read_lines(struct catalog_index *x, struct str *rest, size_t max, struct error *err)
{
	struct str line;
	for (size_t i = 0; i < max && !x->over; i++) {
		if (!str_next_line(rest, &line))
			return 0;
		if (line.len && read_line(x, line, err) < 0)
			return -err->code;
	}
	return rest->len && !x->over;
}
