#include "alm/cli/app/install_wait.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/cli/app/overview.h"
#include "alm/cli/app/rights.h"
#include "alm/cli/nearest.h"
#include "alm/cli/term.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

#define LOOK_NS           (NS_PER_S / 2)
#define SETTLE_NS         (20 * NS_PER_S)
#define TEXT_BYTES_MAX    ((size_t)1 << 20)
#define VERSIONS_TOLD_MAX 10

#define APPS       "/apis/app.coreos.com/v1beta1/apps"
#define STRATEGIES "/apis/opinstaller.coreos.com/v1beta1/installstrategies"
#define CATALOGS   "/apis/app.coreos.com/v1alpha1/catalogs"

static bool is_over(struct session *s, int64_t end_ns)
{
	return loop_mono(session_loop(s)) >= end_ns;
}

/* --- the catalog --- */

static int no_catalog(struct cli *c, struct session *s, const char *name, struct error *err)
{
	const struct obj *list = NULL;
	if (session_get(s, CATALOGS, &list, err) < 0)
		return -err->code;
	return error_set(err, E_NOTFOUND,
			 "there is no catalog %s%s; `alm catalog add %s URL` "
			 "makes one",
			 name, nearest_object_hint(name, list, c->arena), name);
}

int install_wait_catalog(struct cli *c, struct session *s, const char *name, int64_t end_ns,
			 const struct obj **ret, struct error *err)
{
	const char *target =
		arena_fmt(c->arena, CATALOGS "/%s", url_encode(str_of(name), c->arena));
	struct condition synced = {0};
	for (;;) {
		int r = session_get(s, target, ret, err);
		if (r == -E_NOTFOUND)
			return no_catalog(c, s, name, err);
		if (r < 0)
			return r;
		if (obj_path(*ret, "status.digest")) /* an older revision is good, too */
			return 0;
		if (condition_get(*ret, "Synced", &synced) && cstr_eq(synced.status, "False"))
			return error_set(err, E_UNAVAILABLE, "catalog %s cannot be read: %s: %s",
					 name, synced.reason, synced.message);
		if (is_over(s, end_ns))
			return error_set(err, E_TIMEOUT,
					 "catalog %s was not read yet; `alm status` tells more",
					 name);
		(void)session_run(s, LOOK_NS);
	}
}

/* --- the app --- */

static int read_app(const struct install_wait *w, const struct obj **ret, struct error *err)
{
	return session_get(w->s, arena_fmt(w->c->arena, APPS "/%s", meta_name(w->app)), ret, err);
}

/* What it waits for, as `alm status APP` has it; owned. */
static int read_waits(const struct install_wait *w, struct obj **ret, struct error *err)
{
	struct overview_input in = {.only = meta_name(w->app)};
	if (session_get(w->s, APPS, &in.apps, err) < 0 ||
	    session_get(w->s, STRATEGIES, &in.strategies, err) < 0 ||
	    session_get(w->s, CATALOGS, &in.catalogs, err) < 0)
		return -err->code;
	*ret = overview_new(&in, w->c->arena);
	return 0;
}

static const struct obj *first_wait(const struct obj *overview, const char *what)
{
	const struct obj *waits = obj_get(obj_at(obj_get(overview, "apps"), 0), "waits");
	for (size_t i = 0; i < obj_len(waits); i++)
		if (cstr_eq(obj_str(obj_at(waits, i), "what"), what))
			return obj_at(waits, i);
	return NULL;
}

static void print_waits(const struct install_wait *w, const struct obj *overview)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	overview_print(overview, w->c->arena, &b);
	term_lines(strbuf_str(&b));
	w->c->exit_code = error_exit(E_REFUSED);
}

/* Nothing was installed: whoever typed it wrong types it again. */
static int take_back(const struct install_wait *w, struct error *err)
{
	struct error why = ERROR_INIT;
	struct session_reply reply;
	CLEANUP(obj_unrefp) struct obj *options = obj_map();
	obj_set_path(options, "preconditions", obj_map());
	obj_set_path(options, "preconditions.uid", obj_string(meta_uid(w->app)));
	struct session_request q = {.method = "DELETE",
				    .target = arena_fmt(w->c->arena, APPS "/%s", meta_name(w->app)),
				    .body = options};
	if (session_send(w->s, &q, &reply, &why) < 0)
		return error_wrap(err, "apptype %s stays (%s)", meta_name(w->app), why.msg);
	term_print("apptype.app.coreos.com/%s deleted, as nothing of it can be installed\n",
		   meta_name(w->app));
	return -err->code;
}

