/* namespace_left: see namespace_left.h. */
#include "alm/apiserver/kinds/namespace_left.h"

#include <string.h>

#include "alm/base/map.h"
#include "alm/base/strbuf.h"
#include "alm/obj/condition.h"

void namespace_left_init(struct namespace_left *l)
{
	*l = (struct namespace_left){.kinds = map_new(NULL), .finalizers = map_new(NULL)};
}

void namespace_left_release(struct namespace_left *l)
{
	map_free(l->kinds);
	map_free(l->finalizers);
}

static void add(struct map *m, const char *key)
{
	map_set_number(m, key, map_number(m, key) + 1);
}

static void note_finalizers(struct namespace_left *l, struct head *h)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STORE_VALUE_BYTES_MAX * 4);
	const struct obj *list = obj_path(head_obj(h, a), "metadata.finalizers");
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_as_string(obj_at(list, i)))
			add(l->finalizers, obj_as_string(obj_at(list, i)));
}

void namespace_left_count(struct namespace_left *l, const struct apiserver *s, const char *ns)
{
	for (size_t i = 0; i < store_n_resources(s->store); i++) {
		struct store_table *t = store_resource_at(s->store, i);
		CLEANUP(strbuf_release) struct strbuf kind = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&kind, "%s.%s", t->plural, t->group);
		for (size_t j = resource_lower_bound(t, ns, "");
		     j < t->n_heads && strcmp(t->heads[j]->ns, ns) == 0; j++) {
			l->n++;
			add(l->kinds, kind.buf);
			if (l->n_read++ < NAMESPACE_LEFT_READ_MAX)
				note_finalizers(l, t->heads[j]);
		}
	}
}

/* "configmaps. has 2 resource instances, secrets. has 1 resource instances" */
static void list_all(const struct map *m, const char *how, struct strbuf *b)
{
	CLEANUP(xfreep) struct map_entry **all = map_sorted(m);
	for (size_t i = 0; i < map_count(m); i++)
		strbuf_addf(b, "%s%s %s %zu resource instances", i ? ", " : "", all[i]->key, how,
			    map_number(m, all[i]->key));
}

static void set(struct obj *list, const char *type, bool is_true, const char *reason,
		const char *message, int64_t now_ns)
{
	const struct condition c = {.type = type,
				    .status = is_true ? "True" : "False",
				    .reason = reason,
				    .message = message};
	condition_set(list, &c, now_ns);
}

static void tell_failure(const struct namespace_left *l, struct obj *list, int64_t now_ns)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "Failed to delete all resource types, %zu remaining: %s", l->n_failed_kinds,
		    l->failure.msg);
	if (l->n_failed)
		set(list, "NamespaceDeletionContentFailure", true, "ContentDeletionFailed", b.buf,
		    now_ns);
	else
		set(list, "NamespaceDeletionContentFailure", false, "ContentDeleted",
		    "All content successfully deleted, may be waiting on finalization", now_ns);
}

void namespace_left_tell(const struct namespace_left *l, struct obj *list, int64_t now_ns)
{
	CLEANUP(strbuf_release) struct strbuf kinds = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf finalizers = STRBUF_INIT(STRBUF_SMALL);
	bool held = map_count(l->finalizers) > 0;
	strbuf_adds(&kinds, "Some resources are remaining: ");
	list_all(l->kinds, "has", &kinds);
	strbuf_adds(&finalizers, "Some content in the namespace has finalizers remaining: ");
	list_all(l->finalizers, "in", &finalizers);
	set(list, "NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
	    "All resources successfully discovered", now_ns);
	set(list, "NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
	    "All legacy kube types successfully parsed", now_ns);
	tell_failure(l, list, now_ns);
	set(list, "NamespaceContentRemaining", l->n > 0,
	    l->n ? "SomeResourcesRemain" : "ContentRemoved",
	    l->n ? kinds.buf : "All content successfully removed", now_ns);
	set(list, "NamespaceFinalizersRemaining", held,
	    held ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
	    held ? finalizers.buf : "All content-preserving finalizers finished", now_ns);
}
