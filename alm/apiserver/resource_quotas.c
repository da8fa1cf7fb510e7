/* resource_quotas: see resource_quotas.h. */
#include "alm/apiserver/resource_quotas.h"

#include <stdlib.h>
#include <string.h>

#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/resource_quota.h"
#include "alm/apiserver/status.h"
#include "alm/base/map.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define PLURAL         "resourcequotas"
#define TEXT_BYTES_MAX 16384
#define PASS_BYTES_MAX ((size_t)64 << 20)

static const char *const measured[] = {"pods", "services", "persistentvolumeclaims"};

/* What is used of one measured name of one quota. */
struct sum {
	char *name;
	struct quantity q;
};

struct sums {
	struct sum *items;
	size_t n;
};

struct quotas {
	struct apiserver *server;
	struct map *
		spaces; /* namespace -> map of quota -> struct sums; of those that were asked for */
	struct map *stale; /* namespaces whose statuses are to be looked at */
	struct task task;
};

/* --- the quotas of a namespace --- */

static struct store_table *table(const struct quotas *q)
{
	return store_resource(q->server->store, "", PLURAL);
}

struct head *quotas_at(const struct quotas *q, const char *ns, size_t i)
{
	const struct store_table *t = table(q);
	i += resource_lower_bound(t, ns, "");
	return i < t->n_heads && strcmp(t->heads[i]->ns, ns) == 0 ? t->heads[i] : NULL;
}

/* --- sums --- */

static void sums_free(void *p)
{
	struct sums *s = p;
	for (size_t i = 0; i < s->n; i++)
		xfree(s->items[i].name);
	xfree(s->items);
	xfree(s);
}

static void space_free(void *p)
{
	map_free(p);
}

static void add(struct sums *s, const struct obj *quota, const char *plural, const struct obj *o,
		int sign)
{
	if (!o || !quota_covers(quota, "", plural, o))
		return;
	for (size_t i = 0; i < s->n; i++) {
		struct quantity x;
		if (!quota_takes("", plural, o, s->items[i].name, &x))
			continue;
		x.nanos *= sign;
		quantity_add(&s->items[i].q, &x);
	}
}

static struct sums *sums_new(const struct obj *quota)
{
	const struct obj *hard = obj_path(quota, "spec.hard");
	struct sums *s = xcalloc(1, sizeof(*s));
	s->items = xcalloc(obj_len(hard) + 1, sizeof(*s->items));
	OBJ_EACH (it, hard) {
		struct str group, plural;
		if (!quota_counts(it.key, &group, &plural))
			s->items[s->n++].name = xstrdup(it.key);
	}
	return s;
}

static void sum_all(const struct quotas *q, struct sums *s, const struct obj *quota, const char *ns)
{
	for (size_t k = 0; s->n && k < ARRAY_LEN(measured); k++) {
		const struct store_table *t = store_resource(q->server->store, "", measured[k]);
		for (size_t i = resource_lower_bound(t, ns, "");
		     i < t->n_heads && strcmp(t->heads[i]->ns, ns) == 0; i++) {
			CLEANUP(arena_freep) struct arena *a = arena_new(PASS_BYTES_MAX);
			add(s, quota, measured[k], head_obj(t->heads[i], a), 1);
		}
	}
}

static struct map *space_of(struct quotas *q, const char *ns)
{
	struct map *space = map_get(q->spaces, ns);
	struct head *h;
	if (space)
		return space;
	space = map_new(sums_free);
	for (size_t i = 0; (h = quotas_at(q, ns, i)) != NULL; i++) {
		const struct obj *quota = head_obj_hot(h);
		struct sums *s = sums_new(quota);
		sum_all(q, s, quota, ns);
		map_set(space, h->name, s);
	}
	map_set(q->spaces, ns, space);
	return space;
}

static struct obj *parsed(const struct text *t)
{
	struct obj *o = NULL;
	struct error ignored;
	if (t)
		(void)json_parse(text_str(t), &o, &ignored);
	return o;
}

