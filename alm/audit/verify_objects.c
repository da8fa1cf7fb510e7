/* verify_objects: the live objects against the log, in both directions: each is what its newest
 * record says, and each that a record wrote and none deleted is there. */
#include "alm/audit/verify_parts.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/snapshot.h"
#include "alm/base/map.h"
#include "alm/obj/meta.h"

static int keep_entry(void *arg, const struct obj *entry, struct error *err)
{
	struct verify_objects *v = arg;
	(void)err;
	if (obj_has(entry, "after"))
		map_set_number(v->written, obj_str(entry, "uid"),
			       (size_t)snapshot_seq(v->log.snapshot));
	return 0;
}

int verify_objects_init(struct verify_objects *v, struct db *d, const struct verify_options *o,
			const struct snapshot *s, struct verify_report *rep, struct error *err)
{
	*v = (struct verify_objects){.log = {.db = d, .key = o->redact_key, .snapshot = s}};
	if (!o->each_object || o->since_checkpoint)
		return 0;
	int r = o->redact_key ? objects_digests_fit(d, o->redact_key, err) : 0;
	if (r > 0) {
		v->written = map_new(NULL);
		/* Of what was pruned: no row that is read stands for it. */
		return snapshot_is_pruned(s) ? snapshot_each(s, keep_entry, v, err) : 0;
	}
	if (!o->redact_key)
		verify_unchecked(rep, "objects: the key of their digests, redact.key, is missing");
	else if (r == 0)
		verify_unchecked(rep, "objects: they were last written without this log, or by "
				      "another version of alm; start this one on the folder once");
	return r < 0 ? r : 0;
}

int verify_objects_row(struct verify_objects *v, const struct row_digest *row, struct error *err)
{
	if (!v->written)
		return 0;
	if (row->seq == snapshot_seq(v->log.snapshot)) {
		map_clear(v->written);
		return snapshot_each(v->log.snapshot, keep_entry, v, err);
	}
	if (row->change == ROW_CHANGES_NOTHING)
		return 0;
	CLEANUP(xfreep) char *uid = str_dup(row->uid);
	if (row->change == ROW_DELETES)
		map_del(v->written, uid);
	else
		map_set_number(v->written, uid, (size_t)row->seq);
	return 0;
}

struct comparison {
	struct verify_objects *v;
	struct verify_report *rep;
};

static int add_verdict(struct verify_report *rep, const struct objects_verdict *v, int r,
		       const struct error *err)
{
	if (r < 0 && !verify_is_damage(err))
		return r;
	if (r < 0)
		verify_add(rep, 0, 0, "objects: %.140s", err->msg);
	else if (v->text[0])
		verify_add(rep, v->seq, v->seq, "%s", v->text);
	return 0;
}

static int compare_object(void *arg, const struct obj *o, struct error *err)
{
	struct comparison *c = arg;
	struct objects_verdict verdict;
	int r = objects_judge(&c->v->log, o, &verdict, err);
	c->rep->objects++;
	if (meta_uid(o))
		map_del(c->v->written, meta_uid(o));
	return add_verdict(c->rep, &verdict, r, err);
}

static int compare_gone(struct comparison *c, struct error *err)
{
	int r = 0;
	for (struct map_entry *e = map_first(c->v->written); e && r >= 0; e = map_next(e)) {
		struct objects_verdict verdict;
		r = objects_judge_gone(&c->v->log, e->key,
				       (int64_t)map_number(c->v->written, e->key), &verdict, err);
		r = add_verdict(c->rep, &verdict, r, err);
	}
	return r;
}

static int compare_status(void *arg, const struct obj *o, struct error *err)
{
	struct comparison *c = arg;
	struct objects_verdict verdict;
	int r = objects_judge_status(&c->v->log, o, c->rep->last, &verdict, err);
	return add_verdict(c->rep, &verdict, r, err);
}

int verify_objects_compare(struct verify_objects *v, const struct verify_options *o,
			   struct verify_report *rep, struct error *err)
{
	struct comparison c = {.v = v, .rep = rep};
	if (!v->written)
		return 0;
	int r = o->each_object(o->each_object_arg, compare_object, &c, err);
	if (r >= 0)
		r = compare_gone(&c, err);
	rep->objects_compared = rep->statuses_compared = r >= 0;
	return r;
}

void verify_statuses(struct verify_objects *v, const struct verify_options *o,
		     struct verify_report *rep)
{
	struct comparison c = {.v = v, .rep = rep};
	struct error err = ERROR_INIT;
	if (o->each_status(o->each_status_arg, compare_status, &c, &err) < 0)
		verify_unchecked(rep, "statuses: %.140s", err.msg);
	else
		rep->statuses_compared = true;
}

void verify_objects_release(struct verify_objects *v)
{
	map_free(v->written);
}
