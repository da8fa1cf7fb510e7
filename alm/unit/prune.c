#include "alm/unit/prune.h"

#include "alm/base/arena.h"
#include "alm/base/visible.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

bool prune_keeps(const struct obj *o)
{
	return o && (unit_is_kept(o) || cstr_eq(meta_kind(o), "PersistentVolume") ||
		     cstr_eq(meta_annotation(o, ANNOTATION_PRUNE), "disabled"));
}

bool prune_spares(const struct obj *live, const char *uid, const char *bundle, const char *owner_id)
{
	bool is_owners = cstr_eq(meta_annotation(live, ANNOTATION_OWNER_ID), owner_id);
	bool is_ours = is_owners && cstr_eq(meta_label(live, LABEL_BUNDLE), bundle);
	bool is_other = uid && !cstr_eq(uid, meta_uid(live)) && !is_ours;
	return is_other || !is_owners || prune_keeps(live);
}

static bool has_entry(const struct unit_entry *list, size_t n, const struct unit_entry *e)
{
	for (size_t i = 0; i < n; i++)
		if (unit_entry_is(&list[i], e))
			return true;
	return false;
}

static const char *kept_as(const struct unit_entry *e, const struct prune_rules *rules)
{
	if (e->keep)
		return "it is kept in any case";
	if (!cstr_eq(meta_label(e->live, rules->label), rules->value))
		return "it is not marked as this unit's any more";
	return NULL;
}

static struct prune_item judge(const struct unit_entry *e, const struct prune_rules *rules)
{
	struct prune_item item = {.entry = e, .verdict = PRUNE_GONE};
	if (e->unknown)
		item.verdict = PRUNE_UNKNOWN;
	if (!e->live)
		return item;
	item.why = kept_as(e, rules);
	item.verdict = item.why                    ? PRUNE_KEEP
		       : meta_is_deleting(e->live) ? PRUNE_DELETING
						   : PRUNE_DELETE;
	return item;
}

struct prune_item *prune_list(const struct unit_entry *was, size_t n_was,
			      const struct unit_entry *wanted, size_t n_wanted,
			      const struct prune_rules *rules, struct arena *a, size_t *ret_n)
{
	struct prune_item *list = ARENA_ARRAY(a, struct prune_item, n_was + 1);
	size_t n = 0;
	for (size_t i = n_was; i-- > 0;)
		if (was[i].unknown || was[i].live)
			if (!has_entry(wanted, n_wanted, &was[i]))
				list[n++] = judge(&was[i], rules);
	*ret_n = n;
	return list;
}

/* The conditions of a Namespace that is being deleted, the first that says it best. */
static const char *left_in(const struct obj *live)
{
	static const char *const types[] = {
		"NamespaceDeletionContentFailure", "NamespaceFinalizersRemaining",
		"NamespaceContentRemaining", "NamespaceDeletionDiscoveryFailure"};
	const struct obj *list = obj_path(live, "status.conditions");
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		const struct obj *c = condition_find(list, types[i]);
		const char *message = obj_str(c, "message");
		if (cstr_eq(obj_str(c, "status"), "True") && message && *message)
			return message;
	}
	return NULL;
}

const char *prune_waits_for(const struct obj *live, struct arena *a)
{
	const char *finalizer = obj_as_string(obj_at(obj_path(live, "metadata.finalizers"), 0));
	const char *left = cstr_eq(meta_kind(live), "Namespace") ? left_in(live) : NULL;
	if (left)
		return visible_text(a, left);
	return finalizer ? arena_fmt(a, "finalizer %s", visible_text(a, finalizer)) : NULL;
}
