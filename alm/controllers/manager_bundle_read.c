/* One reading of a Bundle's source: may it be read, with which credentials; git; the sandbox; and
 * what came is made a unit. */
#include <string.h>

#include "alm/client/git_mirror.h"
#include "alm/controllers/fleet/bundle_accept.h"
#include "alm/controllers/fleet/bundle_make.h"
#include "alm/controllers/fleet/bundle_render.h"
#include "alm/controllers/manager_bundles.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/render/live_input.h"
#include "alm/sources/credentials.h"

#define KEYS_REF "spec.source.git.verify.keysRef"

/* One reading, from its work to its answer. */
struct reading {
	struct arena *a; /* the unit that comes of it lives in it */
	struct obj *bundle;
	struct bundle_spec spec;
	struct client_call *asked; /* ConfigMap of keys, or Secret */
	struct git_keys keys;
	struct bundle_rollout rollout;
	struct git_read *git;
	struct live_input_wants wants;
	struct live_input_read *live;
	struct bundle_input input;
	struct render_call render;
	struct task refuse; /* what cannot be started is told in a later turn */
	struct error err;
	bundle_read_fn done;
	void *arg;
	struct obj *read, *skipped; /* in the arena */
	const char *secret_version; /* of what is sent; "": nothing is */
	bool rewritten, unknown;
	struct bundle_place place;
};

static void reading_free(struct bundle_slot *s)
{
	struct reading *r = STEAL(s->reading);
	struct manager *m = s->b->m;
	if (!r)
		return;
	if (r->asked)
		client_cancel(m->c.client, r->asked);
	live_input_cancel(r->live);
	git_read_cancel(r->git);
	render_job_cancel(&r->render);
	loop_unpost(m->c.loop, &r->refuse);
	obj_unref(r->bundle);
	if (r->a)
		arena_free(r->a);
	xfree(r);
}

/* --- slots --- */

void bundle_slot_free(void *p)
{
	struct bundle_slot *s = p;
	reading_free(s);
	bundle_rejected_clear(s);
	if (s->a)
		arena_free(s->a);
	if (s->job_a)
		arena_free(s->job_a);
	obj_unref(s->read);
	obj_unref(s->record);
	obj_unref(s->source);
	obj_unref(s->steers);
	obj_unref(s->told);
	obj_unref(s->steer);
	xfree(s->head);
	xfree(s->accepted);
	xfree(s->dir);
	xfree(s->name);
	xfree(s->key);
	xfree(s);
}

/* --- the end of a reading --- */

static void told(struct bundle_slot *s, const struct bundle_news *news, const struct error *err)
{
	bundle_read_fn done = s->reading->done;
	void *arg = s->reading->arg;
	struct error own = err ? *err : ERROR_INIT;
	const struct bundle_news copy = news ? *news : (struct bundle_news){0};
	struct arena *a = STEAL(s->reading->a); /* the news are in it */
	s->fetched = s->reading->read != NULL;
	reading_free(s);
	done(arg, news ? &copy : NULL, err ? &own : NULL);
	if (a)
		arena_free(a);
}

void bundle_reading_fail(struct bundle_slot *s, const struct error *err)
{
	if (s->reading)
		told(s, NULL, err);
}

static void set_head(struct bundle_slot *s, const char *head, const struct error *err)
{
	xfree(s->head);
	s->head = xstrdup(head);
	s->generation = meta_generation(s->reading->bundle);
	xfree(s->accepted);
	s->accepted = bundle_accepts(s->reading->bundle)
			      ? xstrdup(bundle_accepts(s->reading->bundle))
			      : NULL;
	memcpy(s->keys, s->reading->keys.digest, sizeof(s->keys));
	memcpy(s->rollout, s->reading->rollout.digest, sizeof(s->rollout));
	memcpy(s->config, s->reading->input.digest, sizeof(s->config));
	s->failed = err ? *err : ERROR_INIT;
}

static bool is_known(const struct bundle_slot *s)
{
	const struct reading *r = s->reading;
	return s->generation == meta_generation(r->bundle) &&
	       cstr_eq(bundle_accepts(r->bundle), s->accepted) &&
	       !strcmp(s->keys, r->keys.digest) && !strcmp(s->rollout, r->rollout.digest) &&
	       bundle_slot_has_config(s, r->input.digest) && (s->read || s->failed.code);
}

