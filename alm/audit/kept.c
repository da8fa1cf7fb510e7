/* kept: see kept.h. */
#include "alm/audit/kept.h"

#include <string.h>

int kept_append(struct audit *a, const char *kind, const char *name, const char *digest,
		struct error *err)
{
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_str(body, "what", "revision");
	if (digest)
		obj_set_str(body, "digest", digest);
	struct audit_row row = {.type = "System",
				.reason = digest ? "RevisionKept" : "RevisionDropped",
				.subject = {.kind = kind, .name = name},
				.body = body};
	return audit_append(a, &row, &seq, err) < 0 ? -err->code : 0;
}

int kept_digest(struct db *d, const char *kind, const char *name, char ret[SHA256_HEX],
		int64_t *ret_seq, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d,
			   "SELECT seq, json_extract(body, '$.digest') FROM audit WHERE kind = ?"
			   " AND ns = '' AND name = ? AND cluster = '' AND type = 'System'"
			   " AND reason IN ('RevisionKept', 'RevisionDropped')"
			   " AND seq > coalesce((SELECT max(seq) FROM audit WHERE kind = 'Log'"
			   " AND type = 'System' AND reason = 'InsecureOption'"
			   " AND instr(body, '\"digests\":\"none\"') > 0), 0)"
			   " ORDER BY seq DESC LIMIT 1",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_cstr(s, 1, kind);
	stmt_bind_cstr(s, 2, name);
	r = stmt_step(s, err);
	if (r <= 0)
		return r;
	struct str digest = stmt_text(s, 1);
	*ret_seq = stmt_int(s, 0);
	r = digest.len == SHA256_HEX - 1;
	if (r)
		memcpy(ret, digest.ptr, digest.len);
	ret[SHA256_HEX - 1] = '\0';
	stmt_reset(s);
	return r;
}
