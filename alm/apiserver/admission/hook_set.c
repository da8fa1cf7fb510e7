/* hook_set: the webhooks of the store, read once a revision; see hooks_internal.h. */
#include "alm/apiserver/admission/hooks_internal.h"
#include "alm/apiserver/core.h"
#include "alm/base/map.h"

#define SET_BYTES_MAX ((size_t)32 << 20)
#define TIMEOUT_S     10

static const char *const plurals[HOOK_STAGES] = {"mutatingwebhookconfigurations",
						 "validatingwebhookconfigurations"};

/* The webhooks of one configuration at one revision. */
struct hook_set {
	struct arena *a;
	struct admission_hook *items;
	size_t n;
	struct text *of; /* a revision that was taken back is given again to another text */
};

struct hooks {
	struct apiserver *server;
	struct map *sets[HOOK_STAGES]; /* name of the configuration -> struct hook_set */
};

/* --- what is in the store --- */

static void set_free(void *p)
{
	struct hook_set *s = p;
	text_unref(s->of);
	arena_free(s->a);
	xfree(s);
}

static const char *text(const struct obj *o, const char *key)
{
	const char *s = obj_as_string(obj_get(o, key));
	return s ? s : "";
}

static void take(struct obj *to, const char *key, const struct obj *from, const char *name)
{
	if (obj_is_set(obj_get(from, name)))
		obj_set(to, key, obj_ref(obj_get(from, name)));
}

static const struct obj *match_of(const struct obj *o, struct arena *a)
{
	struct obj *match = obj_keep(a, obj_map());
	take(match, "resourceRules", o, "rules");
	take(match, "matchPolicy", o, "matchPolicy");
	take(match, "namespaceSelector", o, "namespaceSelector");
	take(match, "objectSelector", o, "objectSelector");
	return match;
}

/* A policy that has conditions alone. */
static const struct policy *conditions_of(const struct obj *o, struct arena *a)
{
	if (!obj_len(obj_get(o, "matchConditions")))
		return NULL;
	struct obj *policy = obj_keep(a, obj_map()), *spec = obj_map();
	take(spec, "matchConditions", o, "matchConditions");
	take(spec, "failurePolicy", o, "failurePolicy");
	obj_set(policy, "spec", spec);
	return policy_compile(policy, a);
}

static const char *version_of(const struct obj *versions)
{
	for (size_t i = 0; i < obj_len(versions); i++)
		if (cstr_eq(obj_as_string(obj_at(versions, i)), "v1"))
			return "v1";
		else if (cstr_eq(obj_as_string(obj_at(versions, i)), "v1beta1"))
			return "v1beta1";
	return "v1";
}

static void read_hook(const struct obj *o, struct arena *a, struct admission_hook *h)
{
	const char *effects = text(o, "sideEffects");
	h->name = text(o, "name");
	h->client = obj_get(o, "clientConfig");
	h->match = match_of(o, a);
	h->conditions = conditions_of(o, a);
	h->version = version_of(obj_get(o, "admissionReviewVersions"));
	h->timeout_s = obj_i64(o, "timeoutSeconds", TIMEOUT_S);
	h->ignores = cstr_eq(text(o, "failurePolicy"), "Ignore");
	h->reinvokes = cstr_eq(text(o, "reinvocationPolicy"), "IfNeeded");
	h->has_effects = !cstr_eq(effects, "None") && !cstr_eq(effects, "NoneOnDryRun");
}

static struct hook_set *set_new(struct head *head)
{
	struct hook_set *s = xcalloc(1, sizeof(*s));
	const struct obj *o = head_obj_hot(head);
	s->of = text_ref(head->text);
	s->a = arena_new(SET_BYTES_MAX);
	const struct obj *list = obj_get(obj_keep(s->a, obj_ref(o)), "webhooks");
	s->n = obj_len(list);
	s->items = ARENA_ARRAY(s->a, struct admission_hook, s->n + 1);
	for (size_t i = 0; i < s->n; i++) {
		s->items[i] =
			(struct admission_hook){.index = i,
						.configuration = arena_strdup(s->a, head->name),
						.uid = arena_strdup(s->a, head->uid)};
		read_hook(obj_at(list, i), s->a, &s->items[i]);
	}
	return s;
}

static const struct store_table *table_of(const struct hooks *h, enum hook_stage stage)
{
	return store_resource(h->server->store, ADMISSION_GROUP, plurals[stage]);
}

static const struct hook_set *set_of(struct hooks *h, enum hook_stage stage, struct head *head)
{
	struct hook_set *s = map_get(h->sets[stage], head->name);
	if (s && s->of == head->text)
		return s;
	s = set_new(head);
	map_set(h->sets[stage], head->name, s);
	return s;
}

static void add_set(const struct request *r, const struct hook_set *s, struct hook_list *ret)
{
	for (size_t i = 0; i < s->n; i++) {
		ARENA_GROW(r->arena, ret->items, ret->cap, ret->n, 16);
		ret->items[ret->n++] = &s->items[i];
	}
}

void hooks_list(const struct request *r, enum hook_stage stage, struct hook_list *ret)
{
	struct hooks *h = r->server->hooks;
	const struct store_table *t = table_of(h, stage);
	*ret = (struct hook_list){0};
	if (map_count(h->sets[stage]) > 2 * t->n_heads)
		map_clear(h->sets[stage]); /* mostly of those that are gone */
	for (size_t i = 0; i < t->n_heads; i++)
		add_set(r, set_of(h, stage, t->heads[i]), ret);
}

bool hooks_any(const struct request *r, enum hook_stage stage)
{
	return r->exchange && r->server->hooks && table_of(r->server->hooks, stage)->n_heads > 0;
}

struct hooks *hooks_new(struct apiserver *s)
{
	struct hooks *h = xcalloc(1, sizeof(*h));
	h->server = s;
	for (size_t i = 0; i < HOOK_STAGES; i++)
		h->sets[i] = map_new(set_free);
	return h;
}

void hooks_free(struct hooks *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < HOOK_STAGES; i++)
		map_free(h->sets[i]);
	xfree(h);
}
