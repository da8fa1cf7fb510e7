/* definitions: see definitions.h. */
#include "alm/apiserver/loops/definitions.h"

#include <string.h>

#include "alm/apiserver/kinds/crd_internal.h"
#include "alm/apiserver/kinds/crd_kind.h"
#include "alm/apiserver/loops/engine.h"
#include "alm/base/map.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/legacy_words.h"
#include "crds/marks.h"

#define CRDS            "customresourcedefinitions"
#define DOORS_MAX       100 /* as versions: each leads to one */
#define DOOR_NAME_MAX   253
#define DOORS_BYTES_MAX ((size_t)128 << 10)

static const struct engine controller = {.user = "system:apiserver", .manager = "kube-apiserver"};

/* Serving. */

static void open_door(struct crds *c, const struct obj *o, const char *group, const char *v)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(DOORS_BYTES_MAX);
	const char *label = arena_strndup(a, group, strcspn(group, "."));
	if (!kinds_has_group(c->server->kinds, group))
		kinds_add(c->server->kinds, crd_door_new(o, group, label, v), crd_kind_free);
}

/* Instances of 2017 are of v1alpha1.GROUP, whatever the group of the definition was then. */
static void open_doors(struct crds *c, const struct obj *o)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(DOORS_BYTES_MAX);
	const char *was = meta_annotation(o, ANNOTATION_LEGACY_GROUP), *v;
	const char *is = obj_str(o, "spec.group"), *plural = obj_str(o, "spec.names.plural");
	struct str rest = was ? str_of(was) : STR_NONE, one, group;
	const char *first = NULL;
	if (c->server->config.no_legacy || !is)
		return;
	for (size_t n = 0; n < DOORS_MAX && str_next(&rest, ',', &one); n++) {
		if (one.len > DOOR_NAME_MAX || !legacy_group(one, a, &group, &v) ||
		    !str_is(group, is) || !kinds_find(c->server->kinds, is, v, plural))
			continue;
		open_door(c, o, arena_strndup(a, one.ptr, one.len), v);
		first = first ? first : v;
	}
	if (first)
		open_door(c, o, arena_fmt(a, "v1alpha1.%s", is), first);
}

static void serve(struct crds *c, const struct obj *o)
{
	const struct obj *list = obj_path(o, "spec.versions");
	kinds_remove_crd(c->server->kinds, meta_name(o));
	if (!condition_is(o, "Established", "True"))
		return;
	struct crd_forms *forms = crd_forms_new(o);
	for (size_t i = 0; i < obj_len(list); i++) {
		struct kind *k = NULL;
		struct error err = ERROR_INIT;
		if (obj_flag(obj_at(list, i), "served", false) &&
		    crd_kind_new(o, obj_at(list, i), forms, ++c->last_stamp, &k, &err) == 0)
			kinds_add(c->server->kinds, k, crd_kind_free);
	}
	crd_forms_unref(forms);
	open_doors(c, o);
}

/* Is what is served the same before and after? */
static bool serves_same(const struct obj *before, const struct obj *o)
{
	return before && obj_equal(obj_get(before, "spec"), obj_get(o, "spec")) &&
	       condition_is(before, "Established", "True") ==
		       condition_is(o, "Established", "True");
}

static void definition_changed(struct crds *c, const struct change *ch)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	CLEANUP(obj_unrefp) struct obj *before = NULL;
	if (json_parse(text_str(ch->after), &o, &err) < 0)
		return;
	if (ch->before)
		json_parse(text_str(ch->before), &before, &err);
	if (ch->deleted) {
		kinds_remove_crd(c->server->kinds, ch->name);
		map_del(c->ending, ch->name);
		c->names_freed = true;
		loop_post(c->server->loop, &c->task);
		return;
	}
	if (!serves_same(before, o))
		serve(c, o);
	if (meta_is_deleting(o)) {
		map_set(c->ending, ch->name, NULL);
		loop_post(c->server->loop, &c->task);
	}
}

