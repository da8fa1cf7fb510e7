#include "alm/cli/app/why_source.h"

#include <string.h>

#include "alm/audit/large.h"
#include "alm/audit/log.h"
#include "alm/cli/app/app_session.h"
#include "alm/cli/app/offline_view.h"
#include "alm/cli/app/overview.h"
#include "alm/cli/audit/audit_source.h"
#include "alm/controllers/app/app.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "catalog/resolve/resolve_doc.h"
#include "catalog/resolve/resolve_record.h"

/* --- live --- */

static const char *catalog_revision(struct app_session *a, const struct cli *c)
{
	struct error ignored = ERROR_INIT;
	const struct obj *catalog = NULL;
	const char *name = obj_str(a->app, "status.source.catalog");
	if (!name)
		name = obj_str(a->app, "spec.catalog");
	if (!name)
		return NULL;
	const char *target = arena_fmt(c->arena, "/apis/app.coreos.com/v1alpha1/catalogs/%s", name);
	if (session_get(a->session, target, &catalog, &ignored) < 0)
		return NULL;
	const char *digest = obj_str(catalog, "status.digest");
	return digest ? arena_strdup(c->arena, digest) : NULL;
}

/* The newest resolver's decision that the log has of the app; other decisions are about its
 * strategies. */
static const char *decision(struct app_session *a, const struct cli *c)
{
	struct error ignored = ERROR_INIT;
	const struct obj *list = NULL;
	const char *target = arena_fmt(
		c->arena,
		"/apis/audit.app.coreos.com/v1alpha1/auditrecords?fieldSelector=subject.name%%3D%s"
		"%%2Ctype%%3DDecision",
		meta_name(a->app));
	if (session_get(a->session, target, &list, &ignored) < 0)
		return NULL;
	const struct obj *items = obj_get(list, "items");
	size_t n = obj_len(items);
	return n ? arena_strdup(c->arena, meta_name(obj_at(items, n - 1))) : NULL;
}

static const char *awaiting(const struct app_session *a, const struct cli *c)
{
	const struct obj *list = obj_path(a->app, "status.candidates");
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *version = obj_str(obj_at(list, i), "version");
		const struct obj *s = version ? app_session_strategy(c, a, version) : NULL;
		if (cstr_eq(obj_str(s, "status.phase"), "AwaitingApproval"))
			return arena_strdup(c->arena, version);
	}
	return NULL;
}

/* What holds a version whose candidate says yes: its strategy knows more than the resolver. */
static struct obj *held(const struct app_session *a, struct arena *arena)
{
	static const char *const whats[] = {"blocked", "failed", "stalled", NULL};
	struct obj *list = obj_list(), *apps = obj_map(), *items = obj_list();
	obj_append(items, obj_copy(a->app));
	obj_set(apps, "items", items);
	const struct overview_input in = {.apps = apps, .strategies = a->strategies};
	CLEANUP(obj_unrefp) struct obj *all = overview_new(&in, arena);
	const struct obj *waits = obj_get(obj_at(obj_get(all, "apps"), 0), "waits");
	for (size_t i = 0; i < obj_len(waits); i++) {
		const struct obj *w = obj_at(waits, i);
		const char *version = obj_str(w, "version");
		const struct obj *c = version ? app_session_candidate(a, version) : NULL;
		if (cstr_in(obj_str(w, "what"), whats) && obj_flag(c, "installable", false))
			obj_append(list, obj_copy(w));
	}
	obj_unref(apps);
	return list;
}

const struct obj *why_held(const struct why_facts *f, const char *version)
{
	for (size_t i = 0; i < obj_len(f->held); i++)
		if (cstr_eq(obj_str(obj_at(f->held, i), "version"), version))
			return obj_at(f->held, i);
	return NULL;
}

static int why_live(struct cli *c, const char *app, struct why_facts *ret, struct error *err)
{
	struct app_session a;
	int r = app_session_open(c, app, &a, err);
	if (!r) {
		ret->apptype = obj_keep(c->arena, obj_copy(a.app));
		ret->revision = catalog_revision(&a, c);
		ret->seq = decision(&a, c);
		ret->waiting = awaiting(&a, c);
		ret->held = obj_keep(c->arena, held(&a, c->arena));
	}
	app_session_release(&a);
	return r;
}

/* --- recorded --- */

static const struct obj *inputs_ref(const struct obj *row)
{
	const struct obj *list = obj_path(row, "body.inputs");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		if (cstr_eq(obj_str(o, "name"), "resolve"))
			return obj_get(o, "digest");
	}
	return NULL;
}

