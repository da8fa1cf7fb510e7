#include "alm/cli/audit/audit_anchors.h"

#include <string.h>

#include "alm/audit/anchor.h"
#include "alm/base/file.h"
#include "alm/base/log.h"
#include "alm/cli/session.h"
#include "alm/engine/anchor_configmap.h"

#define NOTE_BYTES_MAX ((size_t)64 << 10)
#define FILE_PREFIX    ANCHOR_TARGET_FILE
#define MAP_PREFIX     "configmap"
#define WITNESS_PREFIX "witness:"

struct reading {
	struct cli *c;
	const struct audit_source *source;
	struct audit_anchors *out;
	const char *seen[2 * VERIFY_ANCHORS_MAX];
	size_t n_seen;
};

static void unchecked(struct reading *r, const char *name, const char *why)
{
	struct audit_anchors *out = r->out;
	if (out->n_unchecked < VERIFY_ANCHORS_MAX)
		out->unchecked[out->n_unchecked++] =
			arena_fmt(r->c->arena, "anchor %s: %s", name, why);
}

static void found(struct reading *r, const char *name, struct str note, bool weak, const char *vkey)
{
	struct audit_anchors *out = r->out;
	if (out->n == VERIFY_ANCHORS_MAX)
		return;
	out->items[out->n++] = (struct verify_anchor){
		.name = name,
		.weak = weak,
		.note = str_n(arena_text(r->c->arena, note.ptr, note.len), note.len),
		.vkey = vkey};
}

/* required: that it is not there must be reported. */
static void read_file(struct reading *r, const char *path, const char *name, bool weak,
		      const char *vkey, bool required)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(NOTE_BYTES_MAX);
	int rc = file_read(path, &b, &err);
	if (rc >= 0)
		found(r, name, strbuf_str(&b), weak, vkey);
	else if (required || rc != -E_NOTFOUND)
		unchecked(r, name, err.msg);
}

static void read_configmap(struct reading *r)
{
	static const struct resource maps = {.group = "",
					     .version = "v1",
					     .plural = "configmaps",
					     .kind = "ConfigMap",
					     .namespaced = true};
	const char *name = ANCHOR_CONFIGMAP_NS "/" ANCHOR_CONFIGMAP_NAME;
	struct error err = ERROR_INIT;
	struct cli *elsewhere = ARENA_NEW(r->c->arena, struct cli);
	CLEANUP(session_freep) struct session *session = NULL;
	const struct obj *o = NULL;
	*elsewhere = audit_source_cluster(r->c);
	int rc = session_open(elsewhere, &session, &err);
	if (rc >= 0)
		rc = session_get(session,
				 session_target(session, &maps, ANCHOR_CONFIGMAP_NS,
						ANCHOR_CONFIGMAP_NAME, NULL),
				 &o, &err);
	const char *note = obj_str(o, "data." ANCHOR_CONFIGMAP_KEY);
	if (rc >= 0 && note)
		found(r, name, str_of(note), false, NULL);
	else
		unchecked(r, name, rc < 0 ? err.msg : "it has no checkpoint");
}

static void read_witness(struct reading *r, const char *url, bool required)
{
	struct str base, vkey;
	bool has_key = str_cut(str_of(url), '#', &base, &vkey);
	const char *dir = r->source->dir ? r->source->dir : ".";
	const char *name =
		arena_fmt(r->c->arena, "witness %.*s", (int)base.len, base.ptr ? base.ptr : "");
	if (!has_key)
		unchecked(r, name, "--audit-anchor witness:URL#VKEY says which key it has");
	else
		read_file(r, anchor_witness_path(url, dir, r->c->arena), name, false, vkey.ptr,
			  required);
}

static void read_target(struct reading *r, const char *target, bool required)
{
	for (size_t i = 0; i < r->n_seen; i++)
		if (!strcmp(r->seen[i], target))
			return;
	if (r->n_seen < ARRAY_LEN(r->seen))
		r->seen[r->n_seen++] = target;
	if (cstr_has_prefix(target, FILE_PREFIX)) {
		const char *path = target + strlen(FILE_PREFIX);
		read_file(r, path, arena_fmt(r->c->arena, "file %s", path),
			  !r->source->dir || anchor_file_is_weak(path, r->source->dir), NULL,
			  required);
	} else if (cstr_has_prefix(target, MAP_PREFIX)) {
		read_configmap(r);
	} else if (cstr_has_prefix(target, WITNESS_PREFIX)) {
		read_witness(r, target + strlen(WITNESS_PREFIX), required);
	}
}

/* A path that the log remembers without a folder is of its own. */
static const char *full_target(struct reading *r, const char *target)
{
	const char *path = target + strlen(FILE_PREFIX);
	if (!cstr_has_prefix(target, FILE_PREFIX) || !r->source->dir)
		return target;
	return arena_fmt(r->c->arena, FILE_PREFIX "%s",
			 anchor_file_path(path, r->source->dir, r->c->arena));
}

/* Those that were told the newest sizes; a place that was given up stays behind. */
static int read_told(struct reading *r, struct error *err)
{
	struct stmt *s;
	const char *targets[VERIFY_ANCHORS_MAX];
	bool newest[VERIFY_ANCHORS_MAX];
	size_t n = 0;
	int rc = db_prepare(r->source->db,
			    "SELECT target, max(size) >= (SELECT max(size) FROM audit_anchor) - ?"
			    " FROM audit_anchor GROUP BY target ORDER BY target",
			    &s, err);
	if (rc < 0)
		return rc;
	stmt_bind_int(s, 1, ANCHOR_EVERY_ROWS);
	while ((rc = stmt_step(s, err)) > 0 && n < VERIFY_ANCHORS_MAX) {
		struct str target = stmt_text(s, 0);
		newest[n] = stmt_int(s, 1);
		targets[n++] = full_target(r, arena_text(r->c->arena, target.ptr, target.len));
	}
	stmt_reset(s);
	for (size_t i = 0; i < n; i++)
		if (newest[i])
			read_target(r, targets[i], true);
	return rc < 0 ? rc : 0;
}

int audit_anchors_read(struct cli *c, const struct audit_source *s, bool cluster,
		       struct audit_anchors *ret, struct error *err)
{
	struct reading *r = ARENA_NEW(c->arena, struct reading);
	const char *spec;
	*r = (struct reading){.c = c, .source = s, .out = ret};
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; (spec = cli_value_at(c, "audit-anchor", i)); i++)
		read_target(r, spec, true);
	if (s->type != AUDIT_DATABASE)
		return 0;
	int rc = read_told(r, err);
	if (cluster)
		read_target(r, MAP_PREFIX, false);
	read_target(r, arena_fmt(c->arena, FILE_PREFIX "%s/" ANCHOR_DEFAULT, s->dir), false);
	return rc;
}
