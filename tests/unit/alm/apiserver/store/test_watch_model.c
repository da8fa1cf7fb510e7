/* Store and watch against a model: after any sequence of writes, refused ones, dropped streams and
 * restarts every client's view, made of its list and the events since, is the model as its
 * namespace and selector let it see it; each change came once, in order. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/arena.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/exchange_fake.h"

#define SEEDS   60
#define STEPS   60
#define NAMES   6 /* the first half in default, the others in other */
#define MERGE   "application/merge-patch+json"
#define BODIES  ((size_t)64 << 20)
#define CLIENTS ARRAY_LEN(kinds)

struct state {
	bool there;
	unsigned label; /* 0: none */
	unsigned value;
	int64_t rv;
};

static const struct client_kind {
	const char *path, *selector;
	unsigned from, to, label; /* label 0: all */
	bool negated;             /* all but those with the label */
} kinds[] = {
	{"/api/v1/configmaps", "labelSelector=m", 0, NAMES, 0, false},
	{"/api/v1/namespaces/default/configmaps", "labelSelector=m", 0, NAMES / 2, 0, false},
	{"/api/v1/configmaps", "labelSelector=m,x%3D1", 0, NAMES, 1, false},
	{"/api/v1/namespaces/other/configmaps", "labelSelector=m,x!%3D2", NAMES / 2, NAMES, 2,
	 true},
	{"/api/v1/namespaces/default/configmaps",
	 "labelSelector=m&fieldSelector=metadata.name%3Dn1", 1, 2, 0, false},
};

struct view {
	const struct client_kind *kind;
	size_t stream, read; /* bytes of the stream that were applied */
	bool open;
	bool fresh; /* what is there comes first, in no order of revisions */
	int64_t rv; /* newest that it has seen */
	struct state objects[NAMES];
};

struct trial {
	struct apifake *f;
	struct arena *a;
	uint64_t seed, prng;
	struct state model[NAMES];
	struct view views[ARRAY_LEN(kinds)];
};

static uint64_t draw(struct trial *t, uint64_t n)
{
	t->prng ^= t->prng << 13;
	t->prng ^= t->prng >> 7;
	t->prng ^= t->prng << 17;
	return t->prng % n;
}

static const char *target(struct trial *t, unsigned i)
{
	return arena_fmt(t->a, "/api/v1/namespaces/%s/configmaps/n%u",
			 i < NAMES / 2 ? "default" : "other", i);
}

static bool is_seen(const struct client_kind *k, unsigned i, const struct state *s)
{
	bool labelled = s->label == k->label;
	return s->there && i >= k->from && i < k->to && (!k->label || labelled != k->negated);
}

static struct state state_of(const struct obj *o, unsigned *ret_i)
{
	struct state s = {.there = true};
	const char *name = meta_name(o), *x = meta_label(o, "x"), *v = obj_str(o, "data.v");
	assert_true(name && name[0] == 'n' && v);
	*ret_i = (unsigned)(name[1] - '0');
	assert_true(*ret_i < NAMES);
	s.label = x ? (unsigned)(*x - '0') : 0;
	uint64_t n = 0;
	assert_true(str_parse_u64(str_of(v), &n));
	s.value = (unsigned)n;
	s.rv = obj_i64(o, "metadata.resourceVersion", -1);
	if (s.rv < 0) {
		uint64_t rv = 0;
		assert_true(str_parse_u64(str_of(meta_resource_version(o)), &rv));
		s.rv = (int64_t)rv;
	}
	return s;
}

static void watch(struct trial *t, struct view *v)
{
	v->stream = apifake_send(t->f, "GET",
				 arena_fmt(t->a, "%s?watch=1&%s&resourceVersion=%lld",
					   v->kind->path, v->kind->selector, (long long)v->rv),
				 NULL, NULL);
	v->read = 0;
	v->open = true;
	v->fresh = v->rv == 0;
}

static void list(struct trial *t, struct view *v)
{
	struct answer list = apifake_do(
		t->f, "GET", arena_fmt(t->a, "%s?%s", v->kind->path, v->kind->selector), NULL);
	const struct obj *items = obj_get(list.json, "items");
	uint64_t rv = 0;
	unsigned i = 0;
	assert_int_equal(list.status, 200);
	memset(v->objects, 0, sizeof(v->objects));
	for (size_t k = 0; k < obj_len(items); k++) {
		struct state s = state_of(obj_at(items, k), &i);
		assert_false(v->objects[i].there);
		v->objects[i] = s;
	}
	assert_true(str_parse_u64(str_of(obj_str(list.json, "metadata.resourceVersion")), &rv));
	v->rv = (int64_t)rv;
	watch(t, v);
}

/* By a list and a watch from there, or by a watch that begins with all there is. */
static void begin(struct trial *t, struct view *v)
{
	if (draw(t, 2)) {
		list(t, v);
		return;
	}
	memset(v->objects, 0, sizeof(v->objects));
	v->rv = 0;
	watch(t, v);
	apifake_run(t->f);
}

/* False: the server wants it to list anew. */
static bool apply(struct trial *t, struct view *v, const struct obj *event)
{
	const char *type = obj_str(event, "type");
	unsigned i = 0;
	if (cstr_eq(type, "ERROR"))
		return false;
	struct state s = state_of(obj_get(event, "object"), &i);
	struct state *have = &v->objects[i];
	if (have->there == cstr_eq(type, "ADDED"))
		fail_msg("seed %llu: %s of n%u, which is %sthere", (unsigned long long)t->seed,
			 type, i, have->there ? "" : "not ");
	if (s.rv <= v->rv && !v->fresh)
		fail_msg("seed %llu: %s of revision %lld after %lld", (unsigned long long)t->seed,
			 type, (long long)s.rv, (long long)v->rv);
	v->rv = s.rv > v->rv ? s.rv : v->rv;
	*have = s;
	have->there = !cstr_eq(type, "DELETED");
	return true;
}

