#include "alm/cli/paint.h"

#define RESET  "\033[0m"
#define BOLD   "\033[1m"
#define RED    "\033[31m"
#define GREEN  "\033[32m"
#define YELLOW "\033[33m"

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

static void paint_line(struct strbuf *b, struct str line)
{
	bool first = true;
	for (size_t i = 0; i < line.len;) {
		size_t n = 0;
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