/* What is wrong with a commit stays wrong with it; what a server says, or this machine lacks, may pass. */
static void read_failed(struct bundle_slot *s, const struct error *err)
{
	const struct reading *r = s->reading;
	const char *commit = obj_str(r->read, "commit");
	bool stays =
		error_retry(err->code) == RETRY_NEVER && err->reason != REASON_RENDERER_MISSING;
	if (commit && stays) {
		bundle_slot_limit(s, is_known(s) && cstr_eq(s->head, commit), err);
		set_head(s, commit, err);
	}
	told(s, NULL, err);
}

static void tell_refused(void *arg)
{
	struct bundle_slot *s = arg;
	read_failed(s, &s->reading->err);
}

static void refuse(struct bundle_slot *s, const struct error *err)
{
	s->reading->err = *err;
	loop_post(s->b->m->c.loop, &s->reading->refuse);
}

/* --- what came is made a unit --- */

static int scope_of(void *arg, const struct obj *o)
{
	const struct manager *m = arg;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 12);
	struct gvk g = {"", "", ""};
	gvk_of(o, a, &g);
	const struct resource *r = discovery_kind(m->discovery, g.group, g.version, g.kind);
	return r ? r->namespaced : -1;
}

static int take_flat(struct bundle_slot *s, const struct obj *rendered, struct unit **ret,
		     struct error *err)
{
	struct reading *r = s->reading;
	const struct bundle_scopes scopes = {.fn = scope_of, .arg = s->b->m};
	struct unit_options o;
	struct bundle_made made;
	if (bundle_unit_options(s, r->a, &o, err) < 0)
		return -err->code;
	o.rollout = r->rollout.rollout;
	o.rollout_text = r->rollout.text;
	if (bundle_make(&r->spec, rendered, &scopes, &o, r->a, NULL, &made, err) < 0)
		return bundle_render_mute(&r->spec, &r->input, err);
	const struct bundle_head head = {.commit = obj_str(r->read, "commit"),
					 .objects = made.flat.n,
					 .rewritten = r->rewritten,
					 .unknown = r->unknown};
	if (bundle_accept_check(r->bundle, &r->spec, &head, err) < 0)
		return -err->code;
	obj_set_str(r->read, "digest", made.unit->digest);
	obj_set_int(r->read, "objects", (int64_t)made.flat.n);
	*ret = made.unit;
	return 0;
}

/* The same objects by another commit: what runs, or has run, is of that one now. */
static void keep_unit(struct bundle_slot *s, struct unit *u)
{
	struct reading *r = s->reading;
	if (s->a)
		arena_free(s->a);
	s->a = STEAL(r->a);
	s->next = u;
	obj_unref(s->read);
	s->read = obj_copy(r->read);
	s->rewritten = r->rewritten;
	if (s->source && cstr_eq(obj_str(s->source, "digest"), obj_str(s->read, "digest"))) {
		obj_unref(s->source);
		s->source = obj_ref(s->read);
		s->job.source = s->source;
	}
	set_head(s, obj_str(r->read, "commit"), NULL);
}

static void rendered(void *arg, struct obj *value, const struct error *failed)
{
	struct bundle_slot *s = arg;
	struct reading *r = s->reading;
	struct error err = failed ? *failed : ERROR_INIT;
	struct unit *u = NULL;
	if (failed) {
		(void)bundle_render_mute(&r->spec, &r->input, &err);
	} else {
		bundle_render_hide(&r->input, value);
		(void)take_flat(s, obj_keep(r->a, value), &u, &err);
	}
	if (err.code) {
		bundle_render_blame(&r->spec, &err);
		read_failed(s, &err);
		return;
	}
	const struct bundle_news news = {
		.read = r->read, .skipped = r->skipped, .is_new = true, .unknown = r->unknown};
	keep_unit(s, u);
	told(s, &news, NULL);
}

/* --- git --- */

static struct obj *commit_obj(const struct git_commit *c)
{
	struct obj *o = obj_map();
	obj_set_str(o, "commit", c->commit);
	obj_set_str(o, "author", c->author);
	if (!cstr_eq(c->committer, c->author))
		obj_set_str(o, "committer", c->committer);
	obj_set_str(o, "subject", c->subject);
	return o;
}

static struct obj *head_obj(const struct git_result *g, const struct bundle_spec *spec)
{
	struct obj *o = commit_obj(&g->head);
	obj_set_path(o, "of.url", obj_string(spec->url));
	obj_set_path(o, "of.branch", obj_string(spec->branch));
	if (g->signer)
		obj_set_str(o, "signer", g->signer);
	return o;
}