static bool is_measured(const struct store_table *t)
{
	return quota_measures(t->group, t->plural);
}

static void head_changed(void *arg, const struct store_table *t, const char *ns,
			 const struct text *before, const struct text *after)
{
	struct quotas *q = arg;
	struct map *space = map_get(q->spaces, ns);
	bool is_quota = *t->group == '\0' && strcmp(t->plural, PLURAL) == 0;
	struct head *h;
	if (!space || (!is_quota && !is_measured(t)))
		return;
	CLEANUP(obj_unrefp) struct obj *was = parsed(before);
	CLEANUP(obj_unrefp) struct obj *is = parsed(after);
	if (is_quota) {
		if (!obj_equal(obj_get(was, "spec"), obj_get(is, "spec")))
			map_del(q->spaces, ns);
		return;
	}
	for (size_t i = 0; (h = quotas_at(q, ns, i)) != NULL; i++) {
		struct sums *s = map_get(space, h->name);
		const struct obj *quota = head_obj_hot(h);
		if (!s || !quota)
			continue;
		add(s, quota, t->plural, was, -1);
		add(s, quota, t->plural, is, 1);
	}
}

/* --- what is used --- */

/* Of a resource that is served: a name that is none makes no table. */
static bool count_of(const struct quotas *q, const char *ns, struct str group, struct str plural,
		     struct quantity *ret)
{
	CLEANUP(xfreep) char *g = str_dup(group);
	CLEANUP(xfreep) char *p = str_dup(plural);
	const struct kind *k = kinds_storage(q->server->kinds, g, p);
	if (!k)
		return false;
	const struct store_table *t = server_resource(q->server, k);
	CLEANUP(strbuf_release) struct strbuf past = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&past, "%s\x01", ns); /* no namespace is between */
	size_t n = resource_lower_bound(t, past.buf, "") - resource_lower_bound(t, ns, "");
	*ret = (struct quantity){.nanos = (quantity_nanos)n * 1000000000};
	return true;
}

bool quotas_used(struct quotas *q, const struct head *h, const char *name, struct quantity *ret)
{
	struct str group, plural;
	*ret = (struct quantity){0};
	if (quota_counts(name, &group, &plural))
		return count_of(q, h->ns, group, plural, ret);
	const struct sums *s = map_get(space_of(q, h->ns), h->name);
	for (size_t i = 0; s && i < s->n; i++)
		if (strcmp(s->items[i].name, name) == 0)
			*ret = s->items[i].q;
	return quota_is_measured(name);
}

/* --- the check --- */

/* One write as the quotas of its namespace see it. */
struct demand {
	struct quotas *q;
	const char *group, *plural, *ns;
	const struct obj *before, *after; /* before NULL: it is created */
	struct arena *a;
};

/* What it takes more of the name than before; false: nothing. */
static bool more_of(const struct demand *d, const char *name, struct quantity *ret)
{
	struct str group, plural;
	struct quantity was;
	*ret = (struct quantity){0};
	if (quota_counts(name, &group, &plural)) {
		if (!d->before && str_is(group, d->group) && str_is(plural, d->plural))
			ret->nanos = 1000000000;
		return ret->nanos > 0;
	}
	if (!quota_takes(d->group, d->plural, d->after, name, ret))
		return false;
	if (d->before && quota_takes(d->group, d->plural, d->before, name, &was))
		ret->nanos -= was.nanos;
	return ret->nanos > 0;
}

static void excess_add(struct strbuf *b, const char *name, const struct quantity *q)
{
	char text[QUANTITY_TEXT_MAX];
	quantity_print(q, text);
	strbuf_addf(b, "%s%s=%s", b->len ? "," : "", name, text);
}

/* Names in order. */
static const char **names_of(const struct obj *hard, struct arena *a, size_t *ret_n)
{
	const char **names = arena_alloc(a, (obj_len(hard) + 1) * sizeof(*names));
	size_t n = 0;
	OBJ_EACH (it, hard)
		names[n++] = it.key;
	qsort(names, n, sizeof(*names), cstr_cmpp);
	*ret_n = n;
	return names;
}

