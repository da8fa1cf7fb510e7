#include "tests/sim/writes.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "crds/marks.h"

#define ARENA_MAX ((size_t)64 << 20)

/* What a path names. */
struct target {
	struct str group, plural, ns, name; /* ns, name: empty, if the path has none */
	bool status;
	const char *key; /* of the store */
};

struct write {
	struct world *w;
	const struct http_request *r;
	struct arena *a;
	struct target t;
	const struct obj *body, *live; /* live: newest of the store; NULL: it is not there */
	const char *app;               /* as whose account; NULL: as ALM itself */
};

struct db *program_log(struct world *w)
{
	const struct program *p = w->scenario->program;
	struct db *own = p && p->db && w->program ? p->db(w->program) : NULL;
	return own || !w->together ? own : w->db;
}

/* --- what is written --- */

static struct str word(struct str *rest)
{
	struct str first;
	(void)str_cut(*rest, '/', &first, rest); /* without a slash first is all, and rest empty */
	return first;
}

static struct str unescaped(struct arena *a, struct str s)
{
	if (!s.len)
		return STR("");
	char *out = arena_strndup(a, s.ptr, s.len);
	size_t n = 0;
	for (size_t i = 0; i < s.len; i++) {
		bool colon = i + 2 < s.len && !strncmp(s.ptr + i, "%3A", 3);
		out[n++] = colon ? ':' : s.ptr[i];
		i += colon ? 2 : 0;
	}
	return str_n(out, n);
}

static bool parse(struct arena *a, const char *path, struct target *ret)
{
	struct str rest = str_of(path);
	(void)word(&rest); /* before the first slash */
	bool grouped = str_is(word(&rest), "apis");
	*ret = (struct target){
		.group = grouped ? word(&rest) : STR(""), .ns = STR(""), .name = STR("")};
	(void)word(&rest); /* the version */
	ret->plural = word(&rest);
	ret->name = word(&rest);
	struct str next = word(&rest);
	if (str_is(ret->plural, "namespaces") && next.len && !str_is(next, "status") &&
	    !str_is(next, "finalize")) {
		ret->ns = ret->name;
		ret->plural = next;
		ret->name = word(&rest);
		next = word(&rest);
	}
	ret->status = str_is(next, "status");
	ret->name = unescaped(a, ret->name);
	ret->key = arena_fmt(a, "%.*s/%.*s/%.*s/%.*s", STR_ARG(ret->group), STR_ARG(ret->plural),
			     STR_ARG(ret->ns), STR_ARG(ret->name));
	return ret->plural.len > 0;
}

static const char *app_of_account(const struct http_request *r)
{
	static const char prefix[] = "system:serviceaccount:alm-system:app-";
	const char *as = http_header(&r->headers, "Impersonate-User");
	return as && cstr_has_prefix(as, prefix) ? as + sizeof(prefix) - 1 : NULL;
}

/* Not of Kubernetes, and not of ALM. */
static bool is_custom(struct str group)
{
	return memchr(group.ptr, '.', group.len) && !str_has_suffix(group, STR(".k8s.io")) &&
	       !str_is(group, "app.coreos.com") && !str_is(group, "opinstaller.coreos.com") &&
	       !str_is(group, "store.app.coreos.com");
}

/* --- what must hold --- */

#define violated(x, ...) wrong(x, arena_fmt((x)->a, __VA_ARGS__))
static void wrong(const struct write *x, const char *why)
{
	world_fail(x->w, "%s %s %s", x->r->method, x->r->path, why);
}

static bool is_marked(const struct write *x, const struct obj *o)
{
	CLEANUP(xfreep) char *meta = o ? json_text(obj_get(o, "metadata")) : NULL;
	return (meta && (strstr(meta, "app.coreos.com/") || strstr(meta, "\"owner\":\"helm\"") ||
			 strstr(meta, "toy-owner"))) ||
	       strstr(x->r->path, ".app.coreos.com") || strstr(x->r->path, ".opinstaller.");
}

/* ALM's own books carry no mark, but lie where only ALM writes. */
static bool is_own_book(const struct write *x)
{
	return !x->app && (str_is(x->t.group, "app.coreos.com") ||
			   str_is(x->t.group, "opinstaller.coreos.com") ||
			   str_is(x->t.ns, "alm-system") || str_is(x->t.plural, "events"));
}

static void is_fenced(const struct write *x)
{
	const char *method = x->r->method, *type = http_header(&x->r->headers, "Content-Type");
	bool versioned = str_contains(x->r->body, STR("\"resourceVersion\""));
	bool applied = cstr_eq(type, "application/apply-patch+yaml");
	if (cstr_eq(method, "DELETE") && !str_contains(x->r->body, STR("\"uid\"")))
		violated(x, "has no uid");
	if (cstr_eq(method, "PUT") || (cstr_eq(method, "PATCH") && !applied)) {
		if (!versioned)
			violated(x, "has no resourceVersion");
	} else if (applied && !versioned && !is_own_book(x) && !is_marked(x, x->body)) {
		violated(x, "is applied and says not whose it is");
	}
}

static const char *app_marked(const struct obj *o)
{
	const char *app = meta_label(o, LABEL_APP);
	return app && *app ? app : NULL;
}

static void is_owned(const struct write *x)
{
	const char *uid = obj_str(x->body, "preconditions.uid");
	bool deletes = cstr_eq(x->r->method, "DELETE");
	if (!x->live || is_own_book(x))
		return;
	if (deletes && (!uid || !cstr_eq(uid, meta_uid(x->live))))
		return; /* refused: it is another by now */
	bool (*is_stray)(const struct obj *o) = x->w->scenario->is_stray;
	if (deletes && !is_marked(x, x->live) && !(is_stray && is_stray(x->live)))
		violated(x, "deletes what carries no mark of ALM's");
	if (x->app && app_marked(x->live) && !cstr_eq(app_marked(x->live), x->app) &&
	    (deletes || !meta_resource_version(x->body)))
		violated(x, "is of the app %s, and written for %s", app_marked(x->live), x->app);
}