static void unchanged(struct bundle_slot *s)
{
	const struct bundle_news news = {.read = s->read};
	if (s->failed.code)
		told(s, NULL, &s->failed);
	else
		told(s, &news, NULL);
}

static void git_came(void *arg, const struct git_result *g, const struct error *err)
{
	struct bundle_slot *s = arg;
	struct reading *r = s->reading;
	struct manager *m = s->b->m;
	r->git = NULL;
	if (g->head.commit) {
		bool moved = bundle_accept_moved(r->bundle, &r->spec);
		r->read = obj_keep(r->a, head_obj(g, &r->spec));
		r->skipped = obj_keep(r->a, obj_list());
		r->rewritten = g->rewritten && !moved;
		r->unknown = g->unknown && !moved;
	}
	for (size_t i = 0; i < g->n_skipped; i++)
		obj_append(r->skipped, commit_obj(&g->skipped[i]));
	if (err) {
		if (err->reason == REASON_CREDENTIALS_REJECTED)
			bundle_rejected_note(s, r->bundle, r->secret_version, err);
		read_failed(s, err);
		return;
	}
	bundle_rejected_clear(s);
	if (g->unchanged) {
		unchanged(s);
		return;
	}
	r->render = (struct render_call){.done = rendered, .arg = s};
	bundle_input_files(&r->input, g->files, r->a);
	bundle_render_start(&r->spec, m->c.sandbox, g->files, &r->input, &r->render);
}

static void read_git(struct bundle_slot *s, const struct credentials *c)
{
	const struct manager_config *mc = &s->b->m->c;
	struct reading *r = s->reading;
	bool known = is_known(s) && !bundle_slot_tries_again(s);
	const char *hidden[4], *dir = bundle_mirror_dir(s->b, r->bundle, &r->spec, r->a);
	credentials_hidden(c, r->a, hidden);
	bundle_mirror_use(s, dir);
	const struct git_ssh ssh = {c ? c->ssh_key : NULL, c ? c->known_hosts : NULL};
	const struct git_request rq = {.url = r->place.url,
				       .branch = r->spec.branch,
				       .path = r->spec.path,
				       .is_program = r->spec.renderer.entrypoint,
				       .commit = r->spec.commit,
				       .dir = dir,
				       .known = known ? s->head : NULL,
				       .applied = obj_str(r->bundle, "status.commit"),
				       .header = c ? credentials_header(c, r->a) : NULL,
				       .ca_pem = c ? c->ca_pem : NULL,
				       .ssh = ssh.key ? &ssh : NULL,
				       .hidden = hidden,
				       .keys = r->spec.keys ? &r->keys : NULL,
				       .addresses = mc->addresses};
	r->git = git_read_start(mc->programs, &rq, git_came, s);
}

static int use_secret(const struct bundle_slot *s, const struct obj *secret,
		      struct credentials *ret, struct error *err)
{
	if (credentials_read(secret, s->reading->place.origin, s->reading->a, ret, err) < 0) {
		error_wrap(err, "spec.source.git.secretRef");
		return error_set_reason(err, REASON_CREDENTIALS_REJECTED);
	}
	return 0;
}

static void secret_came(void *arg, const struct client_reply *reply)
{
	struct bundle_slot *s = arg;
	struct reading *r = s->reading;
	struct error err = ERROR_INIT;
	struct credentials c = {0};
	r->asked = NULL;
	if (reply->err) {
		err = *reply->err;
		if (err.code == E_NOTFOUND)
			credentials_absent(r->spec.secret, &err);
		error_wrap(&err, "spec.source.git.secretRef");
	} else {
		r->secret_version = arena_strdup(r->a, meta_resource_version(reply->body));
		(void)use_secret(s, reply->body, &c, &err);
	}
	if (err.code)
		read_failed(s, &err);
	else if (bundle_rejected_still(s, r->bundle, r->secret_version))
		read_failed(s, &s->rejected.why);
	else
		read_git(s, &c);
}

/* --- with what it is read --- */

static const struct resource *kind_of(const struct bundle_slot *s, const char *kind,
				      struct error *err)
{
	const struct resource *r = discovery_kind(s->b->m->discovery, "", "v1", kind);
	if (!r)
		error_set(err, E_UNAVAILABLE, "the server does not say what a %s is", kind);
	return r;
}

