/* test_pack.c: texts come back as they were, whatever came after them, and alike ones are small. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/pack.h"

struct kept {
	char *text, *bytes;
	const char *known;
	struct packed packed;
};

static struct kept keep_known(struct pack *p, const char *text, size_t len, const char *known)
{
	struct kept k = {.text = xstrndup(text, len), .known = known};
	k.packed = pack_text(p, str_n(k.text, len), str_of(known));
	k.packed.bytes = k.bytes = xmemdup(k.packed.bytes, k.packed.len);
	return k;
}

static struct kept keep(struct pack *p, const char *text, size_t len)
{
	return keep_known(p, text, len, "");
}

static void assert_kept(const struct pack *p, const struct kept *k)
{
	CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT(STRBUF_SMALL);
	assert_str(pack_read(p, &k->packed, str_of(k->known), &room), k->text);
}

static void kept_free(struct kept *k)
{
	xfree(k->text);
	xfree(k->bytes);
}

/* Past the end of the dictionary, each is read against what was there when it came. */
static void test_pack__what_came_before_stays_readable(void **state)
{
	(void)state;
	enum { N = 100 };
	struct kept all[N];
	char text[512];
	size_t bytes = 0, texts = 0;
	CLEANUP(pack_freep) struct pack *p = pack_new();
	for (int i = 0; i < N; i++) {
		int n = snprintf(text, sizeof(text),
				 "{\"metadata\":{\"name\":\"web%d\",\"labels\":{\"app.coreos.com/"
				 "app\":\"web%d\"},\"annotations\":{\"meta.helm.sh/release-name"
				 "\":\"web%d\"}},\"spec\":{\"clusterIP\":\"10.0.0.%d\"}}",
				 i, i, i, i);
		all[i] = keep(p, text, (size_t)n);
		bytes += all[i].packed.len;
		texts += all[i].packed.text_len;
	}
	for (int i = 0; i < N; i++) {
		assert_kept(p, &all[i]);
		kept_free(&all[i]);
	}
	if (bytes * 3 > texts)
		fail_msg("%zu bytes of %zu: want a third", bytes, texts);
}

/* It need not be near to the rest, nor in it. */
static void test_pack__what_is_known_costs_nothing(void **state)
{
	(void)state;
	static const char uid[] = "0021b3fb-c3fb-48e4-95a3-7adcb13ddb0e";
	static const char text[] = "{\"uid\":\"0021b3fb-c3fb-48e4-95a3-7adcb13ddb0e\"}";
	CLEANUP(pack_freep) struct pack *p = pack_new();
	struct kept first = keep(p, "{\"uid\":\"\"}", 10);
	struct kept without = keep(p, text, strlen(text));
	CLEANUP(pack_freep) struct pack *q = pack_new();
	struct kept other = keep(q, "{\"uid\":\"\"}", 10);
	struct kept with = keep_known(q, text, strlen(text), uid);
	struct kept wrong = keep_known(q, "{\"uid\":\"x\"}", 11, uid);
	struct kept *const of_p[] = {&first, &without}, *const of_q[] = {&other, &with, &wrong};
	if (with.packed.len + 20 > without.packed.len)
		fail_msg("%u bytes, %u without", with.packed.len, without.packed.len);
	for (size_t i = 0; i < ARRAY_LEN(of_p); i++) {
		assert_kept(p, of_p[i]);
		kept_free(of_p[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(of_q); i++) {
		assert_kept(q, of_q[i]);
		kept_free(of_q[i]);
	}
}

/* One over each bound, and what deflate cannot make smaller. */
static void test_pack__bounds(void **state)
{
	(void)state;
	CLEANUP(pack_freep) struct pack *p = pack_new();
	CLEANUP(xfreep) char *large = xcalloc(PACK_TEXT_MAX + 2, 1);
	memset(large, 'x', PACK_TEXT_MAX + 1);
	struct kept empty = keep(p, "", 0), one = keep(p, "a", 1);
	struct kept fits = keep(p, large, PACK_TEXT_MAX);
	struct kept over = keep(p, large, PACK_TEXT_MAX + 1);
	assert_int_equal(empty.packed.len, 0);
	assert_int_equal(one.packed.len, 1);
	assert_true(fits.packed.len < 1024);
	assert_int_equal(over.packed.len, PACK_TEXT_MAX + 1);
	char noise[PACK_DICTIONARY_BYTES + 1] = "";
	uint32_t x = 1;
	for (size_t i = 0; i < PACK_DICTIONARY_BYTES; i++) {
		x = x * 1103515245 + 12345;
		noise[i] = (char)(1 + (x >> 16) % 255);
	}
	struct kept random = keep(p, noise, PACK_DICTIONARY_BYTES);
	assert_int_equal(random.packed.len, random.packed.text_len);
	struct kept *const all[] = {&empty, &one, &fits, &over, &random};
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		assert_kept(p, all[i]);
		kept_free(all[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pack__what_came_before_stays_readable),
		cmocka_unit_test(test_pack__what_is_known_costs_nothing),
		cmocka_unit_test(test_pack__bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
