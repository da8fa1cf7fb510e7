#include "alm/controllers/inspect.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "catalog/entry.h"
#include "installers/archive.h"

#define INSPECT_ARENA_BYTES ((size_t)256 << 20)

static bool is_crd_file(const char *path)
{
	const char *dir = strstr(path, "crds/");
	return dir && (dir == path || dir[-1] == '/') &&
	       (cstr_has_suffix(path, ".yaml") || cstr_has_suffix(path, ".yml") ||
		cstr_has_suffix(path, ".json"));
}

static int add_crds(struct obj *list, const struct archive_file *file, struct error *err)
{
	struct yaml_documents docs = {0};
	if (yaml_parse(file->data, &docs, err) < 0)
		return error_wrap(err, "%s", file->path);
	for (size_t i = 0; i < docs.n; i++)
		if (cstr_eq(meta_kind(docs.items[i].value), "CustomResourceDefinition"))
			obj_append(list, obj_ref(docs.items[i].value));
	yaml_documents_release(&docs);
	return 0;
}

static int own_crds(const struct obj *crds, struct obj **ret, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	size_t n = obj_len(crds);
	const struct obj **list = ARENA_ARRAY(a, const struct obj *, n);
	for (size_t i = 0; i < n; i++)
		list[i] = obj_at(crds, i);
	return entry_own_crds(list, n, ret, err);
}

static int read_files(const struct archive_files *files, struct obj *entry, struct obj *crds,
		      struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *chart = NULL;
	struct obj *own = NULL;
	const struct archive_file *chart_yaml = archive_find(files, "Chart.yaml");
	const struct archive_file *descriptor = archive_find(files, "alm.yaml");
	if (!chart_yaml)
		return error_set(
			err, E_INVALID,
			"the archive has no Chart.yaml; pack a chart with `alm package build`");
	if (yaml_parse_one(chart_yaml->data, &chart, err) < 0)
		return error_wrap(err, "Chart.yaml");
	for (size_t i = 0; i < files->n; i++)
		if (is_crd_file(files->items[i].path) && add_crds(crds, &files->items[i], err) < 0)
			return -err->code;
	if (own_crds(crds, &own, err) < 0)
		return -err->code;
	obj_set(entry, "chart", entry_chart(chart));
	if (descriptor)
		obj_set(entry, "descriptor", obj_stringn(descriptor->data));
	obj_set(entry, "ownCrds", own);
	return 0;
}

int inspect_archive(struct str packed, struct obj **ret_entry, struct obj **ret_crds,
		    struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(INSPECT_ARENA_BYTES);
	CLEANUP(obj_unrefp) struct obj *entry = obj_map();
	CLEANUP(obj_unrefp) struct obj *crds = obj_list();
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	struct archive_files files = {0};
	char digest[SHA256_HEX];
	sha256_hex(packed, digest);
	obj_set_str(entry, "digest", digest);
	if (archive_read(a, packed, &budget, &files, err) < 0 ||
	    read_files(&files, entry, crds, err) < 0)
		return -err->code;
	*ret_entry = STEAL(entry);
	if (ret_crds)
		*ret_crds = STEAL(crds);
	return 0;
}

int inspect_job(struct str input, struct strbuf *output, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *entry = NULL;
	if (inspect_archive(input, &entry, NULL, err) < 0)
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
				   .digest = p->digest,
				   .locator = p->locator};
	if (package_read(&s, a, &q, err) < 0)
		return error_wrap(err, "the archive of %s %.*s", p->package,
				  STR_ARG(p->version.text));
	if (strcmp(q->package, p->package) != 0 || !str_eq(q->version.text, p->version.text))
		return error_set(
			err, E_INVALID, "DescriptorMismatch: the archive of %s %.*s is %s %.*s",
			p->package, STR_ARG(p->version.text), q->package, STR_ARG(q->version.text));
	if (strcmp(q->descriptor_digest, p->descriptor_digest) != 0)
		return error_set(
			err, E_INVALID,
			"DescriptorMismatch: the archive of %s %.*s has another descriptor "
			"than its index; have the index made anew",
			p->package, STR_ARG(p->version.text));
	return 0;
}
