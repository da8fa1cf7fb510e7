#include "alm/cli/paint.h"

#include <string.h>

#define RESET  "\033[0m"
#define BOLD   "\033[1m"
#define RED    "\033[31m"
#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
#define BLUE   "\033[34m"
#define CYAN   "\033[36m"
#define GREY   "\033[90m"

/* OSC 8: what is between "LINK url LINK_END" and "LINK LINK_END" leads there. */
#define LINK     "\033]8;;"
#define LINK_END "\033\\"

static const struct {
	const char *colour, *const *words;
} states[] = {
	{GREEN, (const char *const[]){"Installed", "Succeeded", "Synced", "Approved", "True",
				      "chosen", NULL}},
	{YELLOW, (const char *const[]){"AwaitingApproval", "UpgradeAvailable", "Pending",
				       "Installing", "Verifying", "Upgrading", "Resolving",
				       "Paused", "OutsideWindow", "Soaking", NULL}},
	{RED, (const char *const[]){"Failed", "Degraded", "Blocked", "Unresolved", "UpgradeBlocked",
				    "RollingBack", "RolledBack", "False", "ResourceDropped",
				    "CRDIncompatible", "DeletionBlocked", "StateOverdue",
				    "NotInstallable", NULL}},
};
/* Of `alm diff` and of lints: only where a line begins. */
static const struct {
	const char *word, *colour;
} verbs[] = {{"create", GREEN}, {"update", YELLOW}, {"warning", YELLOW}, {"warn", YELLOW},
	     {"delete", RED},   {"error", RED},     {"refuse", RED}};

const char *paint_holder(const char *word)
{
	static const char *const rows[][2] = {{"git", GREEN},       {"alm", GREEN},
					      {"person", YELLOW},   {"autoscaler", CYAN},
					      {"controller", BLUE}, {"kubernetes", GREY},
					      {"declared", GREEN},  {"differs", RED},
					      {"unknown", YELLOW},  {"known", GREY}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (cstr_eq(word, rows[i][0]))
			return rows[i][1];
	return "";
}

static void put(struct strbuf *b, struct str s)
{
	strbuf_add(b, s.ptr, s.len);
}

static const char *colour_of(struct str word, bool first)
{
	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		for (const char *const *w = states[i].words; *w; w++)
			if (str_is(word, *w))
				return states[i].colour;
	for (size_t i = 0; first && i < ARRAY_LEN(verbs); i++)
		if (str_is(word, verbs[i].word))
			return verbs[i].colour;
	return NULL;
}

/* NAME  INSTALLED  READY: two words and more, no lower letter, no digit. */
static bool is_header(struct str line)
{
	size_t words = 0;
	bool in = false;
	for (size_t i = 0; i < line.len; i++) {
		char c = line.ptr[i];
		if (char_is_lower(c) || char_is_digit(c) || c == ':')
			return false;
		words += char_is_upper(c) && !in;
		in = c != ' ';
	}
	return words > 1 && line.len && char_is_upper(*line.ptr);
}

/* Of an address that begins a word: without what ends a sentence or a quotation. 0: there is none.
 * What a terminal would take for the end of the sequence is no part of one. */
static size_t link_len(struct str rest)
{
	static const char ends[] = ".,;:!?'\")]}>", never[] = " \"'<>\\^`{|}";
	size_t from = str_has_prefix(rest, STR("https://"))  ? 8
		      : str_has_prefix(rest, STR("http://")) ? 7
							     : 0;
	size_t n = from;
	while (n && n < rest.len && rest.ptr[n] > ' ' && rest.ptr[n] < 0x7f &&
	       !strchr(never, rest.ptr[n]))
		n++;
	while (n > from && strchr(ends, rest.ptr[n - 1]))
		n--;
	return n > from ? n : 0;
}

static bool begins_word(struct str line, size_t i)
{
	return !i || strchr(" \"'(<=", line.ptr[i - 1]);
}

static void put_link(struct strbuf *b, struct str url)
{
	put(b, STR(LINK));
	put(b, url);
	put(b, STR(LINK_END));
	put(b, url);
	put(b, STR(LINK LINK_END));
}

static void paint_line(struct strbuf *b, struct str line)
{
	bool first = true;
	for (size_t i = 0; i < line.len;) {
		size_t n = begins_word(line, i) ? link_len(str_n(line.ptr + i, line.len - i)) : 0;
		if (n) {
			put_link(b, str_n(line.ptr + i, n));
			first = false;
			i += n;
			continue;
		}
		while (i + n < line.len && char_is_alpha(line.ptr[i + n]))
			n++;
		struct str word = str_n(line.ptr + i, n ? n : 1);
		/* a part of a name is no state */
		bool whole = (!i || line.ptr[i - 1] == ' ') &&
			     (i + n == line.len || line.ptr[i + n] == ' ' ||
			      line.ptr[i + n] == ':' || line.ptr[i + n] == ',');
		const char *colour = n && whole ? colour_of(word, first) : NULL;
		if (colour)
			put(b, str_of(colour));
		put(b, word);
		if (colour)
			put(b, str_of(RESET));
		first = first && !n;
		i += word.len;
	}
}

void paint_lines(struct strbuf *b, struct str text)
{
	struct str line;
	while (text.len && str_next_line(&text, &line)) {
		if (is_header(line)) {
			put(b, str_of(BOLD));
			put(b, line);
			put(b, str_of(RESET));
		} else
			paint_line(b, line);
		strbuf_addc(b, '\n');
	}
}
