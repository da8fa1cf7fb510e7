/* Rules about upgrade paths: dead-end, several-heads, shadowed. Edges lead up (package.c refuses
 * others), so one walk from the highest version down finds who reaches a head. */
#include <string.h>

#include "catalog/lint/lint_internal.h"

#define CHANNELS_MAX 64
#define STEPS_MAX    20000000 /* comparisons of one package */

struct paths {
	struct lint *l;
	struct package_version *const *all; /* highest first */
	size_t n, steps;
	struct range **ranges;     /* skipRange of each; NULL: none */
	bool *reaches, *left;      /* the head of the channel; left by any edge */
	bool *entered;             /* an edge leads to it */
	bool plain, plain_reaches; /* a version above takes every lower one; and reaches the head */
};

static bool declares_edges(const struct package_version *p)
{
	return p->replaces || p->n_skips || p->skip_range;
}

static void note(struct paths *s, size_t from, size_t to)
{
	s->left[from] = true;
	s->entered[to] = true;
	s->reaches[from] = s->reaches[from] || s->reaches[to];
}

static void note_text(struct paths *s, const char *text, size_t to)
{
	for (size_t i = to + 1; text && i < s->n; i++, s->steps++)
		if (str_is(s->all[i]->version.text, text))
			note(s, i, to);
}

/* The versions that may go to all[to]. */
static void note_sources(struct paths *s, size_t to)
{
	const struct package_version *p = s->all[to];
	if (!declares_edges(p)) {
		s->plain = true;
		s->plain_reaches = s->plain_reaches || s->reaches[to];
		s->entered[to] = s->entered[to] || to + 1 < s->n;
		return;
	}
	note_text(s, p->replaces, to);
	for (size_t i = 0; i < p->n_skips && s->steps < STEPS_MAX; i++)
		note_text(s, p->skips[i], to);
	for (size_t i = to + 1; s->ranges[to] && i < s->n; i++, s->steps++)
		if (range_matches(s->ranges[to], &s->all[i]->version))
			note(s, i, to);
}

static bool is_member(const struct package_version *p, const char *channel)
{
	return !channel || package_has_channel(p, channel);
}

static void tell(struct paths *s, size_t i, size_t head, const char *channel)
{
	struct lint *l = s->l;
	const struct package_version *p = s->all[i], *h = s->all[head];
	const char *in = channel ? arena_fmt(l->a, " of channel %s", channel) : "";
	if (s->left[i])
		lint_add(l, LINT_WARN, "dead-end", p,
			 arena_fmt(l->a, "no path leads from %s %.*s to %.*s, the head%s",
				   p->package, STR_ARG(p->version.text), STR_ARG(h->version.text),
				   in),
			 "name it in replaces, skips or skipRange of a version on the way");
	else
		lint_add(l, LINT_WARN, "several-heads", p,
			 arena_fmt(l->a, "%s %.*s%s has no way on, and the head is %.*s",
				   p->package, STR_ARG(p->version.text), in,
				   STR_ARG(h->version.text)),
			 "name it in replaces, skips or skipRange of a newer version");
}

/* Is the version told of already, for another channel? */
static bool is_told(const struct paths *s, size_t first, size_t i)
{
	for (size_t k = first; k < s->l->n; k++)
		if (s->l->items[k].version == s->all[i])
			return true;
	return false;
}

/* Whoever reaches the head; edges come from the whole package, not from the channel alone. */
static void walk(struct paths *s, size_t head)
{
	s->plain = s->plain_reaches = false;
	for (size_t i = 0; i < s->n; i++)
		s->reaches[i] = i == head;
	for (size_t i = 0; i < s->n && s->steps < STEPS_MAX; i++) {
		s->left[i] = s->left[i] || s->plain;
		s->reaches[i] = s->reaches[i] || s->plain_reaches;
		note_sources(s, i);
	}
}

static void check_channel(struct paths *s, const char *channel, size_t first)
{
	size_t head = 0;
	while (head < s->n && !is_member(s->all[head], channel))
		head++;
	walk(s, head);
	for (size_t i = head + 1; i < s->n && s->steps < STEPS_MAX; i++)
		if (is_member(s->all[i], channel) && !s->reaches[i] && !is_told(s, first, i))
			tell(s, i, head, channel);
}

static size_t channels_of(const struct paths *s, const char *ret[CHANNELS_MAX])
{
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->all[i]->n_channels; k++) {
			bool known = n == CHANNELS_MAX;
			for (size_t c = 0; c < n && !known; c++)
				known = !strcmp(ret[c], s->all[i]->channels[k]);
			if (!known)
				ret[n++] = s->all[i]->channels[k];
		}
	return n;
}

/* Neither the newest, with which a new app starts, nor to be reached from what is here. */
static void check_shadowed(struct paths *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct package_version *p = s->all[i];
		if (s->entered[i] || !declares_edges(p) || (i == 0 && !p->replaces))
			continue;
		lint_add_field(
			s->l, LINT_WARN, "shadowed", p, p->replaces ? "replaces" : "skipRange",
			p->replaces ? arena_fmt(s->l->a,
						"%s %.*s replaces %s, which the catalog does not "
						"have",
						p->package, STR_ARG(p->version.text), p->replaces)
				    : arena_fmt(s->l->a,
						"no version here leads to %s %.*s, and a newer "
						"one is installed first",
						p->package, STR_ARG(p->version.text)),
			"correct the edge, or add the version that it names");
	}
}

static void read_ranges(struct paths *s)
{
	struct error ignored;
	for (size_t i = 0; i < s->n; i++) {
		if (!s->all[i]->skip_range)
			continue;
		s->ranges[i] = ARENA_NEW(s->l->a, struct range);
		if (range_parse(str_of(s->all[i]->skip_range), s->l->a, s->ranges[i], &ignored) < 0)
			s->ranges[i] = NULL;
	}
}

/* Without any declared edge all lower versions reach all higher ones. */
static bool is_plain(struct package_version *const *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (declares_edges(all[i]))
			return false;
	return true;
}

void lint_edges(struct lint *l, struct package_version *const *all, size_t n)
{
	const char *channels[CHANNELS_MAX];
	if (is_plain(all, n))
		return;
	struct paths s = {.l = l,
			  .all = all,
			  .n = n,
			  .ranges = ARENA_ARRAY(l->a, struct range *, n),
			  .reaches = ARENA_ARRAY(l->a, bool, n),
			  .left = ARENA_ARRAY(l->a, bool, n),
			  .entered = ARENA_ARRAY(l->a, bool, n)};
	size_t first = l->n, n_channels = channels_of(&s, channels);
	read_ranges(&s);
	for (size_t i = 0; i < n_channels; i++)
		check_channel(&s, channels[i], first);
	if (!n_channels)
		check_channel(&s, NULL, first);
	if (s.steps >= STEPS_MAX)
		lint_add(l, LINT_WARN, "dead-end", all[0],
			 arena_fmt(l->a, "%s has too many upgrade edges to check", all[0]->package),
			 "use skipRange instead of long lists");
	else
		check_shadowed(&s);
}
