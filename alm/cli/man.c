#include "alm/cli/man.h"

#include "alm/base/strbuf.h"
#include "alm/base/visible.h"
#include "alm/cli/term.h"

#define PAGE_BYTES ((size_t)1 << 20)

/* Nothing in it is a request or an escape of roff. */
static void add_line(struct strbuf *b, struct str line)
{
	if (line.len && (line.ptr[0] == '.' || line.ptr[0] == '\''))
		visible_addf(b, "\\&");
	for (size_t i = 0; i < line.len; i++) {
		if (line.ptr[i] == '\\')
			visible_addf(b, "\\e");
		else if (line.ptr[i] == '-')
			visible_addf(b, "\\-");
		else
			strbuf_addc(b, line.ptr[i]);
	}
	strbuf_addc(b, '\n');
}

static void add_text(struct strbuf *b, const char *text)
{
	struct str rest = str_of(text), line;
	while (str_next_line(&rest, &line))
		if (line.len)
			add_line(b, line);
}

static void add_head(struct strbuf *b, const char *path, const char *summary, const char *usage)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(PAGE_BYTES);
	for (const char *p = path; *p; p++)
		strbuf_addc(&name, *p == ' ' ? '-' : *p);
	visible_addf(b, ".TH \"%s\" 1 \"\" \"alm %s\" \"ALM\"\n.SH NAME\n", name.buf, ALM_VERSION);
	add_line(b, str_of(name.buf));
	strbuf_truncate(b, b->len - 1);
	visible_addf(b, " \\- ");
	add_text(b, summary);
	visible_addf(b, ".SH SYNOPSIS\n");
	add_text(b, usage);
}

static void add_examples(struct strbuf *b, const char *examples)
{
	visible_addf(b, ".SH EXAMPLES\n.nf\n");
	add_text(b, examples);
	visible_addf(b, ".fi\n");
}

static void add_options(struct strbuf *b, const char *title, const struct cmd_option *o,
			const struct cmd_heading *headings)
{
	if (!o || !o->name)
		return;
	visible_addf(b, ".SH %s\n", title);
	for (; o->name; o++) {
		const char *heading = cli_heading(headings, o->name);
		if (heading)
			visible_addf(b, ".SS %s\n", heading);
		visible_addf(b, ".TP\n\\fB");
		if (o->letter)
			visible_addf(b, "\\-%c, ", o->letter);
		visible_addf(b, "\\-\\-");
		add_line(b, str_of(o->name));
		strbuf_truncate(b, b->len - 1);
		visible_addf(b, "\\fR%s%s\n", o->value ? " " : "", o->value ? o->value : "");
		add_text(b, o->help);
	}
}

static void add_commands(struct strbuf *b, const struct cmd *const *table)
{
	visible_addf(b, ".SH COMMANDS\n");
	for (; table && *table; table++) {
		visible_addf(b, ".TP\n\\fB");
		add_line(b, str_of((*table)->name));
		strbuf_truncate(b, b->len - 1);
		visible_addf(b, "\\fR\n");
		add_text(b, (*table)->summary);
	}
}

void man_print(const char *path, const struct cmd *const *all, const struct cmd *cmd)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PAGE_BYTES);
	if (!cmd) {
		add_head(&b, path, "application lifecycle catalog manager for Kubernetes",
			 "alm COMMAND [OPTION...]");
		add_commands(&b, all);
	} else {
		add_head(&b, path, cmd->summary, cmd->usage);
		if (cmd->examples)
			add_examples(&b, cmd->examples);
		if (cmd->description) {
			visible_addf(&b, ".SH DESCRIPTION\n");
			add_text(&b, cmd->description);
		}
		if (cmd->subs)
			add_commands(&b, cmd->subs);
		add_options(&b, "OPTIONS", cmd->options, cmd->headings);
	}
	if (!cmd)
		add_options(&b, "GLOBAL OPTIONS", cli_global_options, NULL);
	visible_addf(&b, ".SH EXIT STATUS\n0 done, 1 failed or not found, 2 usage or syntax error, "
			 "3 refused, 4 audit log altered, 124 timed out.\n");
	term_lines(strbuf_str(&b));
}
