#include "alm/cli/audit/audit_source.h"

#include <inttypes.h>
#include <string.h>

#include "alm/apiserver/kinds/kinds.h"
#include "alm/audit/audit.h"
#include "alm/audit/checkpoint.h"
#include "alm/audit/export.h"
#include "alm/audit/head.h"
#include "alm/audit/log.h"
#include "alm/audit/objects.h"
#include "alm/audit/tables.h"
#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/cli/session.h"
#include "alm/io/http.h"
#include "alm/io/loop.h"
#include "alm/obj/json.h"
#include "crds/kinds.h"

#define ARCHIVE_BYTES_MAX ((size_t)4 << 30)
#define PAGE              500
#define PAGES_MAX         200000
#define KEY_BYTES_MAX     ((size_t)64 << 10) /* of a place: no name is longer than 253 */

static int open_memory(struct audit_source *s, struct error *err)
{
	struct db_config c = {.path = ":memory:"};
	return db_open(&c, &s->db, err);
}

static int open_archive(const char *path, struct audit_source *s, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(ARCHIVE_BYTES_MAX);
	s->type = AUDIT_ARCHIVE;
	int r = file_read_input(path, &text, err);
	if (r >= 0)
		r = open_memory(s, err);
	if (r < 0)
		return r;
	r = export_read(s->db, strbuf_str(&text), err);
	if (r < 0)
		return error_set(err, E_ALTERED, "%s: %s", path, err->msg);
	return r;
}

static int read_page(struct audit_source *s, const struct obj *list, struct error *err)
{
	const struct obj *items = obj_get(list, "items");
	int r = 0;
	for (size_t i = 0; i < obj_len(items) && r >= 0; i++)
		r = export_add_object(s->db, obj_at(items, i), err);
	return r;
}

const struct resource audit_source_records = {"audit.app.coreos.com", "v1alpha1", "auditrecords",
					      "AuditRecord", false};

static int open_api(struct cli *c, struct audit_source *s, struct error *err)
{
	CLEANUP(session_freep) struct session *session = NULL;
	const char *token = NULL;
	s->type = AUDIT_API;
	int r = session_open(c, &session, err);
	if (r >= 0)
		r = open_memory(s, err);
	if (r >= 0)
		r = export_tables(s->db, err);
	for (int page = 0; r >= 0 && page < PAGES_MAX; page++) {
		const struct obj *list = NULL;
		const char *query =
			arena_fmt(c->arena, "limit=%d%s%s", PAGE, token ? "&continue=" : "",
				  token ? url_encode(str_of(token), c->arena) : "");
		r = session_get(session,
				session_target(session, &audit_source_records, NULL, NULL, query),
				&list, err);
		if (r == -E_NOTFOUND)
			return error_set(err, E_NOTFOUND,
					 "the server has no AuditRecords; --data-dir DIR names the "
					 "folder of the log");
		if (r >= 0)
			r = read_page(s, list, err);
		token = obj_str(list, "metadata.continue");
		if (!token || !*token)
			break;
	}
	return r;
}

/* The origin that audit.head remembers, or false. */
static bool remembered(const char *dir, char **ret, int64_t *ret_size)
{
	struct error none = ERROR_INIT;
	struct str origin;
	struct checkpoint c;
	struct audit_head_state *h = xcalloc(1, sizeof(*h));
	bool found = head_read(dir, h, &none) >= 0 &&
		     checkpoint_read(str_of(h->note), &origin, &c, &none) >= 0;
	if (found) {
		*ret = str_dup(origin);
		*ret_size = c.size;
	}
	xfree(h);
	return found;
}

/* One that is lost is another thing than one that never was. */
static int no_log(const char *dir, const char *what, const char *hint, struct error *err)
{
	CLEANUP(xfreep) char *origin = NULL;
	int64_t size;
	if (!remembered(dir, &origin, &size))
		return error_set(err, E_NOTFOUND, "%s%s", what, hint);
	return error_set(err, E_ALTERED,
			 "%s, and %s/" HEAD_FILE " remembers %" PRId64 " records, of the log %s: "
			 "put alm.db back, or begin another log: alm audit accept-gap --data-dir "
			 "%s --reason TEXT",
			 what, dir, size, origin, dir);
}

/* A database without the tables of a log, such as that of a server with --no-audit. */
static int check_has_log(struct cli *c, struct audit_source *s, const char *path, struct error *err)
{
	int r = tables_exist(s->db, err);
	return r == 0 ? no_log(s->dir, arena_fmt(c->arena, "%s has no audit log", path), "", err)
		      : r;
}

