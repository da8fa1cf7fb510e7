/* apiserver: see apiserver.h. The order of one request stands in handle_request(). */
#include "alm/apiserver/apiserver.h"

#include <stdarg.h>
#include <string.h>

#include "alm/apiserver/admission/hooks.h"
#include "alm/apiserver/admission/mutating_policies.h"
#include "alm/apiserver/admission/policies.h"
#include "alm/apiserver/admission/priority.h"
#include "alm/apiserver/auth/issuer.h"
#include "alm/apiserver/auth/rbac.h"
#include "alm/apiserver/auth/refusals.h"
#include "alm/apiserver/collection.h"
#include "alm/apiserver/converting.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/health.h"
#include "alm/apiserver/kinds/namespaces.h"
#include "alm/apiserver/kinds/services.h"
#include "alm/apiserver/kinds/virtual.h"
#include "alm/apiserver/loops/definitions.h"
#include "alm/apiserver/loops/engine.h"
#include "alm/apiserver/loops/eventttl.h"
#include "alm/apiserver/loops/gc.h"
#include "alm/apiserver/loops/quota_status.h"
#include "alm/apiserver/loops/simulate.h"
#include "alm/apiserver/options.h"
#include "alm/apiserver/registry.h"
#include "alm/apiserver/resource_quotas.h"
#include "alm/apiserver/route.h"
#include "alm/apiserver/status.h"
#include "alm/apiserver/store/hub.h"
#include "alm/apiserver/store/objects_check.h"
#include "alm/apiserver/waiting.h"
#include "alm/apiserver/wire/negotiate.h"
#include "alm/audit/export.h"
#include "alm/audit/tiles.h"
#include "alm/base/clock.h"
#include "alm/base/pool.h"
#include "alm/obj/json.h"
#include "alm/obj/schema/api_types.h"

#define BOOTSTRAP_MAX      1000
#define SERVER_ARENA_BYTES ((size_t)4 << 20)
#define TRIM_BODY_BYTES    ((size_t)128 << 10)
#define TRIM_PAGES         ((size_t)256) /* free ones: 1 MiB */
#define TRIM_AFTER_NS      NS_PER_S

static int negotiate(struct request *r, struct error *err)
{
	bool watch = cstr_eq(r->verb, "watch");
	const char *api_version = kind_api_version(r->kind, r->arena);
	bool has_type =
		!(r->kind->flags & KIND_CUSTOM) && api_type_of_kind(api_version, r->kind->kind);
	if (negotiate_accept(request_header(r, "Accept"), watch, has_type, &r->accept, err) < 0)
		return -err->code;
	const char *include = request_query(r, "includeObject");
	if (cstr_eq(include, "None"))
		r->accept.include = INCLUDE_NONE;
	else if (cstr_eq(include, "Object"))
		r->accept.include = INCLUDE_OBJECT;
	return 0;
}

static bool is_write(const struct request *r)
{
	return !cstr_eq(r->verb, "get") && !cstr_eq(r->verb, "list") && !cstr_eq(r->verb, "watch");
}

static enum disk_use disk_use(const struct request *r)
{
	bool is_delete = cstr_has_prefix(r->verb, "delete");
	if (r->by_admin && !cstr_eq(r->verb, "create"))
		return DISK_REPAIR;
	return is_delete ? DISK_DELETE : DISK_WRITE;
}

static void gauges(struct apiserver *s)
{
	size_t n = 0;
	for (size_t i = 0; i < store_n_resources(s->store); i++)
		n += store_resource_at(s->store, i)->n_heads;
	metric_set(metrics_gauge(s->metrics, "alm_api_objects", "Objects in the store.", NULL),
		   (int64_t)n);
	metric_set(metrics_gauge(s->metrics, "alm_api_revision", "Newest revision.", NULL),
		   store_rv(s->store));
	metric_set(metrics_gauge(s->metrics, "alm_api_watches", "Open watches.", NULL),
		   (int64_t)hub_n_watchers(s->hub));
}

/* The log was rolled back: until the gap is accepted nothing is written. */
static bool is_read_only(const struct apiserver *s)
{
	return s->audit && audit_read_only(s->audit);
}

static void reply_health(struct apiserver *s, struct request *r)
{
	const struct health_check checks[] = {
		{.name = "ping", .ok = true},
		{.name = "store", .ok = !db_is_broken(s->config.db), .ready_only = true},
		{.name = "audit",
		 .ok = !store_is_failing(s->store) && !is_read_only(s),
		 .ready_only = true},
		{.name = "audit-objects",
		 .ok = objects_check_ok(s->objects_check),
		 .ready_only = true,
		 .note = objects_check_text(s->objects_check)},
		{.name = "disk", .ok = !disk_watch_is_full(s->config.disk), .ready_only = true},
		{.name = "wal",
		 .ok = true,
		 .ready_only = true,
		 .note = disk_watch_wal(s->config.disk)},
	};
	health_handle(r, checks, ARRAY_LEN(checks));
}