static void ask_secret(struct bundle_slot *s)
{
	struct reading *r = s->reading;
	struct error err = ERROR_INIT;
	const struct resource *secrets = kind_of(s, "Secret", &err);
	bool is_file = !r->place.origin;
	if (!is_file && !r->spec.secret && bundle_rejected_still(s, r->bundle, r->secret_version))
		refuse(s, &s->rejected.why);
	else if (!r->spec.secret || is_file)
		read_git(s, NULL);
	else if (secrets)
		r->asked = client_get(s->b->m->c.client, secrets, CREDENTIALS_NAMESPACE,
				      r->spec.secret, NULL, secret_came, s);
	else
		refuse(s, &err);
}

static void keys_came(void *arg, const struct client_reply *reply)
{
	struct bundle_slot *s = arg;
	struct reading *r = s->reading;
	struct error err = ERROR_INIT;
	r->asked = NULL;
	if (reply->err)
		err = *reply->err;
	else
		git_keys_read(obj_get(reply->body, "data"), loop_now(s->b->m->c.loop), r->a,
			      &r->keys, &err);
	if (!err.code) {
		ask_secret(s);
		return;
	}
	error_wrap(&err, KEYS_REF " %s", r->spec.keys);
	error_set_reason(&err, REASON_SIGNATURE_INVALID);
	read_failed(s, &err);
}

/* Read again each time: a key that was taken out counts no more. */
static void ask_keys(struct bundle_slot *s)
{
	struct reading *r = s->reading;
	struct error err = ERROR_INIT;
	const struct resource *maps = kind_of(s, "ConfigMap", &err);
	if (maps)
		r->asked = client_get(s->b->m->c.client, maps, CREDENTIALS_NAMESPACE, r->spec.keys,
				      NULL, keys_came, s);
	else
		refuse(s, &err);
}

/* --- configuration --- */

static int go_on(struct bundle_slot *s, const struct live_input_found *found, struct error *err)
{
	struct reading *r = s->reading;
	if (bundle_input_make(&r->spec, found->layers, found->n, r->a, &r->input, err) < 0)
		return -err->code;
	if (r->spec.keys)
		ask_keys(s);
	else
		ask_secret(s);
	return 0;
}

static void input_came(void *arg, const struct live_input_found *found, const struct error *failed)
{
	struct bundle_slot *s = arg;
	struct error err = failed ? *failed : ERROR_INIT;
	s->reading->live = NULL;
	if (failed)
		bundle_input_blame(&err);
	else
		(void)go_on(s, found, &err);
	if (err.code)
		read_failed(s, &err);
}

/* Anew at each interval, and as who applies what comes of it. */
static int ask_input(struct bundle_slot *s, struct error *err)
{
	const struct live_input_found nothing = {0};
	struct bundles *b = s->b;
	struct reading *r = s->reading;
	if (!r->spec.renderer.from.n)
		return go_on(s, &nothing, err);
	if (!b->live) {
		b->live = live_input_new(b->m->c.loop, b->m->c.sandbox);
		live_input_lend(b->live, b->m->c.client, b->m->discovery);
	}
	r->wants = (struct live_input_wants){.from = &r->spec.renderer.from,
					     .ns = r->spec.ns,
					     .option = BUNDLE_CONFIG_FROM,
					     .as = r->spec.account};
	r->live = live_input_start(b->live, &r->wants, r->a, input_came, s);
	return 0;
}

static void start_reading(struct bundle_slot *s)
{
	const struct manager *m = s->b->m;
	struct reading *r = s->reading;
	struct error err = ERROR_INIT;
	if (bundle_place_read(m, r->spec.url, r->a, &r->place, &err) < 0 ||
	    bundle_rollout_read(m, r->spec.rollout, r->a, &r->rollout, &err) < 0 ||
	    ask_input(s, &err) < 0)
		refuse(s, &err);
}

void manager_read_bundle(void *arg, const struct obj *bundle, bundle_read_fn done, void *done_arg)
{
	struct manager *m = arg;
	struct bundle_slot *s = bundle_slot_of(m->bundles, meta_name(bundle));
	struct reading *r = xcalloc(1, sizeof(*r));
	struct error err = ERROR_INIT;
	reading_free(s); /* of a run that was cancelled: nobody waits for it */
	s->reading = r;
	s->hooked = false;
	r->a = arena_new(BUNDLE_BYTES_MAX);
	r->bundle = obj_ref(bundle);
	r->secret_version = "";
	r->refuse = (struct task){.fn = tell_refused, .arg = s};
	r->done = done;
	r->arg = done_arg;
	if (bundle_spec_read(bundle, r->a, &r->spec, &err) < 0)
		refuse(s, &err);
	else
		start_reading(s);
}
