/*
 * fuzz_apiseq: any order of create, change, delete, watch, restart and time against a whole API
 * server in process: definitions and namespaces come and go below their objects and watches. Each
 * step is three bytes: what, to which, how. At the end no object is left without its namespace, and
 * what a watch has shown from its start is what a list shows.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/exchange_fake.h"

#define STEPS_MAX   96
#define WATCHES_MAX 8
#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

struct seq {
	struct apifake *fake;
	struct arena *arena;
	struct {
		size_t n;         /* of its answer */
		unsigned kind;    /* of kinds */
		bool from_start;  /* it began with all there was */
		bool open, taken; /* taken: its client has taken all that came */
	} watches[WATCHES_MAX];
	size_t n_watches;
	const char *revision; /* of the last list */
};

/* Kinds 2 and 3 are there while their definition is. */
static const char *const kinds[] = {"configmaps", "secrets", "gs", "cs"};
static const char *const bodies[] = {"", "{\"propagationPolicy\":\"Foreground\"}",
				     "{\"propagationPolicy\":\"Orphan\"}",
				     "{\"gracePeriodSeconds\":0}"};

static const char *path_of(struct seq *s, unsigned kind, unsigned which)
{
	const char *group = kind < 2 ? "/api/v1" : "/apis/x.io/v1";
	if (kind == 3)
		return arena_fmt(s->arena, "%s/cs", group);
	return arena_fmt(s->arena, "%s/namespaces/n%u/%s", group, which & 3, kinds[kind]);
}

static const char *all_of(struct seq *s, unsigned kind)
{
	return arena_fmt(s->arena, "%s/%s", kind < 2 ? "/api/v1" : "/apis/x.io/v1", kinds[kind]);
}

/* how: its highest bit leaves the request for a later turn. */
static void send(struct seq *s, const char *method, const char *target, const char *type,
		 const char *body, unsigned how)
{
	size_t n = apifake_send(s->fake, method, target, type, *body ? body : NULL);
	if (how & 0x80)
		return;
	apifake_run(s->fake);
	struct answer a = apifake_answer(s->fake, n);
	fuzz_note_number(a.status);
	fuzz_note(a.body);
	assert(a.status >= 200 && a.status < 600 && a.status != 500 && a.ended);
}

static void define(struct seq *s, unsigned which, unsigned how)
{
	const char *plural = kinds[2 + (which & 1)];
	send(s, "POST", DEFINITIONS, NULL,
	     arena_fmt(
		     s->arena,
		     "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":"
		     "\"CustomResourceDefinition\",\"metadata\":{\"name\":\"%s.x.io\"%s},\"spec\":{"
		     "\"group\":\"x.io\",\"scope\":\"%s\",\"names\":{\"plural\":\"%s\",\"kind\":\"%"
		     "s\"},"
		     "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
		     "\"openAPIV3Schema\":{\"type\":\"object\","
		     "\"x-kubernetes-preserve-unknown-fields\":true}}}]}}",
		     plural, how & 1 ? ",\"finalizers\":[\"a.b/c\"]" : "",
		     which & 1 ? "Cluster" : "Namespaced", plural, which & 1 ? "C" : "G"),
	     how);
}

static void create(struct seq *s, unsigned kind, unsigned which, unsigned how)
{
	static const char *const names[] = {"ConfigMap", "Secret", "G", "C"};
	send(s, "POST", path_of(s, kind, which), NULL,
	     arena_fmt(s->arena,
		       "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"o%u\"%s}}",
		       kind < 2 ? "v1" : "x.io/v1", names[kind], which >> 2 & 3,
		       how & 1 ? ",\"finalizers\":[\"a.b/c\"]" : ""),
	     how);
}

/* Changes a label, or the finalizers, of an object, a namespace or a definition. */
static void change(struct seq *s, const char *target, unsigned how)
{
	const char *body =
		how & 1 ? "{\"metadata\":{\"finalizers\":null}}"
			: arena_fmt(s->arena, "{\"metadata\":{\"labels\":{\"l\":\"%u\"}}}",
				    how >> 1 & 3);
	send(s, "PATCH", target, "application/merge-patch+json", body, how);
}

static void open_watch(struct seq *s, unsigned kind, unsigned how)
{
	static const char *const starts[] = {"",
					     "&sendInitialEvents=true&resourceVersionMatch="
					     "NotOlderThan&allowWatchBookmarks=true",
					     "&resourceVersion=0", "&labelSelector=l%3D1"};
	const char *start = starts[how & 3];
	if (s->n_watches == WATCHES_MAX)
		return;
	if (how & 4)
		start = arena_fmt(s->arena, "&resourceVersion=%s", s->revision);
	const char *target = arena_fmt(s->arena, "%s?watch=1%s", all_of(s, kind), start);
	size_t n = how & 8 ? apifake_send_lazy(s->fake, "GET", target)
			   : apifake_send(s->fake, "GET", target, NULL, NULL);
	s->watches[s->n_watches].n = n;
	s->watches[s->n_watches].kind = kind;
	s->watches[s->n_watches].from_start = !(how & 4) && (how & 3) < 2;
	s->watches[s->n_watches].taken = !(how & 8);
	s->watches[s->n_watches++].open = true;
	if (!(how & 0x80))
		apifake_run(s->fake);
}

static void tend_watch(struct seq *s, unsigned which, unsigned how)
{
	if (!s->n_watches)
		return;
	size_t i = which % s->n_watches;
	if (how & 1 && s->watches[i].open)
		apifake_close(s->fake, s->watches[i].n);
	else if (s->watches[i].open)
		(void)apifake_drain(s->fake, s->watches[i].n);
	s->watches[i].open = s->watches[i].open && !(how & 1);
}

