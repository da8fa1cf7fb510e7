/* verify_kept: what is kept of catalogs against the records that say so, in both directions. */
#include "alm/audit/verify_parts.h"

#include "alm/audit/kept.h"
#include "alm/base/map.h"

struct comparison {
	struct db *d;
	struct verify_report *rep;
	struct map *seen;
};

static int compare(void *arg, const char *kind, const char *name, const char *digest,
		   struct error *err)
{
	struct comparison *c = arg;
	char want[SHA256_HEX];
	int64_t seq = 0;
	int r = kept_digest(c->d, kind, name, want, &seq, err);
	map_set_number(c->seen, name, 1);
	if (r > 0 && !cstr_eq(want, digest))
		verify_add(c->rep, seq, seq, "what is kept of %s %.80s was altered", kind, name);
	else if (r == 0)
		verify_unchecked(c->rep,
				 "%s %.80s: what is kept of it has no record, so it is not used; "
				 "start alm on the folder once",
				 kind, name);
	return r < 0 ? r : 0;
}

static int compare_gone(struct comparison *c, const char *name, struct error *err)
{
	char want[SHA256_HEX];
	int64_t seq = 0;
	int r = map_has(c->seen, name) ? 0 : kept_digest(c->d, "Catalog", name, want, &seq, err);
	if (r > 0)
		verify_add(c->rep, seq, seq, "what is kept of Catalog %.80s was removed", name);
	return r;
}

int verify_kept(struct db *d, const struct verify_options *o, struct verify_report *rep,
		struct error *err)
{
	struct comparison c = {.d = d, .rep = rep};
	struct stmt *s;
	if (!o->each_kept || o->since_checkpoint)
		return 0;
	CLEANUP(map_freep) struct map *seen = c.seen = map_new(NULL);
	int r = o->each_kept(o->each_kept_arg, compare, &c, err);
	if (r >= 0)
		r = db_prepare(d,
			       "SELECT DISTINCT name FROM audit WHERE kind = 'Catalog' AND ns = ''"
			       " ORDER BY name",
			       &s, err);
	if (r < 0)
		return r;
	while ((r = stmt_step(s, err)) > 0) {
		CLEANUP(xfreep) char *name = str_dup(stmt_text(s, 0));
		r = compare_gone(&c, name, err);
		if (r < 0)
			break;
	}
	stmt_reset(s);
	return r;
}