static int open_folder(struct cli *c, const char *path, struct audit_source *s, struct error *err)
{
	struct db_config dc = {
		.path = path, .read_only = true, .busy_ns = 5 * NS_PER_S, .layout = DB_LAYOUT};
	if (!file_exists(path))
		return no_log(cli_data_dir(c), arena_fmt(c->arena, "%s is not there", path),
			      ": --data-dir is the folder of alm up, alm server or alm controller; "
			      "without it the server is asked",
			      err);
	s->dir = cli_data_dir(c);
	int r = db_open(&dc, &s->db, err);
	return r < 0 ? r : check_has_log(c, s, path, err);
}

const char *audit_source_path(struct cli *c)
{
	return arena_fmt(c->arena, "%s/alm.db", cli_data_dir(c));
}

int audit_source_open(struct cli *c, struct audit_source *ret, struct error *err)
{
	struct audit_source s = {0};
	const char *file = cli_value(c, "file");
	const char *path = audit_source_path(c);
	bool elsewhere = (cli_value(c, "kubeconfig") || cli_value(c, "context")) &&
			 !cli_value(c, "data-dir");
	int r;
	if (file)
		r = open_archive(file, &s, err);
	else if (!elsewhere && (file_exists(path) || cli_value(c, "data-dir")))
		r = open_folder(c, path, &s, err);
	else
		r = open_api(c, &s, err);
	if (r < 0) {
		db_close(s.db);
		return r;
	}
	*ret = s;
	return 0;
}

void audit_source_release(struct audit_source *s)
{
	db_close(s->db);
	s->db = NULL;
}

int64_t audit_source_now_us(void)
{
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	return loop_now(l) / NS_PER_US;
}

int audit_source_time(const char *text, int64_t now_us, int64_t *ret_us, struct error *err)
{
	struct error inner = ERROR_INIT;
	int64_t ns;
	if (clock_parse(str_of(text), &ns)) {
		*ret_us = ns / NS_PER_US;
		return 0;
	}
	if (duration_parse(str_of(text), &ns, &inner) < 0)
		return error_set(err, E_USAGE, "%s is neither RFC 3339 nor a duration", text);
	*ret_us = now_us - ns / NS_PER_US;
	return 0;
}

/* A type that there is none of would fit to nothing, and look like an answer. */
static int check_type(const char *type, struct error *err)
{
	static const char *const types[] = {"Transition", "Decision", "Approval", "Plan",
					    "Write",      "Observe",  "System"};
	for (size_t i = 0; type && i < ARRAY_LEN(types); i++)
		if (!strcmp(types[i], type))
			return 0;
	return type ? error_set(err, E_USAGE,
				"--type %s: there are Transition, Decision, Approval, Plan, Write, "
				"Observe and System",
				type)
		    : 0;
}

/* The entry after the last one is what comes next; what is beyond it nobody can have seen. */
static int check_from(const struct audit_source *s, int64_t from, struct error *err)
{
	int64_t end = 0;
	if (from <= 0 || !s->db)
		return 0;
	int r = query_seq_at(s->db, INT64_MAX, &end, err);
	if (r >= 0 && from > end + 1)
		r = error_set(err, E_USAGE,
			      "--from-seq %" PRId64 ": the log ends at entry %" PRId64, from, end);
	return r;
}

int audit_source_selector(struct cli *c, const struct audit_source *s, struct query_selector *ret,
			  struct error *err)
{
	const char *subject = cli_value(c, "subject"), *since = cli_value(c, "since");
	const char *until = cli_value(c, "until");
	int64_t now = audit_source_now_us(), limit;
	struct query_selector sel = {.actor = cli_value(c, "actor"),
				     .type = cli_value(c, "type"),
				     .reason = cli_value(c, "reason"),
				     .cluster = cli_value(c, "cluster")};
	int r = check_type(sel.type, err);
	if (r >= 0)
		r = cli_int(c, "from-seq", 0, &sel.from_seq, err);
	if (r >= 0)
		r = cli_int(c, "limit", 0, &limit, err);
	if (r >= 0 && (sel.from_seq < 0 || limit < 0))
		r = error_set(err, E_USAGE, "--from-seq and --limit are numbers from 1 on");
	if (r >= 0)
		r = check_from(s, sel.from_seq, err);
	if (r >= 0)
		sel.limit = (size_t)limit;
	if (r >= 0 && subject)
		r = query_subject(s->db, subject, c->arena, &sel, err);
	if (r >= 0 && since)
		r = audit_source_time(since, now, &sel.since_us, err);
	if (r >= 0 && until)
		r = audit_source_time(until, now, &sel.until_us, err);
	if (r >= 0 && since && until && sel.until_us < sel.since_us)
		r = error_set(err, E_USAGE, "--until %s is before --since %s", until, since);
	*ret = sel;
	return r;
}

bool audit_source_has_objects(struct db *d)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	if (db_prepare(d, "SELECT 1 FROM sqlite_schema WHERE name = 'objects'", &s, &err) < 0)
		return false;
	bool found = stmt_step(s, &err) > 0;
	stmt_reset(s);
	return found;
}

