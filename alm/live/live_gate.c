#include "alm/live/live_gate.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/base/log.h"
#include "alm/io/http.h"
#include "alm/live/shadow.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "catalog/gate/gate_report.h"
#include "catalog/gate/waivers.h"
#include "crds/marks.h"

#define REQUEST_BYTES_MAX ((size_t)16 << 20)
#define RESTARTS_MAX      5
#define PROGRESS_NS       (10 * NS_PER_S)

struct live_gate {
	struct live_gate_config c;
	struct arena *a;
	struct obj *request; /* owned */
	const struct obj *planned;
	struct obj *before, *after; /* owned; before NULL: no such definition */
	char *refused;              /* the server's words */
	struct resource listed;     /* of the objects; texts of before and of the gate */
	struct gate *gate;
	struct shadow *shadow; /* while rules are tried; NULL: none changed, or we may not */
	bool shadow_tried;
	struct client_call *call;
	size_t at;      /* of gate_versions() */
	bool elsewhere; /* the storage version is not served: another one shows the same values */
	unsigned page;
	char *next; /* continue token */
	int restarts;
	struct obj *answer; /* owned: while the shadow is deleted */
	struct error err;
	int64_t started_ns, told_ns;
};

static const struct resource crds = {.group = "apiextensions.k8s.io",
				     .version = "v1",
				     .plural = "customresourcedefinitions",
				     .kind = "CustomResourceDefinition"};

static void list_next(struct live_gate *g);
static void page_done(struct live_gate *g);
static void open_shadow(struct live_gate *g);

void live_gate_free(struct live_gate *g)
{
	if (!g)
		return;
	if (g->call)
		client_cancel(g->c.client, g->call);
	shadow_free(g->shadow);
	gate_free(g->gate);
	obj_unref(g->before);
	obj_unref(g->after);
	obj_unref(g->request);
	obj_unref(g->answer);
	xfree(g->refused);
	xfree(g->next);
	arena_free(g->a);
	xfree(g);
}

static bool is_passing(const struct error *err)
{
	return error_retry(err->code) != RETRY_NEVER && err->code != E_FORBIDDEN;
}

static void shadow_gone(void *arg)
{
	struct live_gate *g = arg;
	g->shadow = NULL;
	live_gate_done done = g->c.done;
	void *to = g->c.arg;
	struct obj *value = STEAL(g->answer);
	struct error err = g->err;
	live_gate_free(g);
	done(to, value, err.code ? &err : NULL);
}

static void end(struct live_gate *g, struct obj *value, const struct error *err)
{
	if (g->shadow) { /* first the temporary definition is deleted */
		g->answer = value;
		g->err = err ? *err : ERROR_INIT;
		shadow_close(g->shadow);
		return;
	}
	live_gate_done done = g->c.done;
	void *arg = g->c.arg;
	struct error own = err ? *err : ERROR_INIT;
	live_gate_free(g);
	done(arg, value, err ? &own : NULL);
}

/* --- the answer --- */

static const char *const words[] = {"allow", "warn", "refuse"};

/* What a waiver of this rule and resource is about, had it named the path. */
static const char *path_missing(const struct live_gate *g, const struct obj *waiver)
{
	const char *path = obj_str(waiver, "path");
	for (size_t i = 0; (!path || !*path) && i < gate_count(g->gate); i++) {
		const struct gate_finding *f = gate_finding(g->gate, i);
		if (cstr_eq(f->rule, obj_str(waiver, "rule")) &&
		    cstr_eq(f->resource, obj_str(waiver, "resource")) &&
		    gate_waivable(g->gate, f) == WAIVE_PATH)
			return f->path;
	}
	return NULL;
}

