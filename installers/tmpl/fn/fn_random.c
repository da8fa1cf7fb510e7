/* fn_random: what is drawn by lot, from the entropy of the request: the same entropy, the same text. */
#include <string.h>

#include "alm/base/hash.h"
#include "installers/tmpl/fn/fn.h"
#include "installers/value/unicode.h"

/* ---- random ---- */
/* A number below bound without bias, from the entropy of the request. */
static int random_below(struct tmpl_run *run, uint32_t bound, uint32_t *ret)
{
	uint32_t v, top = UINT32_MAX - UINT32_MAX % bound;
	do {
		int r = tmpl_entropy(run, &v, sizeof(v));
		if (r < 0)
			return r;
	} while (v >= top);
	*ret = v % bound;
	return 0;
}

static int random_text(struct tmpl_run *run, int64_t count, const char *set, struct value *ret)
{
	if (count < 0)
		count = 0;
	int r = tmpl_want_string(run, (size_t)count);
	if (r == 0)
		r = tmpl_want_steps(run, (size_t)count / 4);
	if (r < 0)
		return r;
	char *p = arena_alloc(tmpl_arena(run), (size_t)count + 1);
	for (int64_t i = 0; i < count; i++) {
		uint32_t k;
		r = random_below(run, (uint32_t)strlen(set), &k);
		if (r < 0)
			return r;
		p[i] = set[k];
	}
	*ret = value_str(str_n(p, (size_t)count));
	return 0;
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS  "0123456789"

FN(fn_rand_alpha_num)
{
	(void)n;
	return random_text(run, args[0].i, LETTERS DIGITS, ret);
}

FN(fn_rand_alpha)
{
	(void)n;
	return random_text(run, args[0].i, LETTERS, ret);
}

FN(fn_rand_numeric)
{
	(void)n;
	return random_text(run, args[0].i, DIGITS, ret);
}

FN(fn_rand_ascii)
{
	(void)n;
	return random_text(run, args[0].i,
			   " !\"#$%&'()*+,-./" DIGITS ":;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
			   "abcdefghijklmnopqrstuvwxyz{|}~",
			   ret);
}

FN(fn_shuffle)
{
	(void)n;
	struct str s = value_text(args[0]);
	struct str *runes = ARENA_ARRAY(tmpl_arena(run), struct str, s.len + 1);
	size_t count = 0;
	uint32_t r;
	for (size_t w; (w = rune_next(s, &r)) > 0; s = str_skip(s, w))
		runes[count++] = str_sub(s, 0, w);
	int bad = tmpl_want_steps(run, count);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	for (size_t i = count; bad == 0 && i > 0; i--) {
		uint32_t k = 0;
		bad = random_below(run, (uint32_t)i, &k);
		strbuf_addstr(&b, runes[k]);
		runes[k] = runes[i - 1];
	}
	return bad < 0 ? bad : tmpl_return(run, &b, ret);
}

/* ---- bytes ---- */
FN(fn_rand_bytes)
{
	(void)n;
	if (args[0].i < 0)
		return tmpl_fail(run, "runtime error: makeslice: len out of range");
	int r = tmpl_want_string(run, (size_t)args[0].i);
	if (r < 0)
		return r;
	char *bytes = arena_alloc(tmpl_arena(run), (size_t)args[0].i + 1);
	r = tmpl_entropy(run, bytes, (size_t)args[0].i);
	if (r < 0)
		return r;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	base64_encode(str_n(bytes, (size_t)args[0].i), &b);
	return tmpl_return(run, &b, ret);
}

FN(fn_uuidv4)
{
	(void)args;
	(void)n;
	unsigned char u[16];
	char hex[33];
	int r = tmpl_entropy(run, u, sizeof(u));
	if (r < 0)
		return r;
	u[6] = (unsigned char)((u[6] & 0x0F) | 0x40);
	u[8] = (unsigned char)((u[8] & 0x3F) | 0x80);
	hex_encode(u, sizeof(u), hex);
	*ret = value_cstr(arena_fmt(tmpl_arena(run), "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8,
				    hex + 12, hex + 16, hex + 20));
	return 0;
}

/* clang-format off */
const struct tmpl_func tmpl_fn_random[] = {
	{"randAlphaNum", "i:s", fn_rand_alpha_num, TMPL_FN_RANDOM},
	{"randAlpha", "i:s", fn_rand_alpha, TMPL_FN_RANDOM},
	{"randAscii", "i:s", fn_rand_ascii, TMPL_FN_RANDOM},
	{"randNumeric", "i:s", fn_rand_numeric, TMPL_FN_RANDOM},
	{"shuffle", "s:s", fn_shuffle, TMPL_FN_RANDOM},
	{"randBytes", "i:s", fn_rand_bytes, TMPL_FN_RANDOM},
	{"uuidv4", ":s", fn_uuidv4, TMPL_FN_RANDOM},
	{0},
};
/* clang-format on */
