/*
 * regex_class: sets of characters. Ranges are kept here; what needs the tables of Unicode (\p{...},
 * and case folding beyond ASCII) is a class of PCRE2, which is asked about one character.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "alm/obj/regex/regex_node.h"

#define OPTIONS (PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_NEVER_BACKSLASH_C)

#define PROPERTY_NAME_MAX 64
#define PROPERTIES_MAX    1024 /* names that are remembered */
#define TEXT_BYTES_MAX    (32 * REGEX_BYTES_MAX)

#define LONG_S          0x17Fu  /* folds to s */
#define KELVIN          0x212Au /* folds to k */
#define SURROGATE_FIRST 0xD800u
#define SURROGATE_LAST  0xDFFFu

static pcre2_match_data *match_data(void)
{
	static pcre2_match_data *data; /* for the one thread: a class has no groups */
	if (!data)
		data = pcre2_match_data_create(1, NULL);
	return data;
}

static pcre2_code *compile(struct str text)
{
	int error;
	PCRE2_SIZE at;
	return pcre2_compile((PCRE2_SPTR)text.ptr, text.len, OPTIONS, &error, &at, NULL);
}

/* Ranges. */

static void add_range(struct regex_ranges *r, uint32_t lo, uint32_t hi)
{
	ARRAY_GROW(r->items, r->cap, r->n + 1);
	r->items[r->n++] = (struct regex_range){lo, hi};
}

static int by_start(const void *a, const void *b)
{
	const struct regex_range *x = a, *y = b;
	return x->lo != y->lo ? (x->lo < y->lo ? -1 : 1) : (x->hi > y->hi) - (x->hi < y->hi);
}

/* Sorted and disjoint. */
static void normalize(struct regex_ranges *r)
{
	size_t kept = 0;
	if (r->n > 1)
		qsort(r->items, r->n, sizeof(*r->items), by_start);
	for (size_t i = 0; i < r->n; i++) {
		struct regex_range *last = kept ? &r->items[kept - 1] : NULL;
		if (!last || r->items[i].lo > last->hi + 1)
			r->items[kept++] = r->items[i];
		else if (r->items[i].hi > last->hi)
			last->hi = r->items[i].hi;
	}
	r->n = kept;
}

/* Of normalized ones. */
static void negate(struct regex_ranges *r)
{
	struct regex_ranges out = {0};
	uint32_t from = 0;
	for (size_t i = 0; i < r->n; i++) {
		if (r->items[i].lo > from)
			add_range(&out, from, r->items[i].lo - 1);
		from = r->items[i].hi + 1;
	}
	if (from <= REGEX_RUNE_MAX)
		add_range(&out, from, REGEX_RUNE_MAX);
	xfree(r->items);
	*r = out;
}

/* Both cases of the letters of ASCII, and the two other characters that fold to one. */
static void fold_ascii(struct regex_ranges *r)
{
	size_t n = r->n;
	for (size_t i = 0; i < n; i++) {
		for (uint32_t c = r->items[i].lo; c <= r->items[i].hi && c < 0x80; c++) {
			if (!char_is_alpha((char)c))
				continue;
			add_range(r, c ^ 0x20, c ^ 0x20);
			if ((c | 0x20) == 's')
				add_range(r, LONG_S, LONG_S);
			if ((c | 0x20) == 'k')
				add_range(r, KELVIN, KELVIN);
		}
	}
}

static void add_ranges(struct regex_ranges *r, const struct regex_ranges *from)
{
	for (size_t i = 0; i < from->n; i++)
		add_range(r, from->items[i].lo, from->items[i].hi);
}

/* Some character beyond ASCII that is in texts: surrogates are not. */
static bool has_others(const struct regex_ranges *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->items[i].hi >= 0x80 &&
		    (r->items[i].lo < SURROGATE_FIRST || r->items[i].hi > SURROGATE_LAST))
			return true;
	return false;
}

static bool in_ranges(const struct regex_class *c, uint32_t rune)
{
	size_t low = 0, high = c->n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (c->ranges[mid].hi < rune)
			low = mid + 1;
		else
			high = mid;
	}
	return low < c->n && c->ranges[low].lo <= rune;
}

