#include "alm/obj/query/jsonql_lex.h"

#include <string.h>

#include "alm/obj/query/jsonql_node.h"

void jsonql_skip_space(struct jsonql_text *t)
{
	while (t->at < t->text.len && char_is_space(t->text.ptr[t->at]))
		t->at++;
}

char jsonql_peek(const struct jsonql_text *t, size_t ahead)
{
	return t->at + ahead < t->text.len ? t->text.ptr[t->at + ahead] : '\0';
}

bool jsonql_is_name_char(char c)
{
	return c && !char_is_space(c) && !strchr("'\".()[],+-*/%^=!<>~&|", c);
}

struct str jsonql_word(const struct jsonql_text *t)
{
	size_t end = t->at;
	while (end < t->text.len && jsonql_is_name_char(t->text.ptr[end]))
		end++;
	return str_sub(t->text, t->at, end - t->at);
}

bool jsonql_take_word(struct jsonql_text *t, const char *word)
{
	struct str w = jsonql_word(t);
	size_t n = strlen(word);
	bool lower = true, upper = true;
	if (w.len != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		lower = lower && w.ptr[i] == word[i];
		upper = upper && w.ptr[i] == char_upper(word[i]);
	}
	if (!lower && !upper)
		return false;
	t->at += n;
	return true;
}

bool jsonql_take(struct jsonql_text *t, const char *symbol)
{
	size_t n = strlen(symbol);
	if (!str_has_prefix(str_skip(t->text, t->at), str_n(symbol, n)))
		return false;
	t->at += n;
	return true;
}

bool jsonql_read_string(struct jsonql_text *t, struct str *ret)
{
	char quote = jsonql_peek(t, 0);
	struct str rest = str_skip(t->text, t->at + 1);
	ptrdiff_t end = str_find_char(rest, quote);
	if (end < 0)
		return false;
	*ret = str_sub(rest, 0, (size_t)end);
	t->at += (size_t)end + 2;
	return true;
}

static const struct {
	const char *unit;
	double seconds;
} units[] = {{"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};

size_t jsonql_digits(const struct jsonql_text *t, size_t at)
{
	size_t n = 0;
	while (at + n < t->text.len && char_is_digit(t->text.ptr[at + n]))
		n++;
	return n;
}

/* The length of a number at the cursor without unit, 0 if there is none. */
static size_t number_len(const struct jsonql_text *t, bool *ret_is_int)
{
	size_t n = jsonql_digits(t, t->at);
	*ret_is_int = true;
	if (!n)
		return 0;
	size_t more = jsonql_peek(t, n) == '.' ? jsonql_digits(t, t->at + n + 1) : 0;
	if (more) {
		n += 1 + more;
		*ret_is_int = false;
	}
	char e = jsonql_peek(t, n);
	if (e == 'e' || e == 'E') {
		size_t sign = jsonql_peek(t, n + 1) == '-' || jsonql_peek(t, n + 1) == '+';
		more = jsonql_digits(t, t->at + n + 1 + sign);
		if (more) {
			n += 1 + sign + more;
			*ret_is_int = false;
		}
	}
	return n;
}

bool jsonql_read_number(struct jsonql_text *t, struct val *ret)
{
	bool is_int;
	size_t n = number_len(t, &is_int);
	if (!n)
		return false;
	struct str text = str_sub(t->text, t->at, n);
	struct jsonql_text after = *t;
	after.at += n;
	struct str unit = jsonql_word(&after);
	double scale = 0;
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (str_is(unit, units[i].unit))
			scale = units[i].seconds;
	if (unit.len && scale <= 0)
		return false;
	*ret = (struct val){.type = VAL_DOUBLE};
	if (is_int && !unit.len && str_parse_i64(text, &ret->i))
		ret->type = VAL_INT;
	else if (is_int && !unit.len && str_parse_u64(text, &ret->u))
		ret->type = VAL_UINT;
	else if (!str_parse_double(text, &ret->d))
		return false;
	if (unit.len)
		ret->d *= scale;
	t->at += n + unit.len;
	return true;
}

/* clang-format off */
static const struct {
	const char *text;
	bool is_word;
	int op;
} cmp_ops[] = { /* longest first */
	{"!~=", false, CMP_NOMATCH},
	{"==", false, CMP_EQ},
	{"!=", false, CMP_NE},
	{"<>", false, CMP_NE},
	{">=", false, CMP_GE},
	{"<=", false, CMP_LE},
	{"~=", false, CMP_MATCH},
	{"=", false, CMP_EQ},
	{">", false, CMP_GT},
	{"<", false, CMP_LT},
	{"is", true, CMP_IS},
	{"isnot", true, CMP_ISNOT},
	{"contains", true, CMP_CONTAINS},
	{"startswith", true, CMP_STARTS},
	{"endswith", true, CMP_ENDS},
};
/* clang-format on */

int jsonql_take_cmp(struct jsonql_text *t)
{
	for (size_t i = 0; i < ARRAY_LEN(cmp_ops); i++)
		if (cmp_ops[i].is_word ? jsonql_take_word(t, cmp_ops[i].text)
				       : jsonql_take(t, cmp_ops[i].text))
			return cmp_ops[i].op;
	return 0;
}
