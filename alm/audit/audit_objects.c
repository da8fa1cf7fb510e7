/* audit_objects: a record of what all objects of the server are, where the log cannot tell it by
 * its Write rows (snapshot.h). */
#include "alm/audit/audit.h"

#include "alm/audit/audit_internal.h"
#include "alm/audit/objects.h"
#include "alm/audit/snapshot.h"
#include "alm/audit/tables.h"

bool audit_objects_unknown(struct audit *a)
{
	struct error err = ERROR_INIT;
	struct snapshot *s = NULL;
	/* Its LogOpened row alone, and that says nothing of objects. */
	bool first = a->last_seq == 1 && snapshot_load(a->db, &s, &err) >= 0 && !s;
	snapshot_free(s);
	return first || objects_digests_fit(a->db, a->redact_key, &err) == 0;
}

void audit_set_digests(const struct audit *a, struct obj *body)
{
	char id[REDACT_ID_MAX];
	redact_id(a->redact_key, id);
	obj_set_str(body, "digests", id);
}

static int add_object(void *arg, const struct obj *o, struct error *err)
{
	struct snapshot_writer *w = arg;
	CLEANUP(obj_unrefp) struct obj *entry = objects_entry(w->audit->redact_key, o);
	return snapshot_put(w, entry, err);
}

int audit_record_objects(
	struct audit *a, const char *reason,
	int (*each)(void *arg, int (*fn)(void *fn_arg, const struct obj *o, struct error *err),
		    void *fn_arg, struct error *err),
	void *arg, struct error *err)
{
	CLEANUP(snapshot_release) struct snapshot_writer w;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	int64_t seq;
	snapshot_begin(&w, a);
	obj_set_str(body, "what", "objects");
	audit_set_digests(a, body);
	int r = each(arg, add_object, &w, err);
	if (r >= 0)
		r = snapshot_end(&w, body, err);
	struct audit_row row = {.type = "System",
				.reason = reason,
				.subject = {.kind = "Log", .name = a->origin},
				.body = body};
	return r < 0 ? r : audit_append_now(a, &row, &seq, err);
}

int audit_bypass(const struct audit_config *c, struct error *err)
{
	struct audit *a = NULL;
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	int r = tables_exist(c->db, err);
	if (r <= 0)
		return r;
	r = audit_open(c, &a, err);
	if (r < 0)
		return r;
	obj_set_str(body, "what", "--no-audit");
	obj_set_str(body, "digests", "none");
	struct audit_row row = {.type = "System",
				.reason = "InsecureOption",
				.subject = {.kind = "Log", .name = a->origin},
				.body = body};
	r = audit_append_now(a, &row, &seq, err);
	audit_close(a);
	return r;
}
