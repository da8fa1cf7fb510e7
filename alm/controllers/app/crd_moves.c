#include "alm/controllers/app/crd_moves.h"

#include <string.h>

#include "alm/controllers/app/app.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

static const char *const suffixes[] = {NULL, ".expand", ".switch", ""};

enum crd_move crd_moves_at(const struct obj *live, const char *digest)
{
	const char *applied = live ? meta_annotation(live, ANNOTATION_APPLIED) : NULL;
	size_t n = strlen(digest);
	if (!applied || strncmp(applied, digest, n) != 0)
		return CRD_UNTOUCHED;
	for (int m = CRD_EXPANDED; m <= CRD_STORED; m++)
		if (!strcmp(applied + n, suffixes[m]))
			return (enum crd_move)m;
	return CRD_UNTOUCHED;
}

static const struct obj *version_of(const struct obj *list, const char *name)
{
	for (size_t i = 0; name && i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "name"), name))
			return obj_at(list, i);
	return NULL;
}

static bool is_webhook(const struct obj *crd)
{
	return cstr_eq(obj_str(crd, "spec.conversion.strategy"), "Webhook");
}

/* All that conversion says but its caBundle, which others may fill in. */
static bool same_conversion(const struct obj *a, const struct obj *b)
{
	CLEANUP(obj_unrefp) struct obj *x = obj_copy(a), *y = obj_copy(b);
	obj_del_path(x, "spec.conversion.webhook.clientConfig.caBundle");
	obj_del_path(y, "spec.conversion.webhook.clientConfig.caBundle");
	return obj_equal(obj_path(x, "spec.conversion"), obj_path(y, "spec.conversion"));
}

bool crd_moves_needed(const struct obj *live, const struct obj *planned)
{
	const struct obj *have = obj_path(live, "spec.versions");
	const struct obj *want = obj_path(planned, "spec.versions");
	if (!is_webhook(live) && !is_webhook(planned))
		return false;
	if (!is_webhook(live) || !is_webhook(planned) || !same_conversion(live, planned))
		return true;
	for (size_t i = 0; i < obj_len(want); i++) {
		const struct obj *old = version_of(have, obj_str(obj_at(want, i), "name"));
		if (obj_flag(obj_at(want, i), "served", false) && !obj_flag(old, "served", false))
			return true;
	}
	return false;
}

/* {"conversion": {...}, "versions": [...]}: schemas too, for a version that the plan lacks stays
 * as long as its objects are stored so. */
static struct obj *former_of(const struct obj *live, const char *digest)
{
	struct obj *former = NULL;
	struct error ignored;
	const char *text = meta_annotation(live, ANNOTATION_FORMER);
	if (text && crd_moves_at(live, digest) != CRD_UNTOUCHED &&
	    json_parse(str_of(text), &former, &ignored) == 0)
		return former;
	const struct obj *conversion = obj_path(live, "spec.conversion");
	former = obj_map();
	if (conversion)
		obj_set(former, "conversion", obj_ref(conversion));
	struct obj *versions = obj_list();
	const struct obj *have = obj_path(live, "spec.versions");
	for (size_t i = 0; i < obj_len(have); i++) {
		struct obj *v = obj_map();
		obj_set_str(v, "name", obj_str(obj_at(have, i), "name"));
		obj_set_bool(v, "served", obj_flag(obj_at(have, i), "served", false));
		obj_set_bool(v, "storage", obj_flag(obj_at(have, i), "storage", false));
		obj_append(versions, v);
	}
	obj_set(former, "versions", versions);
	return former;
}

/* The versions of the plan, and of the others those that still are stored or must be served. */
static struct obj *versions_for(const struct obj *planned, const struct obj *live,
				const struct obj *former, enum crd_move move)
{
	struct obj *list = obj_list();
	const struct obj *want = obj_path(planned, "spec.versions");
	const struct obj *have = obj_path(live, "spec.versions"),
			 *was = obj_get(former, "versions");
	for (size_t i = 0; i < obj_len(want); i++) {
		struct obj *v = obj_copy(obj_at(want, i));
		const struct obj *old = version_of(was, obj_str(v, "name"));
		if (move == CRD_EXPANDED)
			obj_set_bool(v, "served", obj_flag(old, "served", false));
		obj_set_bool(v, "storage", obj_flag(old, "storage", false));
		obj_append(list, v);
	}
	for (size_t i = 0; i < obj_len(have); i++) {
		const char *name = obj_str(obj_at(have, i), "name");
		const struct obj *old = version_of(was, name);
		bool stays = move == CRD_EXPANDED || obj_flag(old, "storage", false);
		if (old && stays && !version_of(want, name))
			obj_append(list, obj_ref(obj_at(have, i)));
	}
	return list;
}

void crd_moves_shape(struct obj *planned, const struct obj *live, const char *digest,
		     enum crd_move move)
{
	if (move != CRD_EXPANDED && move != CRD_SWITCHED)
		return;
	CLEANUP(obj_unrefp) struct obj *former = former_of(live, digest);
	CLEANUP(obj_unrefp) struct obj *applied = obj_stringf("%s%s", digest, suffixes[move]);
	CLEANUP(xfreep) char *text = json_text(former);
	const struct obj *conversion = obj_get(former, "conversion");
	obj_set_path(planned, "spec.versions", versions_for(planned, live, former, move));
	if (move == CRD_EXPANDED && conversion)
		obj_set_path(planned, "spec.conversion", obj_ref(conversion));
	meta_set_annotation(planned, ANNOTATION_APPLIED, obj_as_string(applied));
	meta_set_annotation(planned, ANNOTATION_FORMER, text);
}
