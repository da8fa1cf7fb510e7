/*
 * regex_run: all ways through the program at once, character by character (Pike's machine). A way
 * is a thread; threads are kept in the order of preference, and one that comes to an instruction
 * where another already is goes: so there are never more than instructions.
 */
#include <string.h>

#include "alm/obj/regex/regex_node.h"

#define SLOTS_MAX ((size_t)8 << 20) /* places in the text that all threads remember */
#define KEPT_MAX  4096              /* instructions for which the memory of a run is kept */

/* A set of instructions in order of insertion, with what each thread has found so far. */
struct threads {
	uint32_t *dense; /* the instructions */
	size_t *slots;   /* n_slots for each; NULL if nobody asks */
	size_t n;
};

/* On the way through forks: an instruction, or a slot to be put back. */
struct step {
	uint32_t inst;
	bool restore;
	size_t value;
};

struct machine {
	const struct regex *re;
	struct str text;
	size_t n_slots; /* 0: only whether */
	struct threads now, next;
	uint32_t *sparse; /* of threads that are being added to: where in dense */
	struct step *stack;
	size_t *slots; /* of the thread at hand */
	size_t *found; /* of the best match so far */
	uint64_t *steps;
	bool matched, over;
	uint32_t before, here; /* characters around the position, NONE at an end */
};

#define NONE UINT32_MAX

struct memory {
	uint32_t *sparse, *dense[2];
	struct step *stack;
};

static struct memory memory_new(size_t n)
{
	return (struct memory){xcalloc(n, sizeof(uint32_t)),
			       {xcalloc(n, sizeof(uint32_t)), xcalloc(n, sizeof(uint32_t))},
			       xcalloc(2 * n + 2, sizeof(struct step))};
}

static void memory_free(struct memory *m)
{
	xfree(m->sparse);
	xfree(m->dense[0]);
	xfree(m->dense[1]);
	xfree(m->stack);
}

static bool spend(struct machine *m, uint64_t n)
{
	if (*m->steps < n) {
		*m->steps = 0;
		m->over = true;
		return false;
	}
	*m->steps -= n;
	return true;
}

static bool is_word(uint32_t c)
{
	return c < 0x80 && (char_is_alnum((char)c) || c == '_');
}

static bool holds(const struct machine *m, enum regex_assert kind)
{
	switch (kind) {
	case ASSERT_TEXT_START:
		return m->before == NONE;
	case ASSERT_TEXT_END:
		return m->here == NONE;
	case ASSERT_LINE_START:
		return m->before == NONE || m->before == '\n';
	case ASSERT_LINE_END:
		return m->here == NONE || m->here == '\n';
	case ASSERT_WORD:
		return is_word(m->before) != is_word(m->here);
	case ASSERT_NO_WORD:
		return is_word(m->before) == is_word(m->here);
	}
	return false;
}

static bool has(const struct machine *m, const struct threads *t, uint32_t inst)
{
	uint32_t at = m->sparse[inst];
	return at < t->n && t->dense[at] == inst;
}

/* All consuming instructions that inst leads to, in order of preference. */
static void follow(struct machine *m, struct threads *t, uint32_t inst, size_t pos)
{
	size_t depth = 0;
	m->stack[depth++] = (struct step){.inst = inst};
	while (depth > 0) {
		struct step s = m->stack[--depth];
		if (s.restore) {
			m->slots[s.inst] = s.value;
			continue;
		}
		if (has(m, t, s.inst))
			continue;
		if (!spend(m, 1 + m->n_slots / 8))
			return;
		const struct regex_inst *i = &m->re->insts[s.inst];
		m->sparse[s.inst] = (uint32_t)t->n;
		t->dense[t->n++] = s.inst;
		switch (i->op) {
		case INST_JUMP:
			m->stack[depth++] = (struct step){.inst = i->x};
			break;
		case INST_SPLIT:
			m->stack[depth++] = (struct step){.inst = i->y};
			m->stack[depth++] = (struct step){.inst = i->x};
			break;
		case INST_ASSERT:
			if (holds(m, (enum regex_assert)i->x))
				m->stack[depth++] = (struct step){.inst = s.inst + 1};
			break;
		case INST_SAVE:
			if (i->x < m->n_slots) {
				m->stack[depth++] = (struct step){i->x, true, m->slots[i->x]};
				m->slots[i->x] = pos;
			}
			m->stack[depth++] = (struct step){.inst = s.inst + 1};
			break;
		case INST_MATCH:
			m->matched = m->matched || !m->n_slots;
			if (m->n_slots)
				m->slots[1] = pos;
			/* fallthrough */
		case INST_RUNE:
		case INST_CLASS:
			if (m->n_slots)
				memcpy(t->slots + (t->n - 1) * m->n_slots, m->slots,
				       m->n_slots * sizeof(size_t));
			break;
		}
	}
}