/* Nothing that the user may type makes one of them fit: spec.version alone keeps all away. */
static bool is_typed_wrong(const struct obj *candidates)
{
	for (size_t i = 0; i < obj_len(candidates); i++) {
		const char *reason = obj_str(obj_at(candidates, i), "reason");
		if (!cstr_eq(reason, "OutOfRange") && !cstr_eq(reason, "Prerelease"))
			return false;
	}
	return true;
}

static const char *versions_text(const struct obj *app, struct arena *a)
{
	const struct obj *list = obj_path(app, "status.candidates");
	int64_t more = obj_i64(app, "status.candidatesOmitted", 0);
	const char *text = "";
	size_t i = 0;
	for (; i < obj_len(list) && i < VERSIONS_TOLD_MAX; i++)
		text = arena_fmt(a, "%s%s%s", text, i ? ", " : "",
				 obj_str(obj_at(list, i), "version"));
	more += (int64_t)(obj_len(list) - i);
	return more ? arena_fmt(a, "%s and %lld more", text, (long long)more) : text;
}

static int no_version(const struct install_wait *w, const struct obj *app, struct error *err)
{
	const char *range = obj_str(app, "spec.version");
	return error_set(err, E_NOTFOUND, "%s/%s has no version %s; it has %s", w->catalog,
			 w->package, range && *range ? range : "that is no pre-release",
			 versions_text(app, w->c->arena));
}

/* > 0: resolved; 0: not known yet. */
static int judge_resolved(struct install_wait *w, const struct obj *app, struct error *err)
{
	struct condition c;
	if (!condition_get(app, "Resolved", &c) || cstr_eq(c.status, "Unknown"))
		return 0;
	if (cstr_eq(c.status, "True"))
		return 1;
	if (cstr_eq(c.reason, "NoPackage")) {
		error_set(err, E_NOTFOUND, "%s", c.message);
		return take_back(w, err);
	}
	const struct obj *candidates = obj_path(app, "status.candidates");
	if (!cstr_eq(c.reason, "NoCandidate") || !is_typed_wrong(candidates))
		return 1; /* something else keeps it away: told with the rest */
	if (obj_len(candidates))
		no_version(w, app, err);
	else
		error_set(err, E_INVALID, "%s", c.message);
	return take_back(w, err);
}

static bool is_installed(const struct obj *app)
{
	struct condition c;
	return condition_get(app, "Ready", &c) && cstr_eq(c.status, "True") &&
	       obj_path(app, "status.installedVersion");
}

static int apply_one(const struct install_wait *w, const struct obj *o, struct error *err)
{
	struct resource r;
	struct session_reply reply;
	if (session_kind(w->s, o, &r, err) < 0)
		return -err->code;
	struct session_request q = {.method = "PATCH",
				    .target = session_target(w->s, &r, meta_namespace(o),
							     meta_name(o),
							     "fieldManager=alm-cli&force=true"),
				    .content_type = APPLY_PATCH,
				    .body = o};
	if (session_send(w->s, &q, &reply, err) < 0)
		return error_wrap(err, "%s %s", meta_kind(o), meta_name(o));
	term_print("%s.%s/%s applied\n", r.plural, r.group, meta_name(o));
	return 0;
}

/* A namespace that was there before is used only if it says so; > 0: it says so. */
static int mark_namespace(struct install_wait *w, struct error *err)
{
	struct arena *a = w->c->arena;
	const char *name = meta_name(w->app), *ns = obj_str(w->app, "spec.installNamespace");
	const char *target = arena_fmt(a, "/api/v1/namespaces/%s", ns ? ns : name);
	const struct obj *o = NULL;
	struct session_reply reply;
	w->has_namespace = true;
	if (session_get(w->s, target, &o, err) < 0)
		return -err->code;
	const char *old = meta_annotation(o, ANNOTATION_APPS);
	CLEANUP(obj_unrefp) struct obj *patch = obj_map();
	obj_set(patch, "metadata", obj_map());
	obj_set_path(patch, "metadata.annotations", obj_map());
	obj_set_path(patch, "metadata.resourceVersion", obj_string(meta_resource_version(o)));
	obj_set_str(obj_get_mut(obj_get_mut(patch, "metadata"), "annotations"), ANNOTATION_APPS,
		    old && *old ? arena_fmt(a, "%s,%s", old, name) : name);
	struct session_request q = {.method = "PATCH",
				    .target = arena_fmt(a, "%s?fieldManager=alm-cli", target),
				    .content_type = MERGE_PATCH,
				    .body = patch};
	if (session_send(w->s, &q, &reply, err) < 0)
		return -err->code;
	term_print("namespace/%s annotated: " ANNOTATION_APPS " names %s\n", ns ? ns : name, name);
	return 1;
}