/* Sets. */

void regex_set_init(struct regex_set *s, bool fold)
{
	*s = (struct regex_set){.fold = fold};
	strbuf_init(&s->properties, TEXT_BYTES_MAX);
}

void regex_set_release(struct regex_set *s)
{
	xfree(s->ranges.items);
	xfree(s->named.items);
	strbuf_release(&s->properties);
}

void regex_set_add(struct regex_set *s, uint32_t lo, uint32_t hi)
{
	add_range(&s->ranges, lo, hi);
}

void regex_set_add_named(struct regex_set *s, const char *pairs, bool with_nul, bool negated)
{
	struct regex_ranges r = {0};
	for (const char *p = pairs; *p; p += 2)
		add_range(&r, with_nul && p == pairs ? 0 : (unsigned char)p[0],
			  (unsigned char)p[1]);
	if (s->fold)
		fold_ascii(&r);
	normalize(&r);
	if (negated)
		negate(&r);
	add_ranges(&s->named, &r);
	xfree(r.items);
}

/* unicode.CategoryAliases of Go 1.25, as canonical_name() writes them. */
/* clang-format off */
static const struct {
	const char *name, *category;
} aliases[] = {
	{"Casedletter", "L&"}, {"Closepunctuation", "Pe"}, {"Combiningmark", "M"},
	{"Connectorpunctuation", "Pc"}, {"Control", "Cc"}, {"Currencysymbol", "Sc"},
	{"Dashpunctuation", "Pd"}, {"Decimalnumber", "Nd"}, {"Enclosingmark", "Me"},
	{"Finalpunctuation", "Pf"}, {"Format", "Cf"}, {"Initialpunctuation", "Pi"},
	{"Letter", "L"}, {"Letternumber", "Nl"}, {"Lineseparator", "Zl"},
	{"Lowercaseletter", "Ll"}, {"Mark", "M"}, {"Mathsymbol", "Sm"},
	{"Modifierletter", "Lm"}, {"Modifiersymbol", "Sk"}, {"Nonspacingmark", "Mn"},
	{"Number", "N"}, {"Openpunctuation", "Ps"}, {"Other", "C"},
	{"Otherletter", "Lo"}, {"Othernumber", "No"}, {"Otherpunctuation", "Po"},
	{"Othersymbol", "So"}, {"Paragraphseparator", "Zp"}, {"Privateuse", "Co"},
	{"Punctuation", "P"}, {"Separator", "Z"}, {"Spaceseparator", "Zs"},
	{"Spacingmark", "Mc"}, {"Surrogate", "Cs"}, {"Symbol", "S"},
	{"Titlecaseletter", "Lt"}, {"Unassigned", "Cn"}, {"Uppercaseletter", "Lu"},
	{"Cntrl", "Cc"}, {"Digit", "Nd"}, {"Punct", "P"},
	{"Lc", "L&"},
};

/* unicode.Scripts as Go 1.25 finds them: those of one word. It compares what canonical_name() gives
 * and so misses Old_Italic; PCRE2 would take that and "Grek", too. */
static const char *const scripts[] = {
	"Adlam", "Ahom", "Arabic", "Armenian", "Avestan", "Balinese", "Bamum", "Batak",
	"Bengali", "Bhaiksuki", "Bopomofo", "Brahmi", "Braille", "Buginese", "Buhid", "Carian",
	"Chakma", "Cham", "Cherokee", "Chorasmian", "Common", "Coptic", "Cuneiform", "Cypriot",
	"Cyrillic", "Deseret", "Devanagari", "Dogra", "Duployan", "Elbasan", "Elymaic",
	"Ethiopic", "Georgian", "Glagolitic", "Gothic", "Grantha", "Greek", "Gujarati",
	"Gurmukhi", "Han", "Hangul", "Hanunoo", "Hatran", "Hebrew", "Hiragana", "Inherited",
	"Javanese", "Kaithi", "Kannada", "Katakana", "Kawi", "Kharoshthi", "Khmer", "Khojki",
	"Khudawadi", "Lao", "Latin", "Lepcha", "Limbu", "Lisu", "Lycian", "Lydian", "Mahajani",
	"Makasar", "Malayalam", "Mandaic", "Manichaean", "Marchen", "Medefaidrin", "Miao",
	"Modi", "Mongolian", "Mro", "Multani", "Myanmar", "Nabataean", "Nandinagari", "Newa",
	"Nko", "Nushu", "Ogham", "Oriya", "Osage", "Osmanya", "Palmyrene", "Phoenician",
	"Rejang", "Runic", "Samaritan", "Saurashtra", "Sharada", "Shavian", "Siddham",
	"Sinhala", "Sogdian", "Soyombo", "Sundanese", "Syriac", "Tagalog", "Tagbanwa", "Takri",
	"Tamil", "Tangsa", "Tangut", "Telugu", "Thaana", "Thai", "Tibetan", "Tifinagh",
	"Tirhuta", "Toto", "Ugaritic", "Vai", "Vithkuqi", "Wancho", "Yezidi", "Yi",
};
/* clang-format on */