static bool consumes(struct machine *m, const struct regex_inst *i)
{
	if (i->op == INST_RUNE)
		return m->here == i->x;
	if (i->op != INST_CLASS)
		return false;
	const struct regex_class *c = m->re->classes[i->x];
	return (m->here < 0x80 || spend(m, c->cost)) && regex_class_has(c, m->here);
}

/* One character for all threads; after is the one behind it, pos where that stands. */
static void advance(struct machine *m, uint32_t after, size_t pos)
{
	uint32_t before = m->before, here = m->here;
	m->next.n = 0;
	for (size_t k = 0; k < m->now.n && !m->over; k++) {
		const struct regex_inst *i = &m->re->insts[m->now.dense[k]];
		const size_t *slots = m->n_slots ? m->now.slots + k * m->n_slots : NULL;
		if (i->op == INST_MATCH && slots) {
			memcpy(m->found, slots, m->n_slots * sizeof(size_t));
			m->matched = true;
			break; /* what is less preferred goes */
		}
		if (here == NONE || !spend(m, 1) || !consumes(m, i))
			continue;
		if (slots)
			memcpy(m->slots, slots, m->n_slots * sizeof(size_t));
		m->before = here;
		m->here = after;
		follow(m, &m->next, m->now.dense[k] + 1, pos);
		m->before = before;
		m->here = here;
	}
	struct threads t = m->now;
	m->now = m->next;
	m->next = t;
}

/* To the next place where the first character of the program stands, if it begins with one. */
static size_t skip_ahead(const struct machine *m, size_t pos)
{
	const struct regex_inst *first = m->re->insts;
	if (first->op != INST_RUNE || first->x >= 0x80)
		return pos;
	ptrdiff_t at = str_find_char(str_skip(m->text, pos), (char)first->x);
	return at < 0 ? m->text.len : pos + (size_t)at;
}

/* Letters and line ends are all that is asked of it. */
static uint32_t rune_before(struct str text, size_t pos)
{
	if (pos == 0)
		return NONE;
	unsigned char c = (unsigned char)text.ptr[pos - 1];
	return c < 0x80 ? c : REGEX_RUNE_ERROR;
}

static size_t rune_at(const struct machine *m, size_t pos, uint32_t *ret)
{
	size_t width = regex_rune(m->text, pos, ret);
	if (!width)
		*ret = NONE;
	return width;
}

/* A thread starts here, unless an earlier one has matched. */
static void start(struct machine *m, size_t pos)
{
	for (size_t i = 0; i < m->n_slots; i++)
		m->slots[i] = i == 0 ? pos : REGEX_UNSET;
	if (!m->matched)
		follow(m, &m->now, 0, pos);
}

static void run(struct machine *m, size_t from)
{
	uint32_t here, after;
	size_t pos = from, width = rune_at(m, pos, &here);
	m->before = rune_before(m->text, pos);
	for (;;) {
		if (m->now.n == 0 && (m->matched || (m->re->anchored && pos > from)))
			return;
		size_t to = m->now.n == 0 ? skip_ahead(m, pos) : pos;
		if (to != pos) {
			pos = to;
			width = rune_at(m, pos, &here);
			m->before = rune_before(m->text, pos);
		}
		m->here = here;
		start(m, pos);
		if (m->over || (m->matched && !m->n_slots))
			return;
		size_t width_after = rune_at(m, pos + width, &after);
		advance(m, after, pos + width);
		if (m->over || !width || (m->matched && !m->n_slots))
			return;
		m->before = here;
		pos += width;
		here = after;
		width = width_after;
	}
}

enum regex_result regex_match(const struct regex *re, struct str text, size_t from, size_t *ret_at,
			      uint64_t *steps)
{
	static struct memory kept;
	size_t n = re->n;
	struct machine m = {.re = re, .text = text, .steps = steps, .found = ret_at};
	m.n_slots = ret_at ? 2 * (re->n_groups + 1) : 0;
	if (from > text.len)
		return REGEX_NO;
	if (m.n_slots * (n + 1) > SLOTS_MAX || (n > KEPT_MAX && !spend(&m, n)))
		return REGEX_LIMIT;
	if (!kept.stack)
		kept = memory_new(KEPT_MAX);
	struct memory own = n > KEPT_MAX ? memory_new(n) : kept;
	CLEANUP(xfreep) size_t *slots = xmalloc((2 * n + 1) * m.n_slots * sizeof(*slots));
	m.now = (struct threads){.dense = own.dense[0], .slots = slots};
	m.next = (struct threads){.dense = own.dense[1], .slots = slots + n * m.n_slots};
	m.slots = slots + 2 * n * m.n_slots;
	m.sparse = own.sparse;
	m.stack = own.stack;
	run(&m, from);
	if (n > KEPT_MAX)
		memory_free(&own);
	if (m.over)
		return REGEX_LIMIT;
	return m.matched ? REGEX_YES : REGEX_NO;
}
