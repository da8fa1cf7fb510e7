/* Recorded requests to a server in process, each also changed in several ways, and what is read of it then: the answers fold
 * into a number for each hundred lines of a recording (tests/golden/digests/api.txt). A change of any answer is seen; one that is
 * meant is recorded by `DIGESTS_RECORD=tests/golden/digests/api.txt build/tests/test_generated_api`.
 * SHOW="differs 3": prints what the requests of that key are answered, to be compared between two builds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/base/map.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/digests.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/generated_life.h"
#include "tests/lib/test.h"

#define BYTES_MAX ((size_t)8 << 20)
#define NUMBERS   "tests/golden/digests/api.txt"
#define LINES     100 /* of a key */
#define CHANGED   6   /* requests made of a recorded one */
#define JSON      "application/json"
#define LIVES     4

static const struct recording {
	const char *name;
	bool updates; /* what it creates is also changed in several ways */
} recordings[] = {
	{"differs", false},     {"required", false},    {"mutate", false},
	{"policy", false},      {"builtin", false},     {"quota", false},
	{"limits", false},      {"autoscale", false},   {"differs_rich", true},
	{"differs_core", true}, {"differs_rest", true}, {"told", true},
	{"ratchet", true},
};

static struct apifake *f;
static struct sha256 *hash;
static bool shown;
static uint64_t state;

/* xorshift: the same everywhere */
static size_t below(size_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (size_t)(state % n);
}

/* --- a body with a mistake --- */

static struct obj *edge(void)
{
	static const char *const values[] = {"null",
					     "true",
					     "false",
					     "\"\"",
					     "\"x\"",
					     "\"A_b\"",
					     "\"a/b.c\"",
					     "\"10Mi\"",
					     "\"-1\"",
					     "0",
					     "1",
					     "-1",
					     "65536",
					     "1099511627776",
					     "1.5",
					     "[]",
					     "{}",
					     "[\"\"]",
					     "{\"a\":\"b\"}",
					     "\"1e3\"",
					     "\"Always\"",
					     "\"10.0.0.1\"",
					     "\"2026-01-01T00:00:00Z\"",
					     "[{\"name\":\"c\"}]"};
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(values[below(ARRAY_LEN(values))]), &o, &err), &err);
	return o;
}

static const char *key_at(const struct obj *map, size_t i)
{
	OBJ_EACH (it, map)
		if (i-- == 0)
			return it.key;
	return NULL;
}

static void spoil_map(struct obj *map, const char *key)
{
	switch (below(5)) {
	case 0:
		obj_del(map, key);
		break;
	case 1:
		obj_set(map, "unknownField", edge());
		break;
	case 2:
		obj_set(map, key, obj_copy(obj_get(map, key_at(map, below(obj_len(map))))));
		break;
	default:
		obj_set(map, key, edge());
	}
}