#define AUDIT_PREFIX      "/audit/"
#define EXPORT_FORMAT_MAX 32

/* `alm audit export` reads the log beside the server, which alone can write to it. */
static int note_export(struct apiserver *s, struct request *r, struct error *err)
{
	struct obj *body = NULL;
	if (json_parse(r->exchange->request->body, &body, err) < 0)
		return -err->code;
	obj_keep(r->arena, body);
	const char *origin = obj_str(body, "origin"), *format = obj_str(body, "format");
	if (!cstr_eq(origin, audit_origin(s->audit)) || !format ||
	    strlen(format) > EXPORT_FORMAT_MAX)
		return error_set(err, E_BADREQUEST, "want origin, of this log, and format");
	if (export_note(s->audit, format, obj_i64(body, "fromSeq", 1), r->user.name, err) < 0)
		return -err->code;
	request_reply(r, 200, "application/json", STR("{}"));
	return 0;
}

/* The log as files (alm/audit/tiles.h). */
static int audit_files_handle(struct apiserver *s, struct request *r, struct error *err)
{
	struct tiles_answer a;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TILES_BYTES_MAX);
	if (cstr_eq(r->path, AUDIT_PREFIX "exported") && cstr_eq(r->verb, "post"))
		return note_export(s, r, err);
	if (!cstr_eq(r->verb, "get"))
		return fail_method(r, r->verb, err);
	if (tiles_read(s->config.db, r->path + strlen(AUDIT_PREFIX), &b, &a, err) < 0) {
		if (err->code != E_NOTFOUND)
			return -err->code;
		request_reply_no_page(r);
		return 0;
	}
	if (a.is_fixed)
		request_set_header(r, "Cache-Control", "private, max-age=31536000, immutable");
	request_reply(r, 200, a.content_type, strbuf_str(&b));
	return 0;
}

/* There is no such path. Of the groups that are built in it is a Status, as upstream. */
static int no_resource(struct request *r, struct error *err)
{
	if (!kinds_has_builtin_group(r->group)) {
		request_reply_no_page(r);
		return 0;
	}
	int rc = fail_code(r, E_NOTFOUND, err, "the server could not find the requested resource");
	r->failure.details = true;
	return rc;
}

/* Of one who may. */
static int answer(struct apiserver *s, struct request *r, struct error *err)
{
	if (!r->is_resource) {
		if (!api_docs_handle(s->discovery, r))
			request_reply_no_page(r);
		return 0;
	}
	if (r->wrong_method)
		return fail_method(r, r->verb, err);
	if (!r->kind)
		return no_resource(r, err);
	if (negotiate(r, err) < 0)
		return -err->code;
	if (is_write(r) && db_is_broken(s->config.db))
		return error_set(err, E_UNAVAILABLE,
				 "the store cannot be written since its disk failed or was full; "
				 "make room, then start alm again");
	if (is_write(r) && is_read_only(s) && !(r->kind->flags & KIND_VIRTUAL)) {
		r->failure.no_retry = true;
		return error_set(err, E_UNAVAILABLE, "%s", audit_read_only(s->audit));
	}
	/* As etcd without room: what is there is read and deleted. */
	const char *full = is_write(r) && !(r->kind->flags & KIND_VIRTUAL)
				   ? disk_watch_refuses(s->config.disk, disk_use(r))
				   : NULL;
	return full ? error_set(err, E_UNAVAILABLE, "%s", full) : registry_handle(r, err);
}

/* Of one that was admitted the route is looked for again: kinds may have come and gone since. */
static int handle_request(struct apiserver *s, struct request *r, struct error *err)
{
	if (route_parse(r, err) < 0)
		return -err->code;
	if (health_is_path(r->path)) {
		reply_health(s, r);
		return 0;
	}
	if (options_timeout(r, err) < 0)
		return -err->code;
	if (s->config.records_only)
		return answer(s, r, err);
	if ((!r->exchange->admitted && auth_authenticate(s->auth, r, err) < 0) ||
	    auth_authorize(s->auth, r, err) < 0)
		return -err->code;
	if (cstr_eq(r->path, "/metrics")) {
		gauges(s);
		health_metrics(r, s->metrics);
		return 0;
	}
	if (cstr_has_prefix(r->path, AUDIT_PREFIX) && s->audit)
		return audit_files_handle(s, r, err);
	if (!r->is_resource && auth_page(s->auth, r))
		return 0;
	return answer(s, r, err);
}