/* "FieldRemoved etcds.etcd.coreos.com/v1 matches nothing" */
static struct obj *unused_waivers(const struct live_gate *g)
{
	const size_t *unused;
	struct obj *list = obj_list();
	size_t n = gate_unused_waivers(g->gate, &unused);
	const struct obj *waivers = obj_get(g->request, "waivers");
	const char *crd = meta_name(g->planned);
	for (size_t i = 0; i < n; i++) {
		const struct obj *w = obj_at(waivers, unused[i]);
		const char *rule = obj_str(w, "rule"), *resource = obj_str(w, "resource");
		const char *missing = path_missing(g, w);
		if (rule && resource && strncmp(resource, crd, strlen(crd)) == 0)
			obj_append(list, obj_stringf("%s %s %s%s", rule, resource,
						     missing ? "needs path: " : "matches nothing",
						     missing ? missing : ""));
	}
	return list;
}

static struct obj *finding_obj(const struct gate *gate, const struct gate_finding *f)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	struct obj *o = gate_finding_obj(gate, f);
	gate_finding_text(gate, f, &text);
	obj_set_str(o, "message", text.buf);
	return o;
}

static struct obj *findings_of(const struct gate *gate, size_t *ret_omitted)
{
	struct obj *list = obj_list();
	for (int outcome = FINDING_REFUSE; outcome >= FINDING_ALLOW; outcome--)
		for (size_t i = 0; i < gate_count(gate); i++)
			if ((int)gate_finding(gate, i)->outcome == outcome &&
			    obj_len(list) < LIVE_GATE_FINDINGS_MAX)
				obj_append(list, finding_obj(gate, gate_finding(gate, i)));
	*ret_omitted = gate_count(gate) - obj_len(list);
	return list;
}

/* What waivers.h asks for: all of them, where the list of findings has the first only. */
static struct obj *refusals_of(const struct gate *gate, size_t *ret_omitted)
{
	struct obj *list = obj_list();
	*ret_omitted = 0;
	for (size_t i = 0; i < gate_count(gate); i++) {
		const struct gate_finding *f = gate_finding(gate, i);
		enum gate_waivable by = gate_waivable(gate, f);
		if (f->outcome != FINDING_REFUSE)
			continue;
		if (obj_len(list) == WAIVERS_MAX) {
			++*ret_omitted;
			continue;
		}
		struct obj *o = obj_map();
		obj_set_str(o, "rule", f->rule);
		obj_set_str(o, "resource", f->resource);
		obj_set_str(o, "path", by == WAIVE_RESOURCE ? NULL : f->path);
		obj_set_int(o, "affected", (int64_t)f->n_affected);
		obj_set_int(o, "seen", (int64_t)gate_objects_seen(gate));
		obj_set_str(o, "remedy", *f->remedy ? f->remedy : NULL);
		obj_set_bool(o, "waivable", by != WAIVE_NEVER);
		obj_set_str(o, "command", f->command);
		obj_append(list, o);
	}
	return list;
}

/* It came to be since the plan was made, and is somebody else's. */
static bool is_taken(const struct live_gate *g)
{
	const char *owner = obj_str(g->request, "owner");
	const char *mark = meta_annotation(g->before, ANNOTATION_OWNER);
	return owner && g->before && !cstr_eq(mark, owner) && !cstr_eq(mark, OWNER_ANYBODY);
}

static struct obj *value_of(const struct live_gate *g)
{
	size_t omitted, unlisted;
	struct obj *o = obj_map(), *findings = findings_of(g->gate, &omitted);
	struct obj *refusals = refusals_of(g->gate, &unlisted);
	int64_t took_ns = loop_mono(g->c.loop) - g->started_ns;
	obj_set_str(o, "crd", meta_name(g->planned));
	obj_set_str(o, "inputs", obj_str(g->request, "inputs"));
	obj_set_int(o, "objectsVersion", obj_i64(g->request, "objectsVersion", 0));
	obj_set_str(o, "outcome", words[gate_outcome(g->gate)]);
	if (gate_outcome(g->gate) == FINDING_REFUSE)
		obj_set_str(o, "text", obj_str(obj_at(findings, 0), "message"));
	obj_set(o, "findings", findings);
	obj_set_int(o, "omitted", (int64_t)omitted);
	obj_set(o, "refusals", refusals);
	obj_set_int(o, "refusalsOmitted", (int64_t)unlisted);
	obj_set(o, "unusedWaivers", unused_waivers(g));
	obj_set_int(o, "objects", (int64_t)gate_objects_seen(g->gate));
	obj_set_str(o, "resourceVersion", meta_resource_version(g->before));
	obj_set_str(o, "uid", meta_uid(g->before));
	if (is_taken(g))
		obj_set_bool(o, "taken", true);
	obj_set_int(o, "durationMs", took_ns / NS_PER_MS);
	return o;
}