static void spoil_list(struct obj *list, size_t i)
{
	switch (below(4)) {
	case 0:
		obj_del_at(list, i);
		break;
	case 1:
		obj_append(list, obj_copy(obj_at(list, i)));
		break;
	case 2:
		obj_insert_at(list, 0, obj_copy(obj_at(list, obj_len(list) - 1)));
		break;
	default:
		obj_set_at(list, i, edge());
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the recorded body */
static void spoil(struct obj *o)
{
	size_t n = obj_len(o), i = n ? below(n) : 0;
	bool map = obj_type(o) == OBJ_MAP;
	if (!n) {
		if (map)
			obj_set(o, "a", edge());
		else
			obj_append(o, edge());
		return;
	}
	CLEANUP(xfreep) char *key = map ? xstrdup(key_at(o, i)) : NULL;
	struct obj *inner = map ? obj_get_mut(o, key) : obj_at_mut(o, i);
	if ((obj_type(inner) == OBJ_MAP || obj_type(inner) == OBJ_LIST) && below(4))
		spoil(inner);
	else if (map)
		spoil_map(o, key);
	else
		spoil_list(o, i);
}

/* --- what came of it --- */

static void note(const char *method, const char *target, const char *sent, const struct answer *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(BYTES_MAX);
	strbuf_addf(&b, "%s %s -> %d ", method, target, a->status);
	digest_answer(a, &b);
	digest_add(hash, strbuf_str(&b));
	if (shown)
		printf("%s\n  %s\n", sent ? sent : "", b.buf);
}

static void ask(const char *method, const char *target, const char *type, const char *body)
{
	struct answer a = apifake_do_type(f, method, target, type, body);
	note(method, target, body, &a);
}

/* Dry, with one of the ways to judge unknown fields. */
static void ask_changed(const struct obj *c, const char *method, const struct obj *body)
{
	static const char *const ways[] = {"Strict", "Warn", "Ignore"};
	CLEANUP(strbuf_release) struct strbuf target = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(obj_unrefp) struct obj *o = obj_copy(body);
	const char *path = obj_str(c, "path"), *type = obj_str(c, "type");
	for (size_t i = below(2) + 1; i > 0; i--)
		spoil(o);
	strbuf_adds(&target, path);
	if (!strstr(path, "dryRun="))
		strbuf_addf(&target, "%cdryRun=All", strchr(path, '?') ? '&' : '?');
	if (!strstr(path, "fieldValidation="))
		strbuf_addf(&target, "&fieldValidation=%s", ways[below(ARRAY_LEN(ways))]);
	CLEANUP(xfreep) char *text = json_text(o);
	ask(method, target.buf, type ? type : JSON, text);
}

/* Dry: the object itself and its status, as a whole and as patches; and how it would go. */
static void ask_updates(const char *place, const struct obj *made)
{
	static const struct {
		const char *method, *type, *more;
	} ways[] = {
		{"PUT", JSON, ""},
		{"PUT", JSON, "/status"},
		{"PATCH", "application/merge-patch+json", ""},
		{"PATCH", "application/strategic-merge-patch+json", "/status"},
		{"PATCH", "application/apply-patch+yaml", ""},
		{"DELETE", JSON, ""},
	};
	const char *name = obj_str(made, "metadata.name");
	for (size_t i = 0; name && i < ARRAY_LEN(ways); i++) {
		CLEANUP(strbuf_release) struct strbuf target = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(obj_unrefp) struct obj *o = obj_copy(made);
		obj_del(obj_get_mut(o, "metadata"), "managedFields");
		spoil(o);
		strbuf_addf(&target, "%s/%s%s?dryRun=All", place, name, ways[i].more);
		if (strstr(ways[i].type, "apply"))
			strbuf_adds(&target, "&fieldManager=m&force=true");
		CLEANUP(xfreep) char *text = json_text(o);
		ask(ways[i].method, target.buf, ways[i].type,
		    ways[i].method[0] == 'D' ? "{\"gracePeriodSeconds\":0}" : text);
	}
}

static void play_line(const struct obj *c, struct map *places, bool updates)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *body = NULL;
	const char *method = obj_str(c, "method"), *path = obj_str(c, "path"),
		   *type = obj_str(c, "type");
	if (!method) /* of what lacks a field: all are to be created */
		method = "POST";
	const char *text = obj_str(c, "body");
	if (!path)
		return;
	bool is_tree = text && json_parse(str_of(text), &body, &err) == 0 && obj_len(body);
	for (int i = 0; is_tree && i < (updates ? CHANGED / 2 : CHANGED); i++)
		ask_changed(c, method, body);
	struct answer a = apifake_do_type(f, method, path, type ? type : JSON, text);
	note(method, path, text, &a);
	if (updates && a.status == 201 && !strchr(path, '?'))
		ask_updates(path, a.json);
	if (strcmp(method, "POST") == 0 && !strchr(path, '?') && !map_get(places, path))
		map_set(places, path, xstrdup(path));
	apifake_forget(f);
}

/* --- reading --- */

static void ask_as(const char *target, const char *accept)
{
	apifake_header(f, "Accept", accept);
	ask("GET", target, NULL, NULL);
}

static void watch(const char *target)
{
	size_t n = apifake_send(f, "GET", target, NULL, NULL);
	apifake_run(f);
	struct answer a = apifake_answer(f, n);
	note("WATCH", target, NULL, &a);
	if (!a.ended)
		apifake_close(f, n);
}

static void pages(const char *place)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL * 4);
	strbuf_addf(&b, "%s?limit=1", place);
	for (int i = 0; i < 4; i++) {
		struct answer a = apifake_do(f, "GET", b.buf, NULL);
		const char *token = obj_str(a.json, "metadata.continue");
		note("GET", b.buf, NULL, &a);
		if (!token || !*token)
			return;
		strbuf_clear(&b);
		strbuf_addf(&b, "%s?limit=2&continue=%s", place, token);
	}
}

static void read_place(const char *place)
{
	static const char *const queries[] = {
		"?labelSelector=a%3Db",
		"?labelSelector=!a",
		"?labelSelector=a%20in%20(b,c),d",
		"?labelSelector=a%20in",
		"?fieldSelector=metadata.name%3Dbase",
		"?fieldSelector=metadata.name!%3Dbase",
		"?fieldSelector=spec.no%3Db",
		"?resourceVersion=0",
		"?resourceVersion=1&resourceVersionMatch=Exact",
		"?resourceVersion=7&resourceVersionMatch=NotOlderThan",
		"?resourceVersionMatch=Exact",
		"?resourceVersion=99999999",
		"?limit=-1",
		"?limit=2&continue=x",
		"/base",
		"/none",
	};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	pages(place);
	for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
		strbuf_clear(&b);
		strbuf_addf(&b, "%s%s", place, queries[i]);
		ask("GET", b.buf, NULL, NULL);
	}
	ask_as(place, "application/json;as=Table;v=v1;g=meta.k8s.io");
	ask_as(place, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
	ask_as(place, "application/yaml");
	ask_as(place, "text/html");
	strbuf_clear(&b);
	strbuf_addf(&b, "%s?watch=1&resourceVersion=1", place);
	watch(b.buf);
	strbuf_adds(&b, "&labelSelector=a%3Db");
	watch(b.buf);
	strbuf_clear(&b);
	strbuf_addf(&b, "%s?dryRun=All&labelSelector=a", place);
	ask("DELETE", b.buf, NULL, "{\"propagationPolicy\":\"Orphan\"}");
	apifake_forget(f);
}

