#include "alm/io/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/map.h"
#include "alm/base/multimap.h"
#include "alm/base/pool.h"

struct metric {
	int64_t value;
	bool seconds; /* value is in nanoseconds */
	bool since;   /* a time: printed as what has passed */
	struct family *family;
	const char *labels; /* of the family's map */
};

struct family {
	char *help;
	const char *type;
	const char *name;   /* of the map of families */
	struct map *series; /* labels -> struct metric */
};

struct metrics {
	struct map *families;
	struct multimap *by_label; /* the first label -> the series that have it */
	size_t n_series;
	struct metric overflow;
	int64_t (*now)(void *arg);
	void *now_arg;
};

static void metric_free(void *s)
{
	pool_free(s, sizeof(struct metric));
}

static void family_free(void *p)
{
	struct family *f = p;
	xfree(f->help);
	map_free(f->series);
	xfree(f);
}

struct metrics *metrics_new(void)
{
	struct metrics *m = xcalloc(1, sizeof(*m));
	m->families = map_new(family_free);
	m->by_label = multimap_new();
	return m;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	multimap_free(m->by_label);
	map_free(m->families);
	xfree(m);
}

/* key="value" at the beginning of the text, or all of it; owned. */
static char *first_label(const char *labels)
{
	const char *p = strchr(labels, '"');
	for (p = p ? p + 1 : NULL; p && *p && *p != '"'; p++)
		p += *p == '\\' && p[1];
	return xstrndup(labels, p && *p ? (size_t)(p - labels) + 1 : strlen(labels));
}

static void series_del(struct metrics *m, const struct metric *s)
{
	struct family *f = s->family;
	CLEANUP(xfreep) char *first = first_label(s->labels);
	multimap_remove(m->by_label, first, s);
	map_del(f->series, s->labels);
	m->n_series--;
	if (!map_count(f->series))
		map_del(m->families, f->name);
}

static struct metric *series(struct metrics *m, const char *type, const char *name,
			     const char *help, const char *labels)
{
	struct family *f = map_get(m->families, name);
	struct metric *s = f ? map_get(f->series, labels ? labels : "") : NULL;
	if (s)
		return s;
	if (m->n_series == METRICS_SERIES_MAX)
		return &m->overflow;
	if (!f) {
		f = xcalloc(1, sizeof(*f));
		f->help = xstrdup(help);
		f->type = type;
		f->series = map_new(metric_free);
		f->name = map_set(m->families, name, f);
	}
	s = pool_keep(sizeof(*s));
	*s = (struct metric){.family = f};
	s->labels = map_set(f->series, labels ? labels : "", s);
	CLEANUP(xfreep) char *first = first_label(s->labels);
	multimap_add(m->by_label, first, s);
	m->n_series++;
	return s;
}

struct metric *metrics_counter(struct metrics *m, const char *name, const char *help,
			       const char *labels)
{
	return series(m, "counter", name, help, labels);
}

struct metric *metrics_gauge(struct metrics *m, const char *name, const char *help,
			     const char *labels)
{
	return series(m, "gauge", name, help, labels);
}

struct metric *metrics_seconds(struct metrics *m, const char *name, const char *help)
{
	struct metric *s = series(m, "gauge", name, help, NULL);
	s->seconds = true;
	return s;
}

struct metric *metrics_histogram(struct metrics *m, const char *name, const char *help,
				 const char *part)
{
	struct metric *s = series(m, "histogram", name, help, part);
	s->seconds = cstr_eq(part, "_sum");
	return s;
}

struct metric *metrics_summary(struct metrics *m, const char *name, const char *help,
			       const char *part, bool seconds)
{
	struct metric *s = series(m, "summary", name, help, part);
	s->seconds = seconds;
	return s;
}

struct metric *metrics_since(struct metrics *m, const char *name, const char *help,
			     const char *labels)
{
	struct metric *s = series(m, "gauge", name, help, labels);
	s->seconds = s->since = true;
	return s;
}

void metrics_set_clock(struct metrics *m, int64_t (*now)(void *arg), void *arg)
{
	m->now = now;
	m->now_arg = arg;
}

void metrics_forget(struct metrics *m, const char *name, const char *labels)
{
	const struct family *f = map_get(m->families, name);
	const struct metric *s = f ? map_get(f->series, labels) : NULL;
	if (s)
		series_del(m, s);
}

void metrics_drop(struct metrics *m, const char *prefix)
{
	CLEANUP(xfreep) char *first = first_label(prefix);
	size_t n, left;
	(void)multimap_get(m->by_label, first, &n);
	while (n-- > 0) { /* from the end: what goes moves nothing that is still to be seen */
		const struct metric *s = multimap_get(m->by_label, first, &left)[n];
		if (!s->since && !strcmp(s->family->type, "gauge") &&
		    cstr_has_prefix(s->labels, prefix))
			series_del(m, s);
	}
}

void metrics_label(struct strbuf *b, const char *key, const char *value)
{
	strbuf_addf(b, "%s%s=\"", b->len ? "," : "", key);
	for (const char *p = value; *p; p++) {
		if (*p == '\n') {
			strbuf_adds(b, "\\n");
			continue;
		}
		if (*p == '"' || *p == '\\')
			strbuf_addc(b, '\\');
		strbuf_addc(b, *p);
	}
	strbuf_addc(b, '"');
}

void metric_add(struct metric *c, uint64_t n)
{
	c->value = (int64_t)((uint64_t)c->value + n);
}

void metric_set(struct metric *g, int64_t v)
{
	g->value = v;
}

int64_t metric_value(const struct metric *m)
{
	return m->value;
}

static int64_t passed(const struct metrics *m, const struct metric *s)
{
	int64_t ns = m->now ? m->now(m->now_arg) - s->value : 0;
	return ns > 0 ? ns : 0;
}

static void print_family(const struct metrics *m, const char *name, const struct family *f,
			 struct strbuf *b)
{
	struct map_entry **entries = map_sorted(f->series);
	strbuf_addf(b, "# HELP %s %s\n# TYPE %s %s\n", name, f->help, name, f->type);
	for (size_t i = 0; i < map_count(f->series); i++) {
		const struct metric *s = entries[i]->value;
		bool labels = entries[i]->key[0] && entries[i]->key[0] != '_'; /* else a part */
		strbuf_addf(b, "%s%s%s%s ", name, labels ? "{" : "", entries[i]->key,
			    labels ? "}" : "");
		int64_t ns = s->since ? passed(m, s) : s->value;
		if (s->seconds)
			strbuf_addf(b, "%lld.%09lld\n", (long long)(ns / 1000000000),
				    (long long)(ns % 1000000000));
		else
			strbuf_addf(b, "%lld\n", (long long)s->value);
	}
	xfree((void *)entries);
}

void metrics_print(const struct metrics *m, struct strbuf *b)
{
	struct map_entry **entries = map_sorted(m->families);
	for (size_t i = 0; i < map_count(m->families); i++)
		print_family(m, entries[i]->key, entries[i]->value, b);
	xfree((void *)entries);
}
