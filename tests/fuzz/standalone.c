/*
 * standalone: replays inputs without libFuzzer, and mutates them blindly.
 *
 *	fuzz_X FILE...                  run every file
 *	fuzz_X -recorded=KEY ...        the digest of what became of them is compared (recorded.txt)
 *	fuzz_X -tell ...                what is noted of each input
 *	fuzz_X -libraries               those that a digest is recorded with
 *	fuzz_X -runs=N -seed=S FILE...  then N mutations of them; the seed of a crash is printed
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/base/mem.h"
#include "tests/fuzz/fuzz.h"

#define INPUT_BYTES_MAX ((size_t)1 << 20)
#define RECORDED        "tests/fuzz/recorded.txt"

struct input {
	char *data;
	size_t len;
};

struct corpus {
	struct input *items;
	size_t n, cap;
};

static uint64_t state;

/* xorshift: reproducible from the seed */
static size_t below(size_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return n ? (size_t)(state % n) : 0;
}

static void load(struct corpus *c, const char *path)
{
	struct error err = ERROR_INIT;
	struct strbuf b = STRBUF_INIT(INPUT_BYTES_MAX);
	if (file_read(path, &b, &err) < 0) {
		printf("%s\n", err.msg);
		exit(2);
	}
	ARRAY_GROW(c->items, c->cap, c->n + 1);
	size_t len = b.len;
	c->items[c->n++] = (struct input){strbuf_detach(&b), len};
}

/* Parts of two inputs, with bytes changed. */
static void mutate(const struct corpus *c, struct strbuf *b)
{
	const struct input *x = &c->items[below(c->n)], *y = &c->items[below(c->n)];
	size_t cut = below(x->len + 1), from = below(y->len + 1);
	strbuf_add(b, x->data, cut);
	if (below(2))
		strbuf_add(b, y->data + from, below(y->len - from + 1));
	if (below(3))
		strbuf_add(b, x->data + cut, x->len - cut);
	for (size_t i = below(6); b->len && i > 0; i--) {
		size_t at = below(b->len), n = below(b->len - at + 1);
		switch (below(5)) {
		case 0:
			b->buf[at] = (char)below(256);
			break;
		case 1:
			b->buf[at] ^= (char)(1 << below(8));
			break;
		case 2:
			strbuf_remove(b, at, n < 16 ? n : 16);
			break;
		case 3:
			strbuf_insert(b, at, str_n(y->data + from, below(y->len - from + 1)));
			break;
		default:
			b->buf[at] = "\"{}()|.$-,:=0 \n"[below(15)];
			break;
		}
	}
}

static int print_libraries(void)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	digests_libraries(&b);
	puts(b.buf);
	return 0;
}

/* 0, or 1 with a line of what was recorded. */
static int compare(const char *key)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(STRBUF_SMALL);
	char number[DIGEST_HEX];
	digest_notes_end(number);
	if (!key) {
		printf("digest %s\n", number);
		return 0;
	}
	enum digest_verdict v = digests_compare(RECORDED, key, number, &why);
	if (v != DIGEST_EQUAL)
		printf("%s\n", why.buf);
	return v == DIGEST_DIFFERS || v == DIGEST_UNKNOWN;
}

int main(int argc, char **argv)
{
	const char *key = NULL;
	bool tells = false;
	struct corpus c = {0};
	int64_t runs = 0, seed = 1;
	for (int i = 1; i < argc; i++) {
		if (cstr_has_prefix(argv[i], "-runs="))
			str_parse_i64(str_of(argv[i] + 6), &runs);
		else if (cstr_has_prefix(argv[i], "-seed="))
			str_parse_i64(str_of(argv[i] + 6), &seed);
		else if (cstr_has_prefix(argv[i], "-recorded="))
			key = argv[i] + sizeof("-recorded=") - 1;
		else if (cstr_eq(argv[i], "-tell"))
			tells = true;
		else if (cstr_eq(argv[i], "-libraries"))
			return print_libraries();
		else
			load(&c, argv[i]);
	}
	digest_notes_begin(tells);
	for (size_t i = 0; i < c.n; i++)
		LLVMFuzzerTestOneInput((const uint8_t *)c.items[i].data, c.items[i].len);
	for (int64_t i = 0; c.n && i < runs; i++) {
		state = (uint64_t)(seed + i) * UINT64_C(0x9E3779B97F4A7C15) | 1;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(INPUT_BYTES_MAX);
		mutate(&c, &b);
		if (i % 1000 == 0)
			printf("seed %" PRId64 "\n", seed + i);
		(void)fflush(stdout);
		LLVMFuzzerTestOneInput((const uint8_t *)b.buf, b.len);
	}
	printf("%zu inputs, %" PRId64 " mutations\n", c.n, runs);
	for (size_t i = 0; i < c.n; i++)
		xfree(c.items[i].data);
	xfree(c.items);
	return compare(key);
}
