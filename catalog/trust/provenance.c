#include "catalog/trust/provenance.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/yaml.h"
#include "catalog/index/entry.h"

#define NODES_MAX 100000

/* Absent, null, false and "" are one: Helm leaves out what is empty. */
static const struct obj *some(const struct obj *o)
{
	bool empty = obj_type(o) == OBJ_NULL || (obj_type(o) == OBJ_BOOL && !obj_is_true(o)) ||
		     (obj_type(o) == OBJ_STRING && !obj_as_str(o).len);
	return empty ? NULL : o;
}

static bool is_same(const struct obj *a, const struct obj *b)
{
	a = some(a);
	b = some(b);
	return a && b ? obj_equal(a, b) : a == b;
}

static int check_chart(const struct obj *chart, const struct obj *subject, struct error *err)
{
	static const char *const keys[] = {"name", "version", "kubeVersion", "deprecated",
					   "description"};
	CLEANUP(obj_unrefp) struct obj *signed_chart = entry_chart(chart);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!is_same(obj_get(signed_chart, keys[i]), obj_get(subject, keys[i])))
			return error_set(err, E_INVALID,
					 "the Chart.yaml that is signed has another %s", keys[i]);
	if (!is_same(obj_get(obj_get(signed_chart, "annotations"), PACKAGE_ANNOTATION),
		     obj_get(obj_get(subject, "annotations"), PACKAGE_ANNOTATION)))
		return error_set(err, E_INVALID,
				 "the Chart.yaml that is signed has another annotation %s",
				 PACKAGE_ANNOTATION);
	return 0;
}

static int check_digest(const struct obj *files, const struct archive_subject *subject,
			struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	const char *name = obj_str(subject->chart, "name");
	const char *version = obj_str(subject->chart, "version");
	const char *file = arena_fmt(a, "%s-%s.tgz", name ? name : "", version ? version : "");
	const char *digest = obj_as_string(obj_get(files, file));
	if (!digest)
		return error_set(err, E_INVALID, "it is signed for another archive than %.255s",
				 file);
	if (strlen(subject->digest) != SHA256_HEX - 1 || !cstr_has_prefix(digest, "sha256:") ||
	    strcmp(digest + strlen("sha256:"), subject->digest) != 0)
		return error_set(err, E_INVALID,
				 "it is signed for %s with sha256 %.64s, and this one has %s", file,
				 cstr_has_prefix(digest, "sha256:") ? digest + 7 : "(none)",
				 subject->digest);
	return 0;
}

/* The two documents stand as helm writes them: one line "..." between them, and no "---". */
static int read_documents(struct str text, struct arena *a, const struct obj **ret_chart,
			  const struct obj **ret_files, struct error *err)
{
	const struct str separator = STR("\n...\n");
	struct obj *chart = NULL, *files = NULL;
	ptrdiff_t at = str_find(text, separator);
	struct str second = at < 0 ? STR_NONE : str_skip(text, (size_t)at + separator.len);
	if (at < 0 || str_find(second, separator) >= 0 || str_has_prefix(second, STR("...\n")))
		return error_set(err, E_INVALID, "want two documents: Chart.yaml and files");
	if (yaml_parse_one_max(str_sub(text, 0, (size_t)at + 1), NODES_MAX, &chart, err) < 0)
		return -err->code;
	*ret_chart = obj_keep(a, chart);
	if (yaml_parse_one_max(second, NODES_MAX, &files, err) < 0)
		return -err->code;
	*ret_files = obj_keep(a, files);
	return 0;
}

int provenance_check(const struct openpgp_keyring *ring, struct str file,
		     const struct archive_subject *subject, int64_t now_s, int64_t *ret_until_s,
		     struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	const struct obj *chart = NULL, *files = NULL;
	struct openpgp_clearsigned c;
	int64_t until_s;
	if (openpgp_clearsigned_read(file, a, &c, err) < 0 ||
	    openpgp_check(ring, &c, now_s, &until_s, err) < 0 ||
	    read_documents(c.text, a, &chart, &files, err) < 0 ||
	    check_digest(obj_get(files, "files"), subject, err) < 0 ||
	    check_chart(chart, subject->chart, err) < 0)
		return error_wrap(err, "provenance");
	*ret_until_s = until_s;
	return 0;
}