static void list(struct seq *s, unsigned kind, unsigned how)
{
	const char *target = arena_fmt(s->arena, "%s?limit=%u", all_of(s, kind), how & 3);
	for (int i = 0; i < 4; i++) {
		struct answer a = apifake_do(s->fake, "GET", target, NULL);
		const char *next = obj_str(obj_get(a.json, "metadata"), "continue");
		const char *revision = obj_str(obj_get(a.json, "metadata"), "resourceVersion");
		fuzz_note_number(a.status);
		fuzz_note(a.body);
		if (a.status == 200 && revision)
			s->revision = arena_strdup(s->arena, revision);
		if (!next || !*next)
			return;
		target = arena_fmt(s->arena, "%s?limit=%u&continue=%s", all_of(s, kind), how & 3,
				   next);
	}
}

static void step(struct seq *s, unsigned what, unsigned which, unsigned how)
{
	unsigned kind = which >> 4 & 3;
	const char *object = arena_fmt(s->arena, "%s/o%u", path_of(s, kind, which), which >> 2 & 3);
	const char *ns = arena_fmt(s->arena, "/api/v1/namespaces/n%u", which & 3);
	const char *definition =
		arena_fmt(s->arena, DEFINITIONS "/%s.x.io", kinds[2 + (which & 1)]);
	switch (what % 14) {
	case 0:
		define(s, which, how);
		break;
	case 1:
		send(s, "DELETE", definition, NULL, bodies[how & 3], how);
		break;
	case 2:
		send(s, "POST", "/api/v1/namespaces", NULL,
		     arena_fmt(s->arena, "{\"metadata\":{\"name\":\"n%u\"}}", which & 3), how);
		break;
	case 3:
		send(s, "DELETE", ns, NULL, bodies[how & 3], how);
		break;
	case 4:
	case 5:
		create(s, kind, which, how);
		break;
	case 6:
		change(s, which & 0x40 ? which & 0x80 ? definition : ns : object, how);
		break;
	case 7:
		send(s, "DELETE", object, NULL, bodies[how & 3], how);
		break;
	case 8:
		send(s, "DELETE", path_of(s, kind, which), NULL, bodies[how & 3], how);
		break;
	case 9:
		open_watch(s, kind, how);
		break;
	case 10:
		tend_watch(s, which, how);
		break;
	case 11:
		list(s, kind, how);
		break;
	case 12:
		if (how < 8) /* all streams end with it */
			for (size_t i = 0; i < s->n_watches; i++)
				tend_watch(s, (unsigned)i, 1);
		if (how < 8)
			apifake_restart(s->fake);
		break;
	default:
		apifake_advance(s->fake, (int64_t)(how & 0x7f) * (how & 0x7f) * 1000000000);
	}
}

static const char *key_of(struct seq *s, const struct obj *o)
{
	const char *ns = meta_namespace(o);
	return arena_fmt(s->arena, "%s/%s", ns ? ns : "", meta_name(o));
}

/* Name -> resourceVersion of what the events add up to; NULL if the stream told that it is over. */
static struct obj *fold(struct seq *s, struct str text)
{
	struct obj *all = obj_map();
	struct str line;
	while (str_next_line(&text, &line) && line.len) {
		CLEANUP(obj_unrefp) struct obj *event = NULL;
		struct error err = ERROR_INIT;
		assert(json_parse(line, &event, &err) == 0);
		const char *type = obj_str(event, "type");
		const struct obj *o = obj_get(event, "object");
		if (strcmp(type, "ERROR") == 0) {
			obj_unref(all);
			return NULL;
		}
		if (strcmp(type, "BOOKMARK") == 0)
			continue;
		const char *key = key_of(s, o);
		assert((strcmp(type, "ADDED") == 0) == !obj_get(all, key));
		if (strcmp(type, "DELETED") == 0)
			obj_del(all, key);
		else
			obj_set_str(all, key, meta_resource_version(o));
	}
	return all;
}

/* What is there in the end, each in a namespace that is. */
static struct obj *listed(struct seq *s, unsigned kind)
{
	struct obj *all = obj_map();
	struct answer a = apifake_do(s->fake, "GET", all_of(s, kind), NULL);
	const struct obj *items = obj_get(a.json, "items");
	assert(a.status == 200 || (a.status == 404 && kind >= 2));
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *o = obj_at(items, i);
		const char *ns = meta_namespace(o);
		if (kind < 3)
			assert(apifake_do(s->fake, "GET",
					  arena_fmt(s->arena, "/api/v1/namespaces/%s", ns), NULL)
				       .status == 200);
		obj_set_str(all, key_of(s, o), meta_resource_version(o));
	}
	return all;
}

static void judge(struct seq *s)
{
	apifake_advance(s->fake, 1000000000);
	for (unsigned kind = 0; kind < ARRAY_LEN(kinds); kind++) {
		CLEANUP(obj_unrefp) struct obj *want = listed(s, kind);
		fuzz_note_obj(want);
		for (size_t i = 0; i < s->n_watches; i++) {
			if (s->watches[i].kind != kind || !s->watches[i].open ||
			    !s->watches[i].from_start || !s->watches[i].taken)
				continue;
			struct answer a = apifake_answer(s->fake, s->watches[i].n);
			CLEANUP(obj_unrefp) struct obj *got =
				a.status == 200 ? fold(s, a.body) : NULL;
			assert(!got || a.ended || obj_equal(got, want));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct seq s = {.fake = f, .arena = a, .revision = "1"};
	for (size_t i = 0; i < STEPS_MAX && 3 * i + 2 < size; i++)
		step(&s, data[3 * i], data[3 * i + 1], data[3 * i + 2]);
	judge(&s);
	return 0;
}
