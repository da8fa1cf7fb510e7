/* Changes that thousands watch are told over several turns of the loop: others are answered in between, and every watcher has each
 * change once and in order, also one that leaves, or whose last change is long ago. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/exchange_fake.h"

#define WATCHERS 1200
#define APART    50 /* of another namespace */
#define CHANGES  3
#define DEFAULT  "/api/v1/namespaces/default/configmaps"
#define OTHER    "/api/v1/namespaces/other/configmaps"
/* hub_internal.h: a send counts 4 KiB and its line, and 2 MiB are a turn; a watcher has all that waits for it at once. */
#define TURN_MAX (512 + CHANGES)

static const char *config_map(const char *name)
{
	static char text[200];
	snprintf(text, sizeof(text),
		 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\"}}",
		 name);
	return text;
}

static void open_watches(struct apifake *f, size_t *ids, size_t n, const char *path)
{
	char target[200];
	struct answer list = apifake_do(f, "GET", path, NULL);
	snprintf(target, sizeof(target), "%s?watch=1&resourceVersion=%s", path,
		 obj_str(list.json, "metadata.resourceVersion"));
	for (size_t i = 0; i < n; i++)
		ids[i] = apifake_send(f, "GET", target, NULL, NULL);
	apifake_run(f);
}

static size_t n_told(struct apifake *f, const size_t *ids, size_t n)
{
	size_t told = 0;
	for (size_t i = 0; i < n; i++)
		told += apifake_bytes(f, ids[i]) > 0;
	return told;
}

static void assert_told(struct apifake *f, size_t id, const char *const *names, size_t n)
{
	struct answer a = apifake_answer(f, id);
	struct str rest = a.body, line;
	size_t i = 0;
	assert_false(a.ended || a.cut);
	for (; str_next_line(&rest, &line); i++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		struct error err = ERROR_INIT;
		assert_true(i < n);
		assert_ok(json_parse(line, &o, &err), &err);
		assert_string_equal(obj_str(o, "type"), "ADDED");
		assert_string_equal(meta_name(obj_get(o, "object")), names[i]);
	}
	assert_int_equal(i, n);
}

static void test_hub_turn__many_watchers_are_told_over_several_turns(void **state)
{
	static const char *const names[CHANGES + 1] = {"a", "b", "c", "d"};
	static size_t ids[WATCHERS], apart[APART];
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	size_t told = 0, turns = 0;
	(void)state;
	apifake_do(f, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"other\"}}");
	open_watches(f, ids, WATCHERS, DEFAULT);
	open_watches(f, apart, APART, OTHER);
	for (size_t i = 0; i < CHANGES; i++)
		apifake_send(f, "POST", DEFAULT, NULL, config_map(names[i]));
	for (int i = 0; i < 20; i++) {
		size_t before = told;
		loop_run_due(apifake_loop(f));
		told = n_told(f, ids, WATCHERS);
		assert_true(told <= before + TURN_MAX);
		if (told == before)
			continue;
		/* one of them was told of it, the other waits but in the last turn */
		apifake_close(f, ids[turns++]);
		apifake_close(f, ids[WATCHERS - turns]);
	}
	assert_true(turns >= WATCHERS / TURN_MAX);
	apifake_do(f, "POST", DEFAULT, config_map("d"));
	for (size_t i = turns; i < WATCHERS - turns; i++)
		assert_told(f, ids[i], names, CHANGES + 1);
}

/* What was told of in a namespace apart is long out of the window of changes. */
static void test_hub_turn__who_had_nothing_to_hear_for_long_is_not_cut(void **state)
{
	static const char *const names[] = {"x"};
	static size_t ids[WATCHERS], apart[APART];
	static char big[1 << 20], text[sizeof(big) + 200];
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	snprintf(text, sizeof(text), "{\"metadata\":{\"name\":\"big\"},\"data\":{\"x\":\"%s\"}}",
		 big);
	apifake_do(f, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"other\"}}");
	open_watches(f, apart, APART, OTHER);
	for (int i = 0; i < 20; i++) { /* 20 MB, of which 8 MiB are kept */
		apifake_do(f, "POST", DEFAULT, text);
		apifake_do(f, "DELETE", DEFAULT "/big", NULL);
	}
	open_watches(f, ids, WATCHERS, "/api/v1/configmaps");
	apifake_do(f, "POST", OTHER, config_map("x"));
	for (size_t i = 0; i < WATCHERS; i++)
		assert_told(f, ids[i], names, 1);
	for (size_t i = 0; i < APART; i++)
		assert_told(f, apart[i], names, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hub_turn__many_watchers_are_told_over_several_turns),
		cmocka_unit_test(test_hub_turn__who_had_nothing_to_hear_for_long_is_not_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
