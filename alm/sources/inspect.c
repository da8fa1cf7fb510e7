#include "alm/sources/inspect.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "alm/render/render_host.h"
#include "catalog/index/entry.h"
#include "installers/render.h"

#define INSPECT_ARENA_BYTES ((size_t)256 << 20)

const struct sandbox_limits inspect_limits = {
	.memory_bytes = RENDER_MEMORY_BYTES, .cpu_s = RENDER_CPU_S, .wall_ns = RENDER_WALL_NS};

/* --- definitions --- */

static bool is_known(const struct obj *crds, const struct obj *o)
{
	for (size_t i = 0; i < obj_len(crds); i++)
		if (cstr_eq(meta_name(obj_at(crds, i)), meta_name(o)))
			return true;
	return false;
}

static int add_crds(struct obj *list, struct str text, const char *path, struct error *err)
{
	struct yaml_documents docs = {0};
	if (yaml_parse(text, &docs, err) < 0)
		return error_wrap(err, "%s", path);
	for (size_t i = 0; i < docs.n; i++) {
		const struct obj *o = docs.items[i].value;
		if (cstr_eq(meta_kind(o), "CustomResourceDefinition") && !is_known(list, o))
			obj_append(list, obj_ref(o));
	}
	yaml_documents_release(&docs);
	return 0;
}

static int add_files(struct obj *list, const struct chart_crds *found, struct error *err)
{
	for (size_t i = 0; i < found->files.n; i++)
		if (add_crds(list, found->files.items[i].data, found->files.items[i].path, err) < 0)
			return -err->code;
	return 0;
}

/* As the app would be without values of its own: always the same time and seed, and nothing is
 * there to be looked up. */
static int render_own(struct arena *a, const struct archive_files *files, struct render_result *ret,
		      struct strbuf *msg)
{
	static const char seed[] =
		"{\"seed\":"
		"\"0000000000000000000000000000000000000000000000000000000000000000\"}";
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	struct render_host host;
	struct obj *request = NULL;
	struct chart *chart = NULL;
	struct error err = ERROR_INIT;
	if (json_parse(str_of(seed), &request, &err) < 0 ||
	    render_host_init(&host, a, obj_keep(a, request), &err) < 0)
		return -err.code;
	struct render_request rq = {.profile = TMPL_PROFILE_4_1,
				    .ns = STR("default"),
				    .lenient = true,
				    .skip_schema = true,
				    .host = &host.host};
	int r = chart_load(a, files, &budget, rq.profile, &chart, msg);
	if (r < 0)
		return r;
	rq.name = chart->meta.name;
	return render_chart(a, chart, &rq, ret, msg);
}

static void add_rendered(struct arena *a, const struct archive_files *files, struct obj *crds)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct render_result result = {0};
	struct error ignored = ERROR_INIT;
	if (render_own(a, files, &result, &msg) < 0)
		return;
	for (size_t i = 0; i < result.n_documents; i++)
		if (str_is(result.documents[i].head.kind, "CustomResourceDefinition"))
			(void)add_crds(crds, result.documents[i].text, result.documents[i].path,
				       &ignored);
}

static int find_crds(struct arena *a, const struct archive_files *files, struct chart_crds *ret,
		     struct error *err)
{
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	return chart_crds(a, files, &budget, ret, err);
}

int inspect_crds(struct arena *a, const struct archive_files *files, struct obj *crds,
		 struct error *err)
{
	struct chart_crds found;
	if (find_crds(a, files, &found, err) < 0 || add_files(crds, &found, err) < 0)
		return -err->code;
	if (found.in_templates)
		add_rendered(a, files, crds);
	return 0;
}

/* --- the entry --- */

static int set_own_crds(struct obj *entry, const struct obj *crds, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	struct obj *own = NULL;
	size_t n = obj_len(crds);
	const struct obj **list = ARENA_ARRAY(a, const struct obj *, n);
	for (size_t i = 0; i < n; i++)
		list[i] = obj_at(crds, i);
	if (entry_own_crds(list, n, &own, err) < 0)
		return -err->code;
	obj_set(entry, "ownCrds", own);
	return 0;
}

