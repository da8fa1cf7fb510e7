/* test_unzipped.c: whatever is unpacked comes back byte by byte, and only what can is unpacked. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/client/unzipped.h"
#include "installers/chart/gzip.h"

typedef int (*packer)(struct str bytes, struct strbuf *b, struct error *err);

static void add_value(struct strbuf *json, packer pack, unsigned layers, struct str bytes)
{
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf once = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	assert_ok(pack(bytes, &packed, &err), &err);
	strbuf_addf(json, "%s\"v%zu\":\"", json->len > 1 ? "," : "", json->len);
	if (layers == 2)
		base64_encode(strbuf_str(&packed), &once);
	base64_encode(strbuf_str(layers == 2 ? &once : &packed), json);
	strbuf_addc(json, '"');
}

/* True: it was kept otherwise. */
static bool comes_back(const struct strbuf *json)
{
	CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT(STRBUF_SMALL);
	struct str kept = unzipped(strbuf_str(json), &room);
	bool changed = !str_eq(kept, strbuf_str(json));
	struct str again = unzipped_restore(kept, &room);
	assert_int_equal(again.len, json->len);
	assert_memory_equal(again.ptr, json->buf, json->len);
	return changed;
}

/* Values that stay packed. */
static size_t still_packed(struct str json)
{
	CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT(STRBUF_SMALL);
	struct str kept = unzipped(json, &room);
	size_t n = 0;
	for (const char *at = kept.ptr; at + 5 <= kept.ptr + kept.len; at++)
		n += memcmp(at, "\"H4sI", 5) == 0 || memcmp(at, "\"SDRz", 5) == 0;
	return n;
}

static void test_unzipped__values_of_our_packers(void **state)
{
	(void)state;
	static const packer packers[] = {gzip_pack_fast, gzip_pack_soon, gzip_pack};
	const struct str texts[] = {STR("{\"a\":\"b\"}"), STR(""), STR("\1\1\0\1H4sI\"\1"),
				    STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")};
	for (size_t p = 0; p < ARRAY_LEN(packers); p++)
		for (unsigned layers = 1; layers <= 2; layers++)
			for (size_t t = 0; t < ARRAY_LEN(texts); t++) {
				CLEANUP(strbuf_release) struct strbuf json =
					STRBUF_INIT(STRBUF_SMALL);
				strbuf_addc(&json, '{');
				add_value(&json, packers[p], layers, texts[t]);
				add_value(&json, packers[p], 3 - layers, texts[t]);
				strbuf_addc(&json, '}');
				assert_true(comes_back(&json));
				assert_int_equal(still_packed(strbuf_str(&json)), 0);
			}
}

static void test_unzipped__other_values_stay(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"", "{}", "{\"a\":\"H4sI\"}", "{\"a\":\"H4sIAAAA\"}", "{\"a\":\"SDRzSUFB\"}",
		"{\"a\":\"H4sI", "{\"a\":\"SDRz", "{\"a\":\"H4sI\\u0001\",\"b\":\"SDRz*\"}",
		/* something behind the stream */
		"{\"a\":\"H4sIAAAAAAAA/0tMBABJ0lIPAgAAAABB\"}"};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(STRBUF_SMALL);
		strbuf_adds(&json, texts[i]);
		assert_false(comes_back(&json));
	}
}

/* A stream with a time in its head (RFC 1952 2.3.1): what it has is ours, the stream is not. */
static int pack_with_time(struct str bytes, struct strbuf *b, struct error *err)
{
	int rc = gzip_pack(bytes, b, err);
	b->buf[4] = 1;
	return rc;
}

static void test_unzipped__a_stream_of_another_packer_stays(void **state)
{
	(void)state;
	for (unsigned layers = 1; layers <= 2; layers++) {
		CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addc(&json, '{');
		add_value(&json, pack_with_time, layers, STR("once upon a time"));
		strbuf_addc(&json, '}');
		assert_false(comes_back(&json));
		assert_int_equal(still_packed(strbuf_str(&json)), 1);
	}
}

/* One over each bound: the fifth value, a byte too many, values that are too large together. */
static void test_unzipped__bounds(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf five = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addc(&five, '{');
	for (int i = 0; i < UNZIPPED_VALUES_MAX + 1; i++)
		add_value(&five, gzip_pack, 1, STR("once upon a time"));
	strbuf_addc(&five, '}');
	assert_true(comes_back(&five));
	assert_int_equal(still_packed(strbuf_str(&five)), 1);
	for (size_t over = 0; over < 2; over++) {
		CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
		strbuf_pad(&text, 'x', UNZIPPED_BYTES_MAX / 2);
		strbuf_addc(&json, '{');
		add_value(&json, gzip_pack, 1, strbuf_str(&text));
		size_t before = unzipped(strbuf_str(&json), &room).len;
		strbuf_pad(&json, ' ', UNZIPPED_BYTES_MAX - before - 1);
		strbuf_addc(&json, '}');
		assert_int_equal(unzipped(strbuf_str(&json), &room).len, UNZIPPED_BYTES_MAX);
		assert_true(comes_back(&json));
		strbuf_addc(&json, ' ');
		assert_false(comes_back(&json));
		/* twice what fits, of which each would */
		strbuf_clear(&json);
		strbuf_addc(&json, '{');
		add_value(&json, gzip_pack, 1, strbuf_str(&text));
		if (over)
			add_value(&json, gzip_pack, 1, strbuf_str(&text));
		strbuf_addc(&json, '}');
		assert_int_equal(comes_back(&json), !over);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unzipped__values_of_our_packers),
		cmocka_unit_test(test_unzipped__other_values_stay),
		cmocka_unit_test(test_unzipped__a_stream_of_another_packer_stays),
		cmocka_unit_test(test_unzipped__bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