static const char *const documents[] = {
	"/",
	"/api",
	"/api/",
	"/api/v1",
	"/api/v1/",
	"/api/v2",
	"/apis",
	"/apis/",
	"/apis/apps",
	"/apis/apps/",
	"/apis/none",
	"/apis/apps/v1",
	"/apis/apps/v9",
	"/version",
	"/version/",
	"/versions",
	"/openapi",
	"/openapi/",
	"/openapi/v2",
	"/openapi/v2/x",
	"/openapi/v3",
	"/openapi/x/v3",
	"/openapi/v4",
	"/healthz",
	"/readyz",
	"/livez",
	"/readyz/ping",
	"/livez/none",
	"/healthz?verbose",
	"/readyz?exclude=ping&verbose",
	"/metrics",
	"/audit",
	"/audit/",
	"/audit/none",
	"/audit/checkpoint",
	"/none",
	"/none/",
	"/a/b/c/d/e/f",
	"//",
	"/api//v1",
	"/openapi/v3/api/v1",
	"/openapi/v3/api",
	"/openapi/v3/apix/v1",
	"/openapi/v3/api/v1/pods",
	"/openapi/v3/apis/apps",
	"/openapi/v3/apis/apps/v1",
	"/openapi/v3/apis/apps/v9",
	"/openapi/v3/apis/apps/v1/x",
	"/openapi/v3/apis/batch/v1?hash=x",
};

/* What is served beside objects: documents of kinds, health, the log. */
static void read_documents(void)
{
	static const char *const forms[] = {
		JSON,
		"text/html",
		"application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
		"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
		"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
		"application/vnd.kubernetes.protobuf",
		"*/*;q=0.1, application/yaml",
	};
	static const char *const methods[] = {"HEAD", "POST", "DELETE", "OPTIONS"};
	for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
		ask("GET", documents[i], NULL, NULL);
		ask(methods[i % ARRAY_LEN(methods)], documents[i], NULL, NULL);
		ask_as(documents[i], forms[i % ARRAY_LEN(forms)]);
	}
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		ask_as("/api", forms[i]);
		ask_as("/apis", forms[i]);
	}
}

/* --- keys --- */

static size_t n_differs;

static void begin(const char *key, uint64_t seed)
{
	const char *show = getenv("SHOW");
	shown = show && strcmp(show, key) == 0;
	hash = sha256_new();
	state = seed * UINT64_C(0x9E3779B97F4A7C15) | 1;
}

static void end(const char *key)
{
	n_differs += !digests_hold(NUMBERS, key, hash);
	sha256_free(hash);
}

static void play(const char *name, bool updates)
{
	struct error err = ERROR_INIT;
	char path[128], key[64];
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(BYTES_MAX);
	CLEANUP(map_freep) struct map *places = map_new(xfree);
	snprintf(path, sizeof(path), "tests/golden/kube-api/%s.jsonl", name);
	assert_ok(file_read(path, &text, &err), &err);
	struct str rest = strbuf_str(&text), line;
	f = apifake_new(NULL);
	for (size_t n = 0; rest.len; n++) {
		snprintf(key, sizeof(key), "%s %zu", name, n);
		begin(key, n + 1);
		for (size_t i = 0; i < LINES && str_next(&rest, '\n', &line); i++) {
			CLEANUP(obj_unrefp) struct obj *c = NULL;
			if (line.len && json_parse(line, &c, &err) == 0)
				play_line(c, places, updates);
		}
		end(key);
	}
	snprintf(key, sizeof(key), "%s read", name);
	begin(key, 1);
	for (struct map_entry *e = map_first(places); e; e = map_next(e))
		read_place(e->key);
	end(key);
	apifake_free(f);
}

static void read_server(void)
{
	f = apifake_new(NULL);
	begin("documents", 1);
	read_documents();
	end("documents");
	apifake_free(f);
}

static void live(void)
{
	char key[32];
	for (uint64_t seed = 1; seed <= LIVES; seed++) {
		(void)snprintf(key, sizeof(key), "life %d", (int)seed);
		begin(key, seed);
		generated_life(hash, seed, shown);
		end(key);
	}
}

static void test_generated_api__answers_are_as_recorded(void **unused)
{
	(void)unused;
	digests_begin();
	for (size_t i = 0; i < ARRAY_LEN(recordings); i++)
		play(recordings[i].name, recordings[i].updates);
	read_server();
	live();
	if (n_differs)
		fail_msg("%zu of them differ: SHOW=KEY prints what is answered", n_differs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generated_api__answers_are_as_recorded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