/* False: the client has to begin anew. */
static bool follow(struct trial *t, struct view *v)
{
	struct answer stream = apifake_answer(t->f, v->stream);
	struct str rest = str_skip(stream.body, v->read), line;
	bool again = stream.ended || stream.cut || stream.status != 200;
	while (str_next_line(&rest, &line)) {
		struct obj *o = NULL;
		struct error err = ERROR_INIT;
		assert_ok(json_parse(line, &o, &err), &err);
		again = !apply(t, v, obj_keep(t->a, o)) || again;
	}
	v->read = stream.body.len;
	v->fresh = false;
	return !again;
}

static void check(struct trial *t)
{
	apifake_run(t->f);
	for (size_t c = 0; c < CLIENTS; c++) {
		struct view *v = &t->views[c];
		if (!v->open)
			continue;
		while (!follow(t, v))
			begin(t, v);
		for (unsigned i = 0; i < NAMES; i++) {
			const struct state *want = &t->model[i], *is = &v->objects[i];
			bool seen = is_seen(v->kind, i, want);
			if (is->there != seen ||
			    (seen && (is->value != want->value || is->label != want->label ||
				      is->rv != want->rv)))
				fail_msg("seed %llu: client %zu, n%u: %d %u at %lld, want %d %u at "
					 "%lld",
					 (unsigned long long)t->seed, c, i, is->there, is->value,
					 (long long)is->rv, seen, want->value, (long long)want->rv);
		}
	}
}

static const char *body(struct trial *t, unsigned i, const struct state *s, const char *rv)
{
	const char *label = s->label ? arena_fmt(t->a, ",\"x\":\"%u\"", s->label) : "";
	return arena_fmt(
		t->a,
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"n%u\","
		"%s\"labels\":{\"m\":\"1\"%s}},\"data\":{\"v\":\"%u\"}}",
		i, rv, label, s->value);
}

static void take(struct trial *t, unsigned i, struct answer a, bool deleted)
{
	unsigned is = 0;
	if (deleted) {
		t->model[i] = (struct state){0};
		return;
	}
	t->model[i] = state_of(a.json, &is);
	assert_int_equal(is, i);
}

/* One write: a third of them is stale, or of what is not there, and must change nothing. */
static void write_one(struct trial *t)
{
	unsigned i = (unsigned)draw(t, NAMES);
	struct state *old = &t->model[i];
	struct state s = {.label = (unsigned)draw(t, 3), .value = (unsigned)draw(t, 1000)};
	const char *path = target(t, i), *folder = arena_strndup(t->a, path, strlen(path) - 3);
	bool stale = draw(t, 3) == 0;
	const char *rv = arena_fmt(t->a, "\"resourceVersion\":\"%lld\",",
				   (long long)(stale ? old->rv - 1 : old->rv));
	struct answer a = {0};
	switch (draw(t, 4)) {
	case 0:
		a = apifake_do(t->f, "POST", folder, body(t, i, &s, ""));
		assert_int_equal(a.status, old->there ? 409 : 201);
		break;
	case 1:
		a = apifake_do(t->f, "PUT", path, body(t, i, &s, old->there ? rv : ""));
		if (old->there)
			assert_int_equal(a.status, stale ? 409 : 200);
		else
			assert_true(a.status == 404 || a.status == 201);
		break;
	case 2:
		a = apifake_do_type(
			t->f, "PATCH", path, MERGE,
			arena_fmt(t->a, "{\"metadata\":{%s\"labels\":{\"x\":%s}}}", rv,
				  s.label ? arena_fmt(t->a, "\"%u\"", s.label) : "null"));
		assert_int_equal(a.status, !old->there ? 404 : stale ? 409 : 200);
		break;
	default:
		a = apifake_do(t->f, "DELETE", path,
			       arena_fmt(t->a, "{\"preconditions\":{\"resourceVersion\":\"%lld\"}}",
					 (long long)(stale ? old->rv - 1 : old->rv)));
		assert_int_equal(a.status, !old->there ? 404 : stale ? 409 : 200);
		if (a.status == 200)
			take(t, i, a, true);
		return;
	}
	if (a.status < 300)
		take(t, i, a, false);
}

/* A stream that is dropped goes on where its client was; or the server is started again. */
static void disturb(struct trial *t)
{
	struct view *v = &t->views[draw(t, CLIENTS)];
	if (draw(t, 8) == 0) {
		apifake_restart(t->f);
		for (size_t c = 0; c < CLIENTS; c++)
			watch(t, &t->views[c]);
	} else if (v->open) {
		apifake_close(t->f, v->stream);
		v->open = false;
	} else {
		watch(t, v);
	}
}

static void test_watch_model__every_view_is_the_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(BODIES);
		CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
		struct trial t = {.f = f, .a = a, .seed = seed, .prng = seed * 0x9E3779B97F4A7C15u};
		apifake_do(f, "POST", "/api/v1/namespaces",
			   "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":"
			   "\"other\"}}");
		for (size_t c = 0; c < CLIENTS; c++) {
			t.views[c].kind = &kinds[c];
			begin(&t, &t.views[c]);
		}
		for (int i = 0; i < STEPS; i++) {
			write_one(&t);
			if (draw(&t, 6) == 0)
				disturb(&t);
			if (draw(&t, 3) == 0)
				check(&t);
		}
		for (size_t c = 0; c < CLIENTS; c++)
			if (!t.views[c].open)
				watch(&t, &t.views[c]);
		check(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watch_model__every_view_is_the_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