static const char *exceeds(const struct demand *d, struct head *h)
{
	const struct obj *hard = obj_path(head_obj_hot(h), "spec.hard");
	CLEANUP(strbuf_release) struct strbuf asked = STRBUF_INIT(TEXT_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf used = STRBUF_INIT(TEXT_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf limited = STRBUF_INIT(TEXT_BYTES_MAX);
	size_t n;
	const char **names = names_of(hard, d->a, &n);
	for (size_t i = 0; i < n; i++) {
		struct quantity more, now, limit;
		if (!more_of(d, names[i], &more) ||
		    !quantity_read(obj_as_str(obj_get(hard, names[i])), &limit) ||
		    !quotas_used(d->q, h, names[i], &now) || now.nanos + more.nanos <= limit.nanos)
			continue;
		excess_add(&asked, names[i], &more);
		excess_add(&used, names[i], &now);
		excess_add(&limited, names[i], &limit);
	}
	return asked.len
		       ? arena_fmt(d->a, "exceeded quota: %s, requested: %s, used: %s, limited: %s",
				   h->name, asked.buf, used.buf, limited.buf)
		       : NULL;
}

/* In the order of the real server: what is not stated anywhere before what is too much anywhere. */
static const char *fault_of(const struct demand *d)
{
	const char *why = NULL;
	struct head *h;
	bool pod = *d->group == '\0' && strcmp(d->plural, "pods") == 0;
	for (size_t i = 0; pod && !why && (h = quotas_at(d->q, d->ns, i)) != NULL; i++) {
		const struct obj *quota = head_obj_hot(h);
		const char *unstated = quota_covers(quota, d->group, d->plural, d->after)
					       ? quota_unstated(quota, d->after, d->a)
					       : NULL;
		if (unstated)
			why = arena_fmt(d->a, "failed quota: %s: must specify %s", h->name,
					unstated);
	}
	for (size_t i = 0; !why && (h = quotas_at(d->q, d->ns, i)) != NULL; i++)
		if (quota_covers(head_obj_hot(h), d->group, d->plural, d->after))
			why = exceeds(d, h);
	return why;
}

int quotas_check(struct mutation *m, struct error *err)
{
	struct quotas *q = m->r->server->quotas;
	struct demand d = {.q = q,
			   .group = m->resource->group,
			   .plural = m->resource->plural,
			   .ns = m->ns,
			   .before = m->head ? m->before : NULL,
			   .after = m->after,
			   .a = m->r->arena};
	bool resizes = cstr_eq(m->r->subresource, "resize");
	bool changes =
		quota_measures(d.group, d.plural) && (resizes || strcmp(d.plural, "pods") != 0);
	if (!q || !*m->ns || (m->r->subresource && *m->r->subresource && !resizes) ||
	    (m->head && !changes) || !quotas_at(q, m->ns, 0))
		return 0;
	const char *why = fault_of(&d);
	return why ? fail_forbidden(m->r, m->name, err, "%s", why) : 0;
}

bool quotas_has(const struct apiserver *s, const char *ns)
{
	return s->quotas && quotas_at(s->quotas, ns, 0);
}

const char *quotas_pod_fault(struct apiserver *s, const char *ns, const struct obj *pod,
			     struct arena *a)
{
	const struct demand d = {
		.q = s->quotas, .group = "", .plural = "pods", .ns = ns, .after = pod, .a = a};
	return quotas_has(s, ns) ? fault_of(&d) : NULL;
}

struct quotas *quotas_new(struct apiserver *s)
{
	struct quotas *q = xcalloc(1, sizeof(*q));
	q->server = s;
	q->spaces = map_new(space_free);
	store_on_head(s->store, head_changed, q);
	return q;
}

void quotas_free(struct quotas *q)
{
	if (!q)
		return;
	store_on_head(q->server->store, NULL, NULL);
	map_free(q->spaces);
	xfree(q);
}
