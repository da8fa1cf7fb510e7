/* What a watch holds that has been sent everything: its selectors, its accept, where it looks; neither what it began with nor its
 * request, whose memory is gone (the fake frees it, so that a sanitizer sees who looks there). */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/exchange_fake.h"

#define MAPS    "/api/v1/namespaces/default/configmaps"
#define RECORDS "/apis/audit.app.coreos.com/v1alpha1/auditrecords"

static void make(struct apifake *f, const char *name, const char *labels)
{
	char body[256];
	snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}}}", name,
		 labels);
	assert_int_equal(apifake_do(f, "POST", MAPS, body).status, 201);
}

static size_t n_of(struct str s, const char *text)
{
	size_t n = 0;
	for (const char *p = s.ptr;
	     p && (p = memmem(p, s.len - (size_t)(p - s.ptr), text, strlen(text))) != NULL; p++)
		n++;
	return n;
}

static void test_hub_watcher__forgets_what_it_began_with(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	char name[16];
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		make(f, name, "");
	}
	size_t w = apifake_send(f, "GET", MAPS "?watch=1", NULL, NULL);
	apifake_run(f);
	assert_int_equal(n_of(apifake_answer(f, w).body, "\"ADDED\""),
			 301);                          /* kube-root-ca.crt, too */
	assert_in_range(apifake_kept(f, w), 100, 1024); /* 300 items are 7,200 bytes */
}

static void test_hub_watcher__selects_as_it_began(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	make(f, "before", "\"a\":\"b\"");
	apifake_header(f, "Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
	size_t w =
		apifake_send(f, "GET",
			     MAPS "?watch=1&labelSelector=a%3Db&fieldSelector=metadata.name!%3Dno"
				  "&allowWatchBookmarks=true",
			     NULL, NULL);
	apifake_run(f);
	make(f, "other", "\"a\":\"c\"");
	make(f, "no", "\"a\":\"b\"");
	make(f, "yes", "\"a\":\"b\"");
	apifake_advance(f, INT64_C(61) * 1000000000);
	struct str got = apifake_answer(f, w).body;
	assert_int_equal(n_of(got, "\"ADDED\""), 2);
	assert_int_equal(n_of(got, "\"name\":\"yes\""), 1);
	assert_int_equal(n_of(got, "\"BOOKMARK\""), 1);
	assert_int_equal(n_of(got, "\"kind\":\"PartialObjectMetadata\""), 3);
}

/* Many watch, so that the last of them are behind at every change, and begin again where they are. */
static void test_hub_watcher__of_the_log_does_not_grow(void **state)
{
	enum { WATCHERS = 600, CHANGES = 100 };
	static size_t ids[WATCHERS];
	CLEANUP(apifake_freep) struct apifake *f =
		apifake_new(&(struct apifake_options){.with_audit = true});
	(void)state;
	for (size_t i = 0; i < WATCHERS; i++)
		ids[i] = apifake_send(f, "GET", RECORDS "?watch=1", NULL, NULL);
	apifake_run(f);
	size_t last = ids[WATCHERS - 1], before = n_of(apifake_answer(f, last).body, "\"ADDED\"");
	char name[16];
	for (int i = 0; i < CHANGES; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		make(f, name, "");
	}
	for (size_t i = 0; i < WATCHERS; i++)
		assert_in_range(apifake_kept(f, ids[i]), 100, 2048);
	assert_int_equal(n_of(apifake_answer(f, last).body, "\"ADDED\""), before + CHANGES);
	assert_int_equal(n_of(apifake_answer(f, ids[0]).body, "\"ADDED\""), before + CHANGES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hub_watcher__forgets_what_it_began_with),
		cmocka_unit_test(test_hub_watcher__selects_as_it_began),
		cmocka_unit_test(test_hub_watcher__of_the_log_does_not_grow),
	};
	return cmocka_run_group_tests_name("hub_watcher", tests, NULL, NULL);
}