/* As regexp/syntax of Go 1.25 compares names: a capital, then small letters, without "_", "-" and
 * blanks. */
static struct str canonical_name(struct str name, char out[PROPERTY_NAME_MAX])
{
	size_t n = 0;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		if (c == '_' || c == '-' || c == ' ')
			continue;
		out[n] = n ? char_lower(c) : char_upper(c);
		n++;
	}
	for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
		if (str_is(str_n(out, n), aliases[i].name))
			return str_of(aliases[i].category);
	return str_n(out, n);
}

/* One or two letters; "Any". Everything else is a script, which PCRE2 must be told: it would
 * take the name for more than the script. */
static bool is_category(struct str name)
{
	return str_is(name, "Any") ||
	       (name.len <= 2 && memchr("CLMNPSZ", name.ptr[0], 7) &&
		(name.len == 1 || char_is_lower(name.ptr[1]) || name.ptr[1] == '&'));
}

static bool is_script(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
		if (str_is(name, scripts[i]))
			return true;
	return false;
}

/* A script of Unicode 15, as Go 1.25 has it; PCRE2 before 10.43 has Unicode 14. */
static void add_kawi(struct regex_set *s, bool negated)
{
	struct regex_ranges r = {0};
	add_range(&r, 0x11F00, 0x11F10);
	add_range(&r, 0x11F12, 0x11F3A);
	add_range(&r, 0x11F3E, 0x11F59);
	if (negated)
		negate(&r);
	add_ranges(&s->named, &r);
	xfree(r.items);
}

/* Does PCRE2 know it? Asked once for each name. */
static bool is_known(const char *property)
{
	static struct map *known;
	if (!known)
		known = map_new(NULL);
	if (map_count(known) > PROPERTIES_MAX)
		map_clear(known);
	if (!map_has(known, property)) {
		pcre2_code *code = compile(str_of(property));
		pcre2_code_free(code);
		map_set_number(known, property, code ? 2 : 1);
	}
	return map_number(known, property) == 2;
}

bool regex_set_add_property(struct regex_set *s, struct str name, bool negated)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(2 * PROPERTY_NAME_MAX);
	char canonical[PROPERTY_NAME_MAX];
	if (name.len > PROPERTY_NAME_MAX)
		return false;
	name = canonical_name(name, canonical);
	if (!name.len)
		return false;
	if (str_is(name, "Ascii")) {
		regex_set_add_named(s, "\x01\x7f", true, negated);
		return true;
	}
	if (str_is(name, "Kawi")) {
		add_kawi(s, negated);
		return true;
	}
	if (str_is(name, "Assigned")) {
		name = STR("Cn");
		negated = !negated;
	}
	if (s->fold && name.len == 2 && name.ptr[0] == 'L' && memchr("ul", name.ptr[1], 2))
		name = STR("L&"); /* letters of the other case, too */
	if (!is_category(name) && !is_script(name))
		return false;
	strbuf_addf(&b, "\\%c{%s%.*s}", negated ? 'P' : 'p',
		    is_category(name) ? "" : "sc:", STR_ARG(name));
	if (!is_known(b.buf))
		return false;
	strbuf_addstr(&s->properties, strbuf_str(&b));
	return true;
}