static void finish(struct live_gate *g, const char *incomplete)
{
	if (incomplete)
		gate_incomplete(g->gate, incomplete, NULL);
	else
		gate_finish(g->gate);
	end(g, value_of(g), NULL);
}

/* --- the gate --- */

static const char *const *strings(const struct obj *list, struct arena *a, size_t *ret_n)
{
	const char **names = ARENA_ARRAY(a, const char *, obj_len(list) + 1);
	*ret_n = 0;
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_as_string(obj_at(list, i)))
			names[(*ret_n)++] = obj_as_string(obj_at(list, i));
	return names;
}

static const struct gate_waiver *waivers_of(const struct obj *list, struct arena *a)
{
	struct gate_waiver *w = ARENA_ARRAY(a, struct gate_waiver, obj_len(list) + 1);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		w[i] = (struct gate_waiver){.rule = obj_str(o, "rule"),
					    .resource = obj_str(o, "resource"),
					    .path = obj_str(o, "path"),
					    .reason = obj_str(o, "reason"),
					    .expires_ns = obj_i64(o, "expiresNs", 0)};
	}
	return w;
}

/* A schema that this gate cannot read is refused, never waved through. */
static struct obj *unreadable(const struct live_gate *g, const struct error *err)
{
	struct obj *o = obj_map(), *list = obj_list(), *f = obj_map();
	const char *name = meta_name(g->planned);
	obj_set_str(f, "rule", "KeywordUnknown");
	obj_set_str(f, "resource", name);
	obj_set_str(f, "after", err->msg);
	obj_set_str(f, "outcome", "refuse");
	obj_set(f, "message", obj_stringf("KeywordUnknown %s: %s", name, err->msg));
	obj_set_str(o, "crd", name);
	obj_set_str(o, "inputs", obj_str(g->request, "inputs"));
	obj_set_int(o, "objectsVersion", obj_i64(g->request, "objectsVersion", 0));
	obj_set_str(o, "outcome", "refuse");
	obj_set_str(o, "text", obj_str(f, "message"));
	obj_append(list, f);
	obj_set(o, "findings", list);
	obj_set(o, "refusals", obj_copy(list)); /* no waiver covers what nobody can read */
	obj_set_str(o, "resourceVersion", meta_resource_version(g->before));
	return o;
}

static void begin(struct live_gate *g)
{
	struct error err = ERROR_INIT;
	const struct obj *q = g->request;
	struct gate_input in = {.before = g->before,
				.after = g->after ? g->after : g->planned,
				.waivers = waivers_of(obj_get(q, "waivers"), g->a),
				.n_waivers = obj_len(obj_get(q, "waivers")),
				.now_ns = loop_now(g->c.loop),
				.server_refused = g->refused};
	in.managed_before = strings(obj_get(q, "managedBefore"), g->a, &in.n_managed_before);
	in.managed_after = strings(obj_get(q, "managedAfter"), g->a, &in.n_managed_after);
	gate_free(g->gate);
	g->gate = NULL;
	g->at = 0;
	xfree(g->next);
	g->next = NULL;
	int rc = gate_begin(&in, &g->gate, &err);
	if (rc < 0 && g->refused) { /* what the server cannot read either: its words are enough */
		in.before = NULL;
		rc = gate_begin(&in, &g->gate, &err);
	}
	if (rc < 0) {
		struct obj *value = unreadable(g, &err);
		end(g, value, NULL);
		return;
	}
	open_shadow(g);
}

/* --- rules: a server evaluates them --- */

static void shadow_ready(void *arg, bool usable)
{
	struct live_gate *g = arg;
	if (!usable) {
		shadow_free(g->shadow);
		g->shadow = NULL; /* the evaluator here has to do */
	}
	list_next(g);
}