static int read_chart(const struct archive_files *files, struct obj *entry, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *chart = NULL;
	const struct archive_file *chart_yaml = archive_find(files, "Chart.yaml");
	const struct archive_file *descriptor = archive_find(files, "alm.yaml");
	if (!chart_yaml)
		return error_set(
			err, E_INVALID,
			"the archive has no Chart.yaml; pack a chart with `alm package build`");
	if (yaml_parse_one(chart_yaml->data, &chart, err) < 0)
		return error_wrap(err, "Chart.yaml");
	obj_set(entry, "chart", entry_chart(chart));
	if (descriptor)
		obj_set(entry, "descriptor", obj_stringn(descriptor->data));
	entry_seal(entry);
	return 0;
}

static int inspect(struct arena *a, struct str packed, struct archive_files *files,
		   struct obj *entry, struct error *err)
{
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	char digest[SHA256_HEX];
	sha256_hex(packed, digest);
	obj_set_str(entry, "digest", digest);
	int r = archive_read(a, packed, &budget, files, err);
	return r < 0 ? r : read_chart(files, entry, err);
}

int inspect_archive(struct str packed, struct obj **ret_entry, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(INSPECT_ARENA_BYTES);
	CLEANUP(obj_unrefp) struct obj *entry = obj_map();
	CLEANUP(obj_unrefp) struct obj *crds = obj_list();
	struct archive_files files = {0};
	struct chart_crds found;
	if (inspect(a, packed, &files, entry, err) < 0 || find_crds(a, &files, &found, err) < 0 ||
	    add_files(crds, &found, err) < 0 || set_own_crds(entry, crds, err) < 0)
		return -err->code;
	if (found.in_templates)
		obj_set_bool(entry, "unread", true);
	*ret_entry = STEAL(entry);
	return 0;
}

int inspect_rendered(struct str packed, struct obj **ret_entry, struct obj **ret_crds,
		     struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(INSPECT_ARENA_BYTES);
	CLEANUP(obj_unrefp) struct obj *entry = obj_map();
	CLEANUP(obj_unrefp) struct obj *crds = obj_list();
	struct archive_files files = {0};
	if (inspect(a, packed, &files, entry, err) < 0 || inspect_crds(a, &files, crds, err) < 0 ||
	    set_own_crds(entry, crds, err) < 0)
		return -err->code;
	*ret_entry = STEAL(entry);
	*ret_crds = STEAL(crds);
	return 0;
}

int inspect_job(struct str input, struct strbuf *output, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *entry = NULL;
	CLEANUP(obj_unrefp) struct obj *crds = NULL;
	if (inspect_rendered(input, &entry, &crds, err) < 0)
		return -err->code;
	json_print(entry, output);
	return strbuf_check(output, "what the archive tells", err);
}

int inspect_compare(const struct obj *entry, const struct package_version *p, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	struct package_version *q = NULL;
	struct package_source s = {.chart = obj_get(entry, "chart"),
				   .descriptor = str_of(obj_str(entry, "descriptor")),
				   .parsed = obj_get(entry, "package"),
				   .digest = p->digest,
				   .locator = p->locator};
	const char *problem = obj_str(entry, "error");
	if (problem)
		error_set(err, E_INVALID, "%s", problem);
	if (problem || package_read(&s, a, &q, err) < 0)
		return error_wrap(err, "the archive of %s %.*s", p->package,
				  STR_ARG(p->version.text));
	if (strcmp(q->package, p->package) != 0 || !str_eq(q->version.text, p->version.text))
		return error_because(err, E_INVALID, REASON_DESCRIPTOR_MISMATCH,
				     "the archive of %s %.*s is %s %.*s", p->package,
				     STR_ARG(p->version.text), q->package,
				     STR_ARG(q->version.text));
	if (strcmp(q->descriptor_digest, p->descriptor_digest) != 0)
		return error_because(err, E_INVALID, REASON_DESCRIPTOR_MISMATCH,
				     "the archive of %s %.*s has another descriptor "
				     "than its index; have the index made anew",
				     p->package, STR_ARG(p->version.text));
	return 0;
}