/* As ranges of a class of PCRE2, which refuses surrogates. */
static void print_range(struct strbuf *b, uint32_t lo, uint32_t hi)
{
	if (lo < SURROGATE_FIRST && hi >= SURROGATE_FIRST) {
		strbuf_addf(b, "\\x{%x}-\\x{%x}", lo, SURROGATE_FIRST - 1);
		lo = SURROGATE_FIRST;
	}
	if (lo >= SURROGATE_FIRST && lo <= SURROGATE_LAST)
		lo = SURROGATE_LAST + 1;
	if (lo <= hi)
		strbuf_addf(b, "\\x{%x}-\\x{%x}", lo, hi);
}

static void print_ranges(struct strbuf *b, const struct regex_ranges *r)
{
	for (size_t i = 0; i < r->n; i++)
		print_range(b, r->items[i].lo, r->items[i].hi);
}

void regex_set_key(const struct regex_set *s, struct strbuf *b)
{
	strbuf_addf(b, "%c%c", s->negated ? '^' : ' ', s->fold ? 'i' : ' ');
	strbuf_addstr(b, strbuf_str(&s->properties));
	for (size_t i = 0; i < s->ranges.n; i++)
		strbuf_addf(b, "%x-%x,", s->ranges.items[i].lo, s->ranges.items[i].hi);
	strbuf_addc(b, '|');
	for (size_t i = 0; i < s->named.n; i++)
		strbuf_addf(b, "%x-%x,", s->named.items[i].lo, s->named.items[i].hi);
}

/* Classes. */

/* [\p{L}a-z] folded, or what is folded already. False if it is too large for PCRE2. */
static bool compile_set(struct regex_class *c, const struct regex_set *s)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf named = STRBUF_INIT(TEXT_BYTES_MAX);
	strbuf_adds(&b, s->fold ? "(?i:[" : "(?:[");
	strbuf_addstr(&b, strbuf_str(&s->properties));
	print_ranges(&b, &s->ranges);
	strbuf_adds(&b, "])");
	print_ranges(&named, &s->named);
	if (named.len)
		strbuf_addf(&b, "|[%s]", named.buf);
	c->code = compile(strbuf_str(&b));
	c->negated = s->negated;
	c->cost = 16 + (uint32_t)(b.len / 16);
	return c->code && !b.over;
}

static void collect_ranges(struct regex_class *c, const struct regex_set *s)
{
	struct regex_ranges r = {0};
	add_ranges(&r, &s->ranges);
	if (s->fold)
		fold_ascii(&r);
	add_ranges(&r, &s->named);
	normalize(&r);
	if (s->negated)
		negate(&r);
	c->ranges = r.items;
	c->n = r.n;
	c->cost = 1;
}

static bool asked(const struct regex_class *c, uint32_t rune)
{
	char text[4];
	size_t n = utf8_encode(rune, text);
	if (!c->code)
		return in_ranges(c, rune);
	int rc = pcre2_match(c->code, (PCRE2_SPTR)text, n, 0, PCRE2_ANCHORED | PCRE2_NO_UTF_CHECK,
			     match_data(), NULL);
	return (rc >= 0) != c->negated;
}

struct regex_class *regex_class_new(const struct regex_set *s)
{
	struct regex_class *c = xcalloc(1, sizeof(*c));
	bool asks = s->properties.len > 0 || (s->fold && has_others(&s->ranges));
	if (asks && !compile_set(c, s)) {
		regex_class_free(c);
		return NULL;
	}
	if (!asks)
		collect_ranges(c, s);
	for (uint32_t r = 0; r < 0x80; r++)
		if (asked(c, r))
			c->ascii[r / 64] |= UINT64_C(1) << r % 64;
	return c;
}

void regex_class_free(struct regex_class *c)
{
	if (!c)
		return;
	pcre2_code_free(c->code);
	xfree(c->ranges);
	xfree(c);
}

bool regex_class_has(const struct regex_class *c, uint32_t rune)
{
	if (rune < 0x80)
		return c->ascii[rune / 64] >> rune % 64 & 1;
	return asked(c, rune);
}
