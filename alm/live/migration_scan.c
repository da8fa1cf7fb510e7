#include "alm/live/migration_scan.h"

#include <string.h>

void migration_scan_begin(struct migration_scan *s, const struct obj *crd, const struct resource *r,
			  int64_t since_ns, struct arena *a)
{
	const struct obj *list = obj_path(crd, "spec.versions");
	s->a = a;
	s->r = r;
	s->since_ns = since_ns;
	s->n = s->n_usages = s->n_writers = s->n_forget = 0;
	s->first = NULL;
	s->newest_ns = 0;
	for (size_t i = 0; i < obj_len(list) && s->n_usages < MIGRATION_VERSIONS_MAX; i++) {
		const char *name = obj_str(obj_at(list, i), "name");
		if (name && strcmp(name, r->version) != 0)
			usage_begin(&s->usages[s->n_usages++], crd, name, NULL, a);
	}
}

static void note_forget(struct migration_scan *s, const struct obj *o)
{
	if (s->n_forget == MIGRATION_WRITERS_MAX)
		return;
	const char *command =
		usage_forget(o, s->r->group, s->r->plural, s->r->version, s->since_ns, s->a);
	if (command)
		s->forget[s->n_forget++] = command;
}

void migration_scan_object(struct migration_scan *s, const struct obj *o)
{
	if (s->n++ == 0)
		s->first = usage_object_name(o, s->a);
	for (size_t i = 0; i < s->n_usages; i++)
		usage_object(&s->usages[i], o);
	note_forget(s, o);
}

static void end_usage(struct migration_scan *s, struct usage *u)
{
	usage_end(u);
	if (u->n_writers && u->writers[0].last_ns > s->newest_ns)
		s->newest_ns = u->writers[0].last_ns;
	for (size_t k = 0; k < u->n_writers; k++) {
		const struct usage_writer *w = &u->writers[k];
		if (w->last_ns > s->since_ns && s->n_writers < MIGRATION_WRITERS_MAX)
			s->writers[s->n_writers++] =
				arena_fmt(s->a, "%s: %s", w->manager, w->last_object);
	}
}

void migration_scan_end(struct migration_scan *s)
{
	for (size_t i = 0; i < s->n_usages; i++)
		end_usage(s, &s->usages[i]);
}