static void shadow_verdict(void *arg, const struct obj *o, const char *version, const char *message)
{
	struct live_gate *g = arg;
	gate_shadow(g->gate, o, version, message);
}

static void shadow_checked(void *arg, const struct error *err)
{
	struct live_gate *g = arg;
	if (err)
		end(g, NULL, err);
	else
		page_done(g);
}

static void open_shadow(struct live_gate *g)
{
	struct shadow_config c = {.client = g->c.client,
				  .crd = g->after,
				  .ready = shadow_ready,
				  .verdict = shadow_verdict,
				  .checked = shadow_checked,
				  .closed = shadow_gone,
				  .arg = g};
	const struct obj *versions = obj_path(g->after, "spec.versions");
	size_t n = 0;
	for (size_t i = 0; i < obj_len(versions) && n + 1 < SHADOW_VERSIONS_MAX; i++) {
		const char *name = obj_str(obj_at(versions, i), "name");
		if (name && gate_wants_shadow(g->gate, name))
			c.versions[n++] = name;
	}
	if (n && g->before && !g->shadow_tried) {
		g->shadow_tried = true;
		g->shadow = shadow_new(&c);
	} else {
		list_next(g);
	}
}

/* --- objects, page by page --- */

static const char *progress_text(const struct live_gate *g, const char *why, char buf[320])
{
	snprintf(buf, 320, "%zu objects read, then %.200s", gate_objects_seen(g->gate), why);
	return buf;
}

static void restart(struct live_gate *g, const struct error *err)
{
	char buf[320];
	if (++g->restarts > RESTARTS_MAX)
		finish(g, progress_text(g, err->msg, buf));
	else
		begin(g);
}

/* Strategy None shows the same values through every version. */
static bool read_elsewhere(struct live_gate *g)
{
	const struct obj *versions = obj_path(g->before, "spec.versions");
	for (size_t i = 0; !g->elsewhere && i < obj_len(versions); i++)
		if (obj_flag(obj_at(versions, i), "served", false)) {
			g->listed.version = obj_str(obj_at(versions, i), "name");
			g->elsewhere = true;
			return true;
		}
	return false;
}

static void list_failed(struct live_gate *g, const struct error *err)
{
	char buf[320];
	if (err->code == E_EXPIRED)
		restart(g, err);
	else if ((err->code == E_LIMIT || err->code == E_TOOLARGE) && g->page > 1) {
		g->page /= 2;
		list_next(g);
	} else if (err->code == E_NOTFOUND && read_elsewhere(g))
		list_next(g);
	else if (is_passing(err))
		end(g, NULL, err);
	else
		finish(g, progress_text(g, err->msg, buf));
}

static void tell_progress(struct live_gate *g, const struct obj *page)
{
	int64_t now = loop_mono(g->c.loop);
	if (now - g->told_ns < PROGRESS_NS)
		return;
	char seen[32], left[32];
	g->told_ns = now;
	snprintf(seen, sizeof(seen), "%zu", gate_objects_seen(g->gate));
	snprintf(left, sizeof(left), "%lld",
		 (long long)obj_i64(page, "metadata.remainingItemCount", 0));
	log_info("live check", "crd", meta_name(g->planned), "read", seen, "left", left);
}

static bool is_late(const struct live_gate *g)
{
	return loop_mono(g->c.loop) - g->started_ns > g->c.deadline_ns;
}

static void page_read(void *arg, const struct client_reply *reply)
{
	struct live_gate *g = arg;
	const char *const *through;
	g->call = NULL;
	if (reply->err) {
		list_failed(g, reply->err);
		return;
	}
	size_t n = gate_versions(g->gate, &through);
	const struct obj *items = obj_get(reply->body, "items");
	const char *version = through[g->at];
	const char *next = obj_str(reply->body, "metadata.continue");
	xfree(g->next);
	g->next = next && *next ? xstrdup(next) : NULL;
	bool ahead = g->next && !g->shadow && !is_late(g);
	if (ahead) /* the server reads the next page while this one is judged */
		list_next(g);
	for (size_t i = 0; i < obj_len(items); i++) {
		gate_object(g->gate, obj_at(items, i), version);
		if (!g->shadow)
			gate_evaluate(g->gate, obj_at(items, i), version);
	}
	tell_progress(g, reply->body);
	if (ahead)
		return;
	if (!g->next)
		g->at++;
	if (g->shadow && obj_len(items))
		shadow_check(g->shadow, items, n > 1 ? version : NULL);
	else
		page_done(g);
}

