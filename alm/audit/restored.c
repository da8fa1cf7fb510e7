#include "alm/audit/restored.h"

#include "alm/audit/audit_internal.h"
#include "alm/audit/log.h"
#include "alm/audit/tables.h"
#include "alm/base/file.h"

void restored_release(struct restored *r)
{
	xfree(r->origin);
	xfree(r->gap);
	*r = (struct restored){.rows = 0};
}

static bool has_key(const char *dir, const char *name)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&path, "%s/%s", dir, name);
	return file_exists(path.buf);
}

/* Not audit_open(): nothing is signed, no key registered, and no head written. */
static int open_copy(const struct restored_config *c, struct audit **ret, struct error *err)
{
	bool has_keys = has_key(c->dir, AUDIT_SIGNING_KEY) && has_key(c->dir, AUDIT_REDACT_KEY);
	struct audit_config ac = {
		.db = c->db, .loop = c->loop, .key_dir = has_keys ? c->dir : NULL};
	struct audit *a = *ret = audit_alloc(&ac);
	int r = log_origin(c->db, &a->origin, err);
	if (r >= 0)
		r = audit_open_keys(a, a->origin, err);
	if (r >= 0)
		r = audit_load_end(a, err);
	if (r >= 0)
		r = log_load_tree(c->db, a->last_seq, &a->tree, err);
	return r;
}

static int append(struct audit *a, const struct restored_config *c, struct error *err)
{
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_str(body, "what", "restored from a backup");
	obj_set_str(body, "details", c->details);
	obj_set(body, "justification", obj_stringn(str_sub(str_of(c->reason), 0, 1024)));
	struct audit_row row = {.type = "System",
				.reason = "Restored",
				.subject = {.kind = "Log", .name = a->origin},
				.body = body};
	int r = db_begin(a->db, err);
	if (r < 0)
		return r;
	r = audit_append(a, &row, &seq, err);
	if (r >= 0)
		return db_commit(a->db, err);
	db_rollback(a->db);
	return r;
}

/* "log: closed" says that nothing comes after it, and now the record does. */
static int reopen_head(const struct restored_config *c, struct audit_head_state *h,
		       struct error *err)
{
	if (!h->closed)
		return 0;
	h->closed = false;
	return head_write(c->dir, h, true, err);
}

/* What is remembered is a prefix of the copy, or something was written after it. */
static int compare(struct audit *a, const struct restored_config *c, char **ret_gap,
		   struct error *err)
{
	struct error inner = ERROR_INIT;
	struct audit_head_state *h = xcalloc(1, sizeof(*h));
	int r = 0, found = 0;
	if (head_read(c->dir, h, &inner) == 0)
		found = audit_check_note(a, str_of(h->note), HEAD_FILE, &inner);
	if (found == 0)
		r = reopen_head(c, h, err);
	for (size_t i = 0; i < c->n_anchors && found != -E_ALTERED; i++)
		found = audit_check_note(a, c->anchors[i].note, c->anchors[i].name, &inner);
	*ret_gap = found == -E_ALTERED ? xstrdup(inner.msg) : NULL;
	xfree(h);
	return r;
}

int restored_append(const struct restored_config *c, struct restored *ret, struct error *err)
{
	struct audit *a = NULL;
	*ret = (struct restored){.rows = 0};
	int r = tables_exist(c->db, err);
	if (r <= 0)
		return r;
	r = open_copy(c, &a, err);
	ret->rows = a->last_seq;
	if (r >= 0)
		r = append(a, c, err);
	if (r >= 0)
		r = compare(a, c, &ret->gap, err);
	if (r >= 0)
		ret->origin = xstrdup(a->origin);
	audit_free(a); /* not closed: that would sign */
	return r;
}