static void trim(void *arg)
{
	struct apiserver *s = arg;
	s->trim_armed = false;
	if (!s->had_large_body && pool_free_pages() < TRIM_PAGES)
		return;
	s->had_large_body = false;
	audit_trim(s->audit);
	obj_forget_keys();
	pool_trim();
}

/* What large objects took is in many small pieces, which the allocator would keep. A small body may
 * have changed a large one. */
static void trim_soon(struct apiserver *s)
{
	if (s->trim_armed)
		return;
	s->trim_armed = true;
	loop_arm(s->loop, &s->trim, TRIM_AFTER_NS);
}

static struct request *request_new(struct apiserver *s, struct exchange *x)
{
	struct request *r = ARENA_NEW(x->arena, struct request);
	r->server = s;
	r->exchange = x;
	r->arena = x->arena;
	r->told = ARENA_NEW(x->arena, struct request_told);
	r->path = r->query = "";
	return r;
}

bool apiserver_admit(struct apiserver *s, struct exchange *x, struct server_client *ret)
{
	struct error err = ERROR_INIT;
	if (health_is_path(x->request->path)) {
		apiserver_handle(s, x);
		return false;
	}
	struct request *r = request_new(s, x);
	if (route_parse(r, &err) < 0 || auth_authenticate(s->auth, r, &err) < 0) {
		refusals_add(s->refusals, r, &err);
		request_reply_error(r, &err);
		return false;
	}
	x->admitted = r;
	ret->user = auth_share(r);
	ret->is_admin = r->by_admin;
	return true;
}

int apiserver_asks(struct apiserver *s, struct exchange *x, struct rbac_attributes *ret,
		   const char **ret_version)
{
	struct error err = ERROR_INIT;
	struct request *r = request_new(s, x);
	x->admitted = r;
	if (route_parse(r, &err) < 0) {
		request_reply_error(r, &err);
		return -err.code;
	}
	*ret = auth_attributes(r);
	*ret_version = r->version;
	return 0;
}

void apiserver_refuse(struct exchange *x, const char *user, const struct error *err)
{
	struct error told = *err;
	struct request *r = x->admitted;
	r->user.name = user;
	if (told.code == E_FORBIDDEN)
		(void)auth_forbid(r, &told);
	request_reply_error(r, &told);
}

/* Be it once more (waiting.h). */
static void handle(struct request *r)
{
	struct apiserver *s = r->server;
	struct error err = ERROR_INIT;
	if (!r->fixed.now_ns)
		r->fixed.now_ns = loop_now(s->loop);
	/* After an answer neither r nor its exchange exist: only a failure touches them again. */
	if (handle_request(s, r, &err) == 0 || waiting_park(r))
		return;
	if (!s->config.records_only)
		refusals_add(s->refusals, r, &err);
	request_reply_error(r, &err);
}

void apiserver_handle(struct apiserver *s, struct exchange *x)
{
	if (x->request->body.len >= TRIM_BODY_BYTES)
		s->had_large_body = true;
	trim_soon(s);
	struct request *r = x->admitted ? x->admitted : request_new(s, x);
	handle(r);
}

const char *apiserver_notice(const struct apiserver *s, size_t i)
{
	return i < s->n_notices ? s->notices[i] : NULL;
}

/* Objects outside of the scope of their kind, which no path leads to (an alm of old stored them,
 * or a hand did): they are neither served nor looked at, by collector and definitions either. */
static void set_aside_misplaced(struct apiserver *s, struct store_table *res)
{
	const struct kind *k = kinds_storage(s->kinds, res->group, res->plural);
	for (size_t i = 0; k && i < res->n_heads;) {
		struct head *h = res->heads[i];
		if (kind_fits_namespace(k, h->ns)) {
			i++;
			continue;
		}
		server_notice(s,
			      "%s \"%s\" stands in namespace \"%s\" of the store, but the kind is "
			      "%s: it is left out, its rows are kept",
			      res->plural, h->name, h->ns,
			      *h->ns ? "cluster-scoped" : "namespaced");
		store_set_aside(s->store, h);
	}
}

/* Built-in kinds first: of definitions that stay, custom kinds come into the table. */
static void load_definitions(struct apiserver *s)
{
	for (size_t i = 0; i < store_n_resources(s->store); i++)
		set_aside_misplaced(s, store_resource_at(s->store, i));
	definitions_load(s->crds);
	for (size_t i = 0; i < store_n_resources(s->store); i++)
		set_aside_misplaced(s, store_resource_at(s->store, i));
}

