#include "alm/live/live_gate.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/io/http.h"
#include "alm/live/live_gate_answer.h"
#include "alm/live/shadow.h"
#include "alm/obj/meta.h"

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

static struct live_gate_found found(const struct live_gate *g)
{
	return (struct live_gate_found){.gate = g->gate,
					.request = g->request,
					.planned = g->planned,
					.before = g->before,
					.took_ns = loop_mono(g->c.loop) - g->started_ns};
}

static void finish(struct live_gate *g, const char *incomplete)
{
	if (incomplete)
		gate_incomplete(g->gate, incomplete, NULL);
	else
		gate_finish(g->gate);
	const struct live_gate_found f = found(g);
	end(g, live_gate_answer(&f), NULL);
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
		const struct live_gate_found f = found(g);
		end(g, live_gate_unreadable(&f, &err), NULL);
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