/* What the decision read; E_NOTFOUND tells what is missing. */
static int read_record(struct cli *c, struct audit_source *log, const char *app, int64_t seq,
		       const struct obj **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf text =
		STRBUF_INIT(AUDIT_TEXT_PARTS_MAX * AUDIT_BLOB_BYTES_MAX);
	struct obj *row = NULL, *record = NULL;
	if (query_row(log->db, seq, &row, err) < 0)
		return -err->code;
	obj_keep(c->arena, row);
	const char *name = obj_str(row, "subject.name");
	const struct obj *inputs = inputs_ref(row);
	if (!cstr_eq(name, app))
		return error_set(err, E_NOTFOUND, "entry #%lld is about %s, not about %s",
				 (long long)seq, name ? name : "nothing", app);
	if (!inputs)
		return error_set(err, E_NOTFOUND, "entry #%lld is no decision of the resolver",
				 (long long)seq);
	if (log->type == AUDIT_API)
		return error_set(err, E_UNSUPPORTED,
				 "what entry #%lld read is not served by the API; name the folder "
				 "of the log with --data-dir, or an export with --file",
				 (long long)seq);
	if (large_text(log->db, inputs, &text, err) < 0 ||
	    json_parse(strbuf_str(&text), &record, err) < 0)
		return error_wrap(err, "what entry #%lld read", (long long)seq);
	*ret = obj_keep(c->arena, record);
	return 0;
}

static const char *revision_of(const struct obj *record, const char *catalog)
{
	const struct obj *list = obj_get(record, "indexes");
	for (size_t i = 0; catalog && i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "name"), catalog))
			return obj_str(obj_at(list, i), "revision");
	return NULL;
}

/* version: the one asked about, or NULL. Everything lives in the arena of the command. */
static int why_recorded(struct cli *c, const char *app, const char *version, struct why_facts *ret,
			struct error *err)
{
	struct audit_source log;
	const struct obj *record = NULL;
	struct resolve_input in;
	struct resolution r;
	int64_t seq;
	if (cli_int(c, "at", 0, &seq, err) < 0 || audit_source_open(c, &log, err) < 0)
		return -err->code;
	int code = read_record(c, &log, app, seq, &record, err);
	audit_source_release(&log);
	if (code < 0 || resolve_replay(record, c->arena, &in, err) < 0)
		return -err->code;
	if (cli_flag(c, "all"))
		in.evaluate = "*";
	else if (version)
		in.evaluate = version;
	resolve_run(&in, c->arena, &r);
	ret->apptype = obj_keep(c->arena, resolve_doc(&in, &r, version, c->arena));
	ret->revision = revision_of(record, r.catalog);
	ret->seq = arena_fmt(c->arena, "%lld", (long long)seq);
	return 0;
}

/* --- offline --- */

static int why_offline(struct cli *c, const char *app, const char *version, struct why_facts *ret,
		       struct error *err)
{
	struct view *v = NULL;
	struct resolution r;
	if (offline_view_open(c, app, &v, err) < 0)
		return -err->code;
	struct resolve_input in = *app_input(v, app, NULL);
	in.evaluate = cli_flag(c, "all") ? "*" : version;
	resolve_run(&in, c->arena, &r);
	ret->apptype = obj_keep(c->arena, resolve_doc(&in, &r, version, c->arena));
	ret->revision = r.catalog_revision;
	ret->offline = true;
	return 0;
}

/* What only files answer. */
static const char *stray_option(const struct cli *c)
{
	static const char *const names[] = {"catalog", "filename", "installed",
					    "range",   "channel",  "kube-version"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (cli_value(c, names[i]))
			return names[i];
	return NULL;
}

int why_facts_read(struct cli *c, const char *app, const char *version, struct why_facts *ret,
		   struct error *err)
{
	*ret = (struct why_facts){0};
	bool at = cli_value(c, "at") != NULL, offline = cli_flag(c, "offline");
	const char *stray = stray_option(c);
	if (at && offline)
		return error_set(err, E_USAGE, "--at reads the audit log, --offline reads files");
	if (stray && !offline)
		return error_set(err, E_USAGE, "--%s needs --offline", stray);
	if (cli_flag(c, "all") && !at && !offline)
		return error_set(err, E_USAGE,
				 "--all needs --at or --offline: a controller looks at no more "
				 "versions than it needs");
	if (offline)
		return why_offline(c, app, version, ret, err);
	if (at)
		return why_recorded(c, app, version, ret, err);
	return why_live(c, app, ret, err);
}