static int bootstrap(struct apiserver *s, struct error *err)
{
	load_definitions(s);
	if (namespaces_load(s->namespaces, err) < 0)
		return -err->code;
	for (size_t i = 0; !is_read_only(s); i++) {
		struct obj *o = priority_bootstrap(i);
		if (!o)
			break;
		if (engine_ensure(s, o, err) < 0)
			return error_wrap(err, "priority classes of the system");
	}
	for (size_t i = 0; i < BOOTSTRAP_MAX && !is_read_only(s); i++) {
		struct obj *o = auth_bootstrap(i);
		if (!o)
			break;
		if (engine_ensure(s, o, err) < 0)
			return error_wrap(err, "default roles");
	}
	issuer_retire_secret(s);
	gc_load(s->gc);
	quota_status_load(s->quota_status);
	if (s->simulate)
		simulate_load(s->simulate);
	store_flush(s->store);
	store_window_clear(s->store);
	s->objects_check = objects_check_new(s);
	return 0;
}

static int start(struct apiserver *s, struct error *err)
{
	bool records_only = s->config.records_only;
	struct store_config sc = {
		.db = s->config.db, .loop = s->loop, .audit = records_only ? NULL : s->audit};
	s->kinds = kinds_new_of(records_only ? VIRTUAL_GROUP : NULL);
	s->refusals = refusals_new(s);
	if (store_open(&sc, &s->store, err) < 0 ||
	    (!records_only && objects_check_begin(s, err) < 0))
		return -err->code;
	if (auth_new(&s->config, s->store, &s->auth, err) < 0)
		return -err->code;
	services_index(s->store);
	s->discovery = api_docs_new();
	/* Definitions listen first: a kind is in discovery before anybody sees it Established. */
	s->crds = definitions_new(s);
	s->virtuals = virtual_new(s);
	s->hub = hub_new(s);
	s->gc = gc_new(s);
	s->policies = policies_new(s);
	s->mutating_policies = mutating_policies_new(s);
	s->hooks = hooks_new(s);
	s->hook_lines = hook_lines_new(s);
	s->waitings = waitings_new(s, handle);
	s->converting = converting_new(s);
	s->collections = collections_new(s);
	s->quotas = quotas_new(s);
	s->quota_status = quota_status_new(s);
	s->namespaces = namespaces_new(s);
	s->event_ttl = event_ttl_new(s);
	if (s->config.simulate_workloads)
		s->simulate = simulate_new(s);
	return records_only ? 0 : bootstrap(s, err);
}

int apiserver_new(const struct apiserver_config *c, struct apiserver **ret, struct error *err)
{
	struct apiserver *s = xcalloc(1, sizeof(*s));
	s->arena = arena_new(SERVER_ARENA_BYTES);
	s->config = *c;
	s->config.ca_pem = arena_strdup(s->arena, c->ca_pem ? c->ca_pem : "");
	s->config.address = arena_strdup(s->arena, c->address ? c->address : "");
	s->loop = c->loop;
	s->audit = c->audit;
	if (!c->metrics)
		s->own_metrics = metrics_new();
	s->metrics = c->metrics ? c->metrics : s->own_metrics;
	s->trim = (struct timer){.fn = trim, .arg = s};
	if (start(s, err) < 0) {
		apiserver_free(s);
		return -err->code;
	}
	*ret = s;
	return 0;
}

void apiserver_free(struct apiserver *s)
{
	if (!s)
		return;
	if (s->store) {
		refusals_flush(s->refusals);
		store_flush(s->store);
	}
	loop_disarm(s->loop, &s->trim);
	objects_check_free(s->objects_check);
	hub_free(s->hub);
	simulate_free(s->simulate);
	virtual_free(s->virtuals);
	event_ttl_free(s->event_ttl);
	namespaces_free(s->namespaces);
	quota_status_free(s->quota_status);
	quotas_free(s->quotas);
	collections_free(s->collections);
	waitings_free(s->waitings);
	converting_free(s->converting);
	hook_lines_free(s->hook_lines);
	hooks_free(s->hooks);
	policies_free(s->policies);
	mutating_policies_free(s->mutating_policies);
	gc_free(s->gc);
	definitions_free(s->crds);
	api_docs_free(s->discovery);
	auth_free(s->auth);
	store_close(s->store);
	kinds_free(s->kinds);
	metrics_free(s->own_metrics);
	refusals_free(s->refusals);
	arena_free(s->arena);
	xfree(s);
}
