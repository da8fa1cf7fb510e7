/* `alm retry bundle/NAME`, `install/NAME`: another text in its annotation is another request (bundle_asks.h). */
#include "alm/cli/app/retry_bundle.h"

#include "alm/base/clock.h"
#include "alm/cli/app/bundle_ask.h"
#include "alm/cli/term.h"
#include "alm/controllers/app/asks.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

#define INSTALLS     "/apis/store.app.coreos.com/v1/namespaces/" INSTALL_NAMESPACE "/installs/"
#define DIGEST_SHORT 12 /* of the name of an Install (install_of.h) */

static const char *install_of(const struct cli *c)
{
	struct str kind, name;
	const char *first = c->args[0];
	if (cstr_eq(first, "install") || cstr_eq(first, "installs"))
		return c->args[1];
	bool is_one = !c->args[1] && str_cut(str_of(first), '/', &kind, &name) && name.len &&
		      (str_is(kind, "install") || str_is(kind, "installs"));
	return is_one ? name.ptr : NULL;
}

bool retry_bundle_names(const struct cli *c)
{
	const char *name;
	return install_of(c) || bundle_ask_names(c, &name);
}

/* An Install is tried again as what its Bundle rolls out now, if it is that. */
static int open_install(struct cli *c, const char *install, struct bundle_ask *b, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	const struct obj *o;
	if (session_open(c, &s, err) < 0 ||
	    session_get(s, arena_fmt(c->arena, INSTALLS "%s", install), &o, err) < 0)
		return -err->code;
	const char *name = obj_str(o, "spec.bundle");
	if (!name)
		return error_set(err, E_REFUSED, "install %s names no Bundle", install);
	if (bundle_ask_open(c, arena_strdup(c->arena, name), b, err) < 0)
		return -err->code;
	const char *digest = obj_str(b->bundle, "status.revisionDigest");
	const char *newest = arena_fmt(c->arena, "%s.default.%.*s", b->name, DIGEST_SHORT,
				       digest ? digest : "-");
	return cstr_eq(newest, install)
		       ? 0
		       : error_set(err, E_REFUSED,
				   "install %s is not the newest of bundle %s: that is install/%s",
				   install, b->name, newest);
}

bool retry_bundle_rests(const char *state)
{
	static const char *const failures[] = {"Invalid", "SourceFailed", "Blocked",
					       "Stopped", "RolledBack",   NULL};
	return state && cstr_in(state, failures);
}

static int ask(struct bundle_ask *b, struct error *err)
{
	char now[CLOCK_TEXT_MAX];
	const char *reason = cli_value(b->c, "reason");
	const char *state = obj_str(b->bundle, "status.state");
	if (!retry_bundle_rests(state))
		return error_set(err, E_REFUSED,
				 "bundle %s is %s, which is no failure that it rests in: there is "
				 "nothing to try again",
				 b->name, state ? state : "New");
	clock_format(loop_now(session_loop(b->session)), CLOCK_MICROS, now);
	CLEANUP(obj_unrefp) struct obj *patch = obj_map();
	struct obj *annotations = obj_map();
	obj_set_str(annotations, ANNOTATION_RETRY, now);
	obj_set(annotations, ANNOTATION_REASON, reason ? obj_string(reason) : obj_null());
	obj_set(annotations, ANNOTATION_REASON_FOR,
		obj_stringf("%lld", (long long)meta_generation(b->bundle)));
	obj_set_path(patch, "metadata.annotations", annotations);
	if (bundle_ask_patch(b, patch, false, err) < 0)
		return -err->code;
	term_print("bundle.app.coreos.com/%s tries again what is %s%s\n", b->name, state,
		   obj_flag(b->bundle, "spec.paused", false)
			   ? "; it is paused, and goes on once it is not"
			   : "");
	return 0;
}

int retry_bundle(struct cli *c, struct error *err)
{
	struct bundle_ask b = {0};
	const char *name = NULL, *install = install_of(c);
	if (cli_value(c, "output"))
		return error_set(err, E_USAGE, "-o is of an app and its version");
	if (!install)
		(void)bundle_ask_names(c, &name);
	int r = install ? open_install(c, install, &b, err) : bundle_ask_open(c, name, &b, err);
	if (!r)
		r = ask(&b, err);
	bundle_ask_release(&b);
	return r;
}