static void page_done(struct live_gate *g)
{
	char buf[320];
	if (is_late(g))
		finish(g, progress_text(g, "the deadline", buf));
	else
		list_next(g);
}

static void list_next(struct live_gate *g)
{
	const char *const *through;
	size_t n = gate_versions(g->gate, &through);
	if (!g->before || !gate_wants_objects(g->gate) || g->at >= n) {
		finish(g, NULL);
		return;
	}
	g->listed.group = obj_str(g->before, "spec.group");
	g->listed.plural = obj_str(g->before, "spec.names.plural");
	g->listed.kind = obj_str(g->before, "spec.names.kind");
	g->listed.namespaced = cstr_eq(obj_str(g->before, "spec.scope"), "Namespaced");
	if (!g->elsewhere)
		g->listed.version = through[g->at];
	CLEANUP(arena_freep) struct arena *a = arena_new(REQUEST_BYTES_MAX);
	const char *query = arena_fmt(a, "limit=%u", g->page);
	if (g->next)
		query = arena_fmt(a, "%s&continue=%s", query, url_encode(str_of(g->next), a));
	g->call = client_list(g->c.client, &g->listed, NULL, query, page_read, g);
}

/* --- the definition --- */

static void dry_run_done(void *arg, const struct client_reply *reply)
{
	struct live_gate *g = arg;
	g->call = NULL;
	if (reply->err && (is_passing(reply->err) || reply->err->code == E_FORBIDDEN)) {
		end(g, NULL, reply->err);
		return;
	}
	if (reply->err)
		g->refused = xstrdup(reply->err->msg);
	else
		g->after = obj_ref(reply->body);
	begin(g);
}

static void live_read(void *arg, const struct client_reply *reply)
{
	struct live_gate *g = arg;
	g->call = NULL;
	if (reply->err && reply->err->code != E_NOTFOUND) {
		end(g, NULL, reply->err);
		return;
	}
	if (!reply->err)
		g->before = obj_ref(reply->body);
	struct client_options o = {.as = g->c.as, .force = true, .dry_run = true};
	g->call = client_apply(g->c.client, &crds, NULL, meta_name(g->planned), g->planned, &o,
			       dry_run_done, g);
}

struct live_gate *live_gate_start(const struct live_gate_config *c)
{
	struct live_gate *g = xcalloc(1, sizeof(*g));
	g->c = *c;
	g->request = obj_ref(c->request);
	if (!g->c.deadline_ns)
		g->c.deadline_ns = LIVE_GATE_DEADLINE_NS;
	g->a = arena_new(REQUEST_BYTES_MAX);
	g->c.as = c->as ? arena_strdup(g->a, c->as) : NULL;
	g->planned = obj_get(g->request, "crd");
	g->page = LIVE_GATE_PAGE;
	g->started_ns = g->told_ns = loop_mono(c->loop);
	g->call = client_get(c->client, &crds, NULL, meta_name(g->planned), NULL, live_read, g);
	return g;
}

const char *live_gate_key(const struct obj *findings, struct arena *a)
{
	static const char *const members[] = {"rule",   "resource", "path",
					      "before", "after",    "outcome"};
	char hex[SHA256_HEX];
	CLEANUP(obj_unrefp) struct obj *list = obj_list();
	for (size_t i = 0; i < obj_len(findings); i++) {
		struct obj *o = obj_map();
		for (size_t k = 0; k < ARRAY_LEN(members); k++)
			obj_set_str(o, members[k], obj_str(obj_at(findings, i), members[k]));
		obj_append(list, o);
	}
	json_digest(list, hex);
	return arena_fmt(a, "%.16s", hex);
}