/* "group/plural/ns/name". 1; 0: Leases and Events have no Write records. */
static int read_key(const struct kinds *kinds, struct str key, struct arena *a,
		    struct objects_place *ret, struct error *err)
{
	struct str part[3];
	if (key.len > KEY_BYTES_MAX / 4)
		return error_set(err, E_CORRUPT, "stored object with a place of %zu bytes",
				 key.len);
	for (int i = 0; i < 3; i++)
		if (!str_cut(key, '/', &part[i], &key))
			return error_set(err, E_CORRUPT, "stored object without a place");
	*ret = (struct objects_place){.group = arena_text(a, part[0].ptr, part[0].len),
				      .ns = arena_text(a, part[2].ptr, part[2].len),
				      .name = arena_text(a, key.ptr, key.len)};
	const struct kind *k =
		kinds_storage(kinds, ret->group, arena_text(a, part[1].ptr, part[1].len));
	ret->kind = k ? k->kind : NULL;
	return !k || !(k->flags & KIND_NO_AUDIT);
}

static int visit(struct stmt *s, const struct kinds *kinds, verify_object_fn fn, void *fn_arg,
		 struct error *err)
{
	struct objects_place place;
	CLEANUP(arena_freep) struct arena *a = arena_new(KEY_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *stored = NULL;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct str key = stmt_text(s, 0);
	int r = read_key(kinds, key, a, &place, err);
	if (r <= 0)
		return r;
	if (json_parse(stmt_blob(s, 1), &stored, err) < 0)
		return error_wrap(err, "stored object %.*s", STR_ARG(key));
	o = objects_in_place(stored, &place);
	return fn(fn_arg, o, err);
}

/* The newest revision of every living object. */
int audit_source_objects(void *arg, verify_object_fn fn, void *fn_arg, struct error *err)
{
	const struct audit_source *source = arg;
	CLEANUP(kinds_freep) struct kinds *kinds = kinds_new();
	struct stmt *s;
	int r = db_prepare(source->db,
			   "SELECT name, value FROM objects o WHERE deleted = 0 AND NOT EXISTS"
			   " (SELECT 1 FROM objects n WHERE n.name = o.name AND n.prev_revision ="
			   " o.id)",
			   &s, err);
	if (r < 0)
		return r;
	while ((r = stmt_step(s, err)) > 0) {
		r = visit(s, kinds, fn, fn_arg, err);
		if (r < 0)
			break;
	}
	stmt_reset(s);
	return r;
}

static int each_of_kind(struct session *session, const struct crd_kind *k, verify_object_fn fn,
			void *fn_arg, struct error *err)
{
	const struct resource r = {k->group, k->version, k->plural, k->kind, k->namespaced};
	const struct obj *list = NULL;
	struct error inner = ERROR_INIT;
	int rc = session_get(session, session_target(session, &r, NULL, NULL, NULL), &list, &inner);
	if (rc < 0)
		return rc == -E_NOTFOUND ? 0 : error_copy(err, &inner); /* not served: none */
	const struct obj *items = obj_get(list, "items");
	for (size_t i = 0; i < obj_len(items) && rc >= 0; i++) {
		const struct obj *o = obj_at(items, i);
		CLEANUP(obj_unrefp) struct obj *named = obj_map();
		OBJ_EACH (it, o)
			obj_set(named, it.key, obj_ref(it.value));
		obj_set_str(named, "kind", k->kind);
		if (obj_i64(o, "status.transitionSeq", 0) > 0)
			rc = fn(fn_arg, named, err);
	}
	return rc;
}

bool audit_source_is_of_runs(const struct audit_source *s)
{
	struct error none = ERROR_INIT;
	CLEANUP(xfreep) char *origin = NULL;
	int64_t size;
	if (tables_exist(s->db, &none) > 0)
		(void)log_origin(s->db, &origin, &none);
	else if (s->dir)
		(void)remembered(s->dir, &origin, &size);
	return origin && audit_is_of_runs(origin) && !audit_source_has_objects(s->db);
}

/* The folder of this log has no kubeconfig: --data-dir does not say which server is meant. */
struct cli audit_source_cluster(const struct cli *c)
{
	struct cli copy = *c;
	copy.values = ARENA_ARRAY(c->arena, struct cli_value, c->n_values + 1);
	copy.n_values = 0;
	for (size_t i = 0; i < c->n_values; i++)
		if (strcmp(c->values[i].name, "data-dir") != 0)
			copy.values[copy.n_values++] = c->values[i];
	return copy;
}

int audit_source_statuses(void *arg, verify_object_fn fn, void *fn_arg, struct error *err)
{
	struct cli c = audit_source_cluster(arg);
	CLEANUP(session_freep) struct session *session = NULL;
	int r = session_open(&c, &session, err);
	for (size_t i = 0; i < n_crd_kinds && r >= 0; i++)
		r = each_of_kind(session, crd_kinds[i], fn, fn_arg, err);
	return r;
}