static void changed(void *arg, const struct change *ch)
{
	struct crds *c = arg;
	if (cstr_eq(ch->resource->group, CRD_GROUP) && cstr_eq(ch->resource->plural, CRDS))
		definition_changed(c, ch);
	else if (ch->deleted && map_count(c->ending))
		loop_post(c->server->loop, &c->task);
}

static struct head *definition(struct crds *c, const char *name)
{
	return store_find(c->server->store, CRD_GROUP, CRDS, "", name);
}

/* The end of a definition: first its objects, then its finalizer. */

static void edit_finalizer(void *arg, struct obj *o)
{
	(void)arg;
	meta_remove_finalizer(o, CRD_FINALIZER);
}

/* True if there is more to delete now. */
static bool delete_instances(struct crds *c, struct store_table *res)
{
	int left = ENGINE_BATCH;
	size_t i = 0;
	while (i < res->n_heads) {
		struct error err = ERROR_INIT;
		struct head *h = res->heads[i];
		if (strstr(h->text->bytes, "\"deletionTimestamp\":")) {
			i++;
			continue;
		}
		if (left-- == 0)
			return true;
		if (engine_delete(c->server, &controller, h, PROPAGATE_BACKGROUND, &err) < 0 ||
		    (i < res->n_heads && res->heads[i] == h))
			i++;
	}
	return false;
}

static bool end_definition(struct crds *c, const char *name)
{
	struct error err = ERROR_INIT;
	struct head *h = definition(c, name);
	const struct obj *o = h ? head_obj_hot(h) : NULL;
	const char *group = obj_str(o, "spec.group"), *plural = obj_str(o, "spec.names.plural");
	if (!o || !group || !plural)
		return false;
	struct store_table *res = store_resource(c->server->store, group, plural);
	bool established = condition_is(o, "Established", "True");
	bool more = established && delete_instances(c, res);
	if (!more && (res->n_heads == 0 || !established))
		engine_update(c->server, &controller, h, "", edit_finalizer, NULL, &err);
	return more;
}

static void edit_nothing(void *arg, struct obj *o)
{
	(void)arg;
	(void)o;
}

/* Names were freed: definitions that waited for them are judged again. */
static void judge_waiting(struct crds *c)
{
	struct store_table *res = store_resource(c->server->store, CRD_GROUP, CRDS);
	for (size_t i = 0; i < res->n_heads; i++) {
		struct error err = ERROR_INIT;
		struct head *h = res->heads[i];
		/* The reason of NamesAccepted (crd.c), KindConflict or its like; not NoConflicts. */
		if (strstr(h->text->bytes, "Conflict\""))
			engine_update(c->server, &controller, h, "", edit_nothing, NULL, &err);
	}
}

static void run(void *arg)
{
	struct crds *c = arg;
	bool more = false;
	struct map_entry **names = map_sorted(c->ending);
	size_t n = map_count(c->ending);
	for (size_t i = 0; i < n; i++)
		more = end_definition(c, names[i]->key) || more;
	xfree(names);
	if (c->names_freed) {
		c->names_freed = false;
		judge_waiting(c);
	}
	if (more)
		loop_post(c->server->loop, &c->task);
}

void definitions_load(struct crds *c)
{
	struct store_table *res = store_resource(c->server->store, CRD_GROUP, CRDS);
	for (size_t i = 0; i < res->n_heads; i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(STORE_VALUE_BYTES_MAX * 4);
		const struct obj *o = head_obj(res->heads[i], a);
		if (!o)
			continue;
		serve(c, o);
		if (meta_is_deleting(o)) {
			map_set(c->ending, res->heads[i]->name, NULL);
			loop_post(c->server->loop, &c->task);
		}
	}
}

struct crds *definitions_new(struct apiserver *s)
{
	struct crds *c = xcalloc(1, sizeof(*c));
	c->server = s;
	c->ending = map_new(NULL);
	c->task.fn = run;
	c->task.arg = c;
	store_on_change(s->store, changed, c);
	return c;
}

void definitions_free(struct crds *c)
{
	if (!c)
		return;
	loop_unpost(c->server->loop, &c->task);
	map_free(c->ending);
	xfree(c);
}