/* What `alm rbac APP | kubectl apply -f -` does, with the rights of the user. */
static int give_rights(struct install_wait *w, const struct obj *list, struct error *err)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (apply_one(w, obj_at(list, i), err) < 0)
			return -err->code;
	w->has_rights = true;
	return 1;
}

/* > 0: something was given; 0: there is nothing more to give. The namespace comes first: without it
 * there is no plan of whose rights to speak. */
static int grant(struct install_wait *w, struct error *err)
{
	struct app_session a = {.session = w->s};
	struct error none = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *list = NULL;
	if (w->has_rights)
		return 0;
	if (read_app(w, &a.app, err) < 0 || session_get(w->s, STRATEGIES, &a.strategies, err) < 0)
		return error_wrap(err, "--grant");
	int r = rights_manifests(w->c, &a, NULL, &list, &none);
	if (r >= 0)
		r = give_rights(w, list, &none);
	else if (r == -E_NOTFOUND) /* no plan; what give_rights() does not find is told */
		r = w->has_namespace ? 0 : mark_namespace(w, &none);
	if (r >= 0)
		return r;
	error_copy(err, &none);
	return error_wrap(err, "--grant");
}

/* What was given is not seen at once. */
static bool is_settling(const struct install_wait *w)
{
	return loop_mono(session_loop(w->s)) < w->settled_ns;
}

/* > 0: nobody but a person brings it on, and that was told. */
static int judge_waits(struct install_wait *w, struct error *err)
{
	static const char *const resting[] = {"blocked", "approval", "failed"};
	CLEANUP(obj_unrefp) struct obj *overview = NULL;
	if (read_waits(w, &overview, err) < 0)
		return -err->code;
	for (size_t i = 0; i < ARRAY_LEN(resting); i++) {
		const struct obj *found = first_wait(overview, resting[i]);
		if (!found)
			continue;
		bool forbidden = w->grant && cstr_eq(obj_str(found, "reason"), "Forbidden");
		int r = forbidden && !is_settling(w) ? grant(w, err) : 0;
		if (r < 0)
			return r;
		if (r > 0)
			w->settled_ns = loop_mono(session_loop(w->s)) + SETTLE_NS;
		if (r > 0 || (forbidden && is_settling(w)))
			return 0;
		print_waits(w, overview);
		return 1;
	}
	return 0;
}

static int timed_out(struct install_wait *w, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *overview = NULL;
	if (read_waits(w, &overview, err) < 0)
		return -err->code;
	print_waits(w, overview);
	return error_set(err, E_TIMEOUT, "%s is not installed yet", meta_name(w->app));
}

/* One look; > 0: that was the last. before: as it was seen last. */
static int look(struct install_wait *w, char before[64], struct error *err)
{
	const struct obj *app = NULL;
	if (read_app(w, &app, err) < 0)
		return -err->code;
	int r = judge_resolved(w, app, err);
	if (r <= 0)
		return r;
	const char *ns = obj_str(app, "spec.installNamespace");
	if (is_installed(app)) {
		term_print("%s %s is installed in namespace %s\n", meta_name(app),
			   obj_str(app, "status.installedVersion"), ns ? ns : meta_name(app));
		return 1;
	}
	const char *version = meta_resource_version(app);
	bool again = w->settled_ns != 0;
	if (!is_settling(w)) /* a last time after it */
		w->settled_ns = 0;
	if (cstr_eq(version, before) && !again)
		return 0;
	before[0] = 0;
	if (version && strlen(version) < 64)
		memcpy(before, version, strlen(version) + 1);
	r = judge_waits(w, err);
	return r == 0 && !w->wait ? 1 : r;
}

int install_wait_app(struct install_wait *w, struct error *err)
{
	char before[64] = "";
	for (;;) {
		int r = look(w, before, err);
		if (r != 0)
			return r < 0 ? r : 0;
		if (is_over(w->s, w->end_ns))
			return w->wait ? timed_out(w, err) : 0;
		(void)session_run(w->s, LOOK_NS);
	}
}
