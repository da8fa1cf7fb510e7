/* strategy_migrated: what was migrated of the resources of an installed version (lifecycle.md 7.5). The command
 * notes it on the definition, and leaves no trace on objects that it writes back unchanged: so the status says
 * since when and by whom, and with it the log and an Event; and when that is so no longer. */
#include <string.h>

#include "alm/base/visible.h"
#include "alm/controllers/strategy/strategy_pass.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/work/watched.h"
#include "alm/obj/condition.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "catalog/gate/usage.h"

#define CONDITION      "StorageMigrated"
#define TEXT_BYTES_MAX 1024

static bool is_stored_alone(const struct obj *crd, const char *version)
{
	const struct obj *stored = obj_path(crd, "status.storedVersions");
	return version && obj_len(stored) == 1 &&
	       cstr_eq(obj_as_string(obj_at(stored, 0)), version);
}

/* Of the last migration, which notes all versions but the one that it leads to; and that one is what is stored
 * now: else NULL. */
static const char *migrated_since(const struct obj *crd, const char *is)
{
	const char *since = NULL, *away = NULL;
	if (!is_stored_alone(crd, is))
		return NULL;
	OBJ_EACH (it, obj_path(crd, "metadata.annotations")) {
		const char *at = obj_as_string(it.value);
		if (!at || !cstr_has_prefix(it.key, USAGE_MIGRATED_PREFIX))
			continue;
		if (cstr_eq(it.key + strlen(USAGE_MIGRATED_PREFIX), is))
			away = at;
		else if (!since || strcmp(at, since) > 0)
			since = at;
	}
	return since && away && strcmp(away, since) > 0 ? NULL : since;
}

/* "etcds.etcd.coreos.com: stored as v2 alone, no longer as v1, since TIME; asked for by alice" */
static void tell(const struct obj *crd, struct strbuf *b)
{
	const char *is = usage_storage_version(crd), *since = migrated_since(crd, is);
	const char *by = meta_annotation(crd, USAGE_MIGRATED_BY);
	size_t n = 0;
	if (!since)
		return;
	visible_addf(b, "%s%s: stored as %s alone, no longer as ", b->len ? ". " : "",
		     meta_name(crd), is);
	OBJ_EACH (it, obj_path(crd, "metadata.annotations")) {
		const char *from = it.key + strlen(USAGE_MIGRATED_PREFIX);
		if (cstr_has_prefix(it.key, USAGE_MIGRATED_PREFIX) && !cstr_eq(from, is) &&
		    cstr_eq(obj_as_string(it.value), since))
			visible_addf(b, "%s%s", n++ ? ", " : "", from);
	}
	visible_addf(b, ", since %s%s%s", since, by ? "; asked for by " : "", by ? by : "");
}

enum ensured strategy_tell_migrated(struct strategy_pass *s)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const char *last = "";
	for (const char *const *p = s->ref->managed; p && *p; p++) {
		struct resource_ref ref;
		if (!resource_ref_parse(*p, s->v->a, &ref))
			continue;
		const char *name = arena_fmt(s->v->a, "%s.%s", ref.plural, ref.group);
		const struct obj *crd = view_crd(s->v, name);
		if (crd && strcmp(name, last) != 0)
			tell(crd, &b);
		last = name;
	}
	strbuf_truncate(&b, TEXT_BYTES_MAX);
	if (b.len)
		strategy_condition(s, CONDITION, "True", CONDITION, arena_strdup(s->v->a, b.buf));
	else if (condition_find(s->conditions, CONDITION))
		strategy_condition(s, CONDITION, "False", "StorageChanged",
				   "the definition is stored in another version too, or is gone");
	return DONE;
}
