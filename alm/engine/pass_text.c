#include "alm/engine/pass_text.h"

#include "alm/engine/work.h"

static const char *const verbs[] = {
	[ACT_APPLY] = "apply",   [ACT_CREATE] = "create", [ACT_PATCH] = "patch",
	[ACT_DELETE] = "delete", [ACT_ROW] = "entry",     [ACT_STATUS] = "status",
	[ACT_FORGET] = "forget", [ACT_WATCH] = "watch",   [ACT_RECORD] = "record"};

static void add_word(struct strbuf *b, const char *word)
{
	if (word && *word)
		strbuf_addf(b, " %s", word);
}

static void add_action(const struct action *x, struct strbuf *b)
{
	strbuf_adds(b, x->type == ACT_WORK ? x->work->name : verbs[x->type]);
	switch (x->type) {
	case ACT_ROW:
		add_word(b, x->row_type);
		add_word(b, x->reason);
		return;
	case ACT_STATUS:
		add_word(b, x->reason);
		return;
	case ACT_APPLY:
	case ACT_CREATE:
	case ACT_PATCH:
	case ACT_DELETE:
	case ACT_WATCH:
		add_word(b, x->resource.kind ? x->resource.kind : x->resource.plural);
		add_word(b, x->ns);
		if (x->name && *x->name && !x->as) /* a chart's names may hold its values */
			strbuf_addf(b, "%s%s", x->ns && *x->ns ? "/" : " ", x->name);
		return;
	case ACT_FORGET:
	case ACT_WORK:
	case ACT_RECORD:
		add_word(b, x->id);
		return;
	}
}

static void add_step(const struct plan *p, const char *step, struct strbuf *b)
{
	size_t n = 0;
	for (const struct action *x = p->head; x; x = x->next) {
		if (x->step != step)
			continue;
		if (n == 0)
			strbuf_addf(b, "%s%s{", b->len ? " " : "", step);
		if (n < PASS_TEXT_ACTIONS_MAX) {
			strbuf_adds(b, n ? ", " : "");
			add_action(x, b);
		}
		n++;
	}
	if (n > PASS_TEXT_ACTIONS_MAX)
		strbuf_addf(b, ", %zu more", n - PASS_TEXT_ACTIONS_MAX);
	if (n)
		strbuf_addc(b, '}');
}

void pass_text(const struct controller *c, const struct plan *p, struct strbuf *b)
{
	for (const struct step *s = c->steps; s->fn; s++) {
		add_step(p, s->name, b);
		if (s->name != p->step)
			continue;
		if (s[1].fn)
			strbuf_addf(b, "%s%s ends", b->len ? " " : "", s->name);
		break;
	}
	if (!b->len)
		strbuf_adds(b, "nothing");
}