static bool has_objects(struct world *w, struct str group, struct str plural, struct arena *a)
{
	static const char live[] =
		"SELECT 1 FROM objects o WHERE name LIKE ? AND deleted = 0 AND NOT EXISTS"
		" (SELECT 1 FROM objects p WHERE p.name = o.name AND p.id > o.id)";
	struct stmt *s;
	struct error ignored;
	if (!w->db || db_prepare(w->db, live, &s, &ignored) < 0)
		return false;
	stmt_bind_cstr(s, 1, arena_fmt(a, "%.*s/%.*s/%%", STR_ARG(group), STR_ARG(plural)));
	bool there = stmt_step(s, &ignored) > 0;
	stmt_reset(s);
	return there;
}

static void is_kept(const struct write *x)
{
	struct str plural, group;
	if (!cstr_eq(x->r->method, "DELETE"))
		return;
	if (is_custom(x->t.group) &&
	    !(x->app && cstr_eq(app_marked(x->live), x->app))) /* but of its chart */
		violated(x, "deletes a custom resource");
	if (str_is(x->t.plural, "customresourcedefinitions") &&
	    str_cut(x->t.name, '.', &plural, &group) && has_objects(x->w, group, plural, x->a))
		violated(x, "deletes a definition that has objects");
}

static void is_recorded(const struct write *x)
{
	static const char sql[] =
		"SELECT 1 FROM audit WHERE type = 'Transition' AND uid = ? AND tseq = ?";
	struct db *log = program_log(x->w);
	struct stmt *s;
	struct error ignored;
	int64_t n = obj_i64(x->body, "status.transitionSeq", 0);
	if (!x->t.status || !log || n == 0 || db_prepare(log, sql, &s, &ignored) < 0)
		return;
	stmt_bind_cstr(s, 1, meta_uid(x->body));
	stmt_bind_int(s, 2, n);
	if (stmt_step(s, &ignored) <= 0)
		violated(x, "shows transition %lld before its row", (long long)n);
	stmt_reset(s);
}

void writes_observe(struct world *w, const struct http_request *r, bool faulty)
{
	static void (*const laws[])(const struct write *x) = {is_fenced, is_owned, is_kept,
							      is_recorded};
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	struct write x = {.w = w, .r = r, .a = a, .app = app_of_account(r)};
	struct obj *body = NULL;
	struct error ignored;
	if (cstr_eq(r->method, "GET") || !parse(a, r->path, &x.t) || strstr(r->path, "/leases"))
		return;
	if (!faulty) {
		if (cstr_eq(r->method, "DELETE"))
			map_set(w->user_deleted, x.t.key, xstrdup("by the user"));
		return;
	}
	if (str_has_prefix(r->body, STR("{")))
		(void)json_parse(r->body, &body, &ignored);
	else if (r->body.len)
		(void)yaml_parse_one(r->body, &body, &ignored);
	x.body = obj_keep(a, body);
	x.live = world_stored(w, x.t.key, a);
	for (size_t i = 0; i < ARRAY_LEN(laws); i++)
		laws[i](&x);
}

/* --- at rest --- */

static int resources_are_there(struct world *w, struct error *err)
{
	static const char gone[] =
		"SELECT name FROM objects o WHERE deleted = 1 AND instr(name, '.') BETWEEN 1 AND"
		" instr(name, '/') AND NOT EXISTS"
		" (SELECT 1 FROM objects p WHERE p.name = o.name AND p.id > o.id)";
	struct stmt *s;
	int r;
	if (db_prepare(w->db, gone, &s, err) < 0)
		return -err->code;
	while ((r = stmt_step(s, err)) > 0) {
		CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
		struct str group, rest;
		strbuf_addstr(&key, stmt_text(s, 0));
		if (!str_cut(strbuf_str(&key), '/', &group, &rest) || !is_custom(group) ||
		    map_get(w->user_deleted, key.buf))
			continue;
		r = error_set(err, E_ALTERED, "custom resource %s is gone", key.buf);
		break;
	}
	stmt_reset(s);
	return r;
}

/* What says that a version of an app made it, is of one that is there; the garbage collector and
 * the app's removal leave nothing behind. */
static int owners_are_there(struct world *w, struct error *err)
{
	static const char orphans[] =
		"WITH newest AS (SELECT name, CAST(value AS TEXT) AS v FROM objects o WHERE "
		"deleted = 0"
		" AND NOT EXISTS (SELECT 1 FROM objects p WHERE p.name = o.name AND p.id > o.id))"
		" SELECT o.name || ' of ' || json_extract(r.value, '$.name') FROM newest o,"
		" json_each(o.v, '$.metadata.ownerReferences') r"
		" WHERE json_extract(r.value, '$.kind') IN ('InstallStrategy', 'AppType')"
		" AND NOT EXISTS (SELECT 1 FROM newest s WHERE"
		" json_extract(s.v, '$.metadata.uid') = json_extract(r.value, '$.uid')) LIMIT 1";
	struct stmt *s;
	if (db_prepare(w->db, orphans, &s, err) < 0)
		return -err->code;
	int r = stmt_step(s, err);
	if (r > 0)
		r = error_set(err, E_ALTERED, "object outlived its owner: %.*s",
			      STR_ARG(stmt_text(s, 0)));
	stmt_reset(s);
	return r;
}

int writes_at_rest(struct world *w, struct error *err)
{
	int r = resources_are_there(w, err);
	return r < 0 ? r : owners_are_there(w, err);
}
