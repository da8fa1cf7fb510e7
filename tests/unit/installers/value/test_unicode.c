#include "tests/lib/test.h"

#include "installers/value/unicode.h"

/* White_Space of the Unicode Character Database (PropList.txt), to the last code point. */
static const struct {
	uint32_t first, last;
} blanks[] = {
	{0x9, 0xD},       {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
	{0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000},
};

static void test_unicode__what_a_blank_is(void **state)
{
	(void)state;
	size_t k = 0;
	for (uint32_t r = 0; r <= 0x10FFFF; r++) {
		while (k < ARRAY_LEN(blanks) && r > blanks[k].last)
			k++;
		bool want = k < ARRAY_LEN(blanks) && r >= blanks[k].first;
		if (rune_is_space(r) != want)
			fail_msg("U+%04X: %d", r, !want);
	}
}

/* Of each sort some, with their neighbours; a rune is of one case at most, and alone in its sort. */
static void test_unicode__sorts_of_runes(void **state)
{
	(void)state;
	static const struct {
		uint32_t rune;
		const char *is; /* U upper, L lower, l letter, d digit, p to be printed */
	} rows[] = {
		{'@', "p"},    {'A', "Ulp"},   {'Z', "Ulp"},  {'[', "p"},    {'`', "p"},
		{'a', "Llp"},  {'z', "Llp"},   {'{', "p"},    {'/', "p"},    {'0', "dp"},
		{'9', "dp"},   {':', "p"},     {0x1F, ""},    {' ', "p"},    {'~', "p"},
		{0x7F, ""},    {0xA0, ""},     {0xAD, ""},    {0xC0, "Ulp"}, {0xD7, "p"},
		{0xDF, "Llp"}, {0xF7, "p"},    {0x1C5, "lp"}, {0x661, "dp"}, {0x4E00, "lp"},
		{0x2028, ""},  {0x1F600, "p"}, {0xD800, ""},  {0xFFFF, ""},  {0x10FFFF, ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char is[8];
		size_t n = 0;
		uint32_t r = rows[i].rune;
		if (rune_is_upper(r))
			is[n++] = 'U';
		if (rune_is_lower(r))
			is[n++] = 'L';
		if (rune_is_letter(r))
			is[n++] = 'l';
		if (rune_is_digit(r))
			is[n++] = 'd';
		if (rune_is_print(r))
			is[n++] = 'p';
		is[n] = '\0';
		if (!cstr_eq(is, rows[i].is))
			fail_msg("U+%04X: %s", r, is);
		assert_int_equal(rune_is_alnum(r), rune_is_letter(r) || rune_is_digit(r));
	}
	assert_true(rune_is_alnum('_'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unicode__what_a_blank_is),
		cmocka_unit_test(test_unicode__sorts_of_runes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
