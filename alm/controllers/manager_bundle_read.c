/* One reading of a Bundle's source: may it be read, with which credentials; git; the sandbox; and
 * what came is made a unit. */
#include <string.h>

#include "alm/client/git_mirror.h"
#include "alm/controllers/fleet/bundle_make.h"
#include "alm/controllers/manager_bundles.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/render/flat_job.h"
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

/* --- credentials that were rejected --- */

static void rejected_clear(struct bundle_slot *s)
{
	xfree(STEAL(s->rejected.secret_version));
	s->rejected = (struct bundle_rejected){0};
}

/* A server locks out who comes with a wrong password too often: the same one is shown to it more
 * and more seldom, another one at once. */
static bool is_rejected_still(const struct bundle_slot *s)
{
	const struct reading *r = s->reading;
	const struct bundle_rejected *j = &s->rejected;
	return j->times && cstr_eq(j->secret_version, r->secret_version) &&
	       j->generation == meta_generation(r->bundle) &&
	       loop_mono(s->b->m->c.loop) - j->at_ns < bundle_rejected_pause(j->times);
}

static void note_rejected(struct bundle_slot *s, const struct error *err)
{
	const struct reading *r = s->reading;
	bool same = cstr_eq(s->rejected.secret_version, r->secret_version) &&
		    s->rejected.generation == meta_generation(r->bundle);
	unsigned times = same ? s->rejected.times : 0;
	rejected_clear(s);
	s->rejected = (struct bundle_rejected){.secret_version = xstrdup(r->secret_version),
					       .generation = meta_generation(r->bundle),
					       .at_ns = loop_mono(s->b->m->c.loop),
					       .times = times + 1,
					       .why = *err};
}

static void reading_free(struct bundle_slot *s)
{
	struct reading *r = STEAL(s->reading);
	struct manager *m = s->b->m;
	if (!r)
		return;
	if (r->asked)
		client_cancel(m->c.client, r->asked);
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
	rejected_clear(s);
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
	memcpy(s->keys, s->reading->keys.digest, sizeof(s->keys));
	memcpy(s->rollout, s->reading->rollout.digest, sizeof(s->rollout));
	s->failed = err ? *err : ERROR_INIT;
}

/* What is wrong with a commit stays wrong with it; what a server says may pass. */
static void read_failed(struct bundle_slot *s, const struct error *err)
{
	const struct reading *r = s->reading;
	if (r->read && error_retry(err->code) == RETRY_NEVER)
		set_head(s, obj_str(r->read, "commit"), err);
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

/* A tree that had objects and has none is more likely a mistake than a wish. */
static int check_empty(const struct bundle_slot *s, const struct flat *f, struct error *err)
{
	const struct reading *r = s->reading;
	const char *accepted = meta_annotation(r->bundle, "app.coreos.com/accept-digest");
	const char *commit = obj_str(r->read, "commit");
	if (f->n || !obj_i64(r->bundle, "status.objects", 0) || cstr_eq(accepted, commit))
		return 0;
	return error_because(err, E_INVALID, REASON_SOURCE_EMPTY,
			     "%.12s has no object and the revision before had some; nothing is "
			     "deleted until annotation app.coreos.com/accept-digest is %s",
			     commit, commit);
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
	if (bundle_make(&r->spec, rendered, &scopes, &o, r->a, NULL, &made, err) < 0 ||
	    check_empty(s, &made.flat, err) < 0)
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
	if (!failed)
		(void)take_flat(s, obj_keep(r->a, value), &u, &err);
	if (err.code) {
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

static struct obj *head_obj(const struct git_result *g)
{
	struct obj *o = commit_obj(&g->head);
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
		r->read = obj_keep(r->a, head_obj(g));
		r->skipped = obj_keep(r->a, obj_list());
		r->rewritten = g->rewritten;
		r->unknown = g->unknown;
	}
	for (size_t i = 0; i < g->n_skipped; i++)
		obj_append(r->skipped, commit_obj(&g->skipped[i]));
	if (err) {
		if (err->reason == REASON_CREDENTIALS_REJECTED)
			note_rejected(s, err);
		read_failed(s, err);
		return;
	}
	rejected_clear(s);
	if (g->unchanged) {
		unchanged(s);
		return;
	}
	r->render = (struct render_call){.done = rendered, .arg = s};
	flat_job_files(m->c.sandbox, g->files, r->spec.ns, &r->render);
}

static void list_hidden(const struct credentials *c, struct arena *a, const char *ret[4])
{
	const char *header = c ? credentials_header(c, a) : NULL;
	const char *value = header ? strchr(header, ' ') : NULL;
	size_t n = 0;
	if (value)
		ret[n++] = value + 1;
	if (c && c->password)
		ret[n++] = c->password;
	if (c && c->token)
		ret[n++] = c->token;
	ret[n] = NULL;
}

static void read_git(struct bundle_slot *s, const struct credentials *c)
{
	const struct manager_config *mc = &s->b->m->c;
	struct reading *r = s->reading;
	bool known = s->generation == meta_generation(r->bundle) &&
		     !strcmp(s->keys, r->keys.digest) && !strcmp(s->rollout, r->rollout.digest) &&
		     (s->read || s->failed.code);
	const char *hidden[4], *dir = bundle_mirror_dir(s->b, r->bundle, &r->spec, r->a);
	list_hidden(c, r->a, hidden);
	bundle_mirror_use(s, dir);
	const struct git_ssh ssh = {c ? c->ssh_key : NULL, c ? c->known_hosts : NULL};
	const struct git_request rq = {.url = r->place.url,
				       .branch = r->spec.branch,
				       .path = r->spec.path,
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
	else if (is_rejected_still(s))
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
	if (!is_file && !r->spec.secret && is_rejected_still(s))
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

static void start_reading(struct bundle_slot *s)
{
	const struct manager *m = s->b->m;
	struct reading *r = s->reading;
	struct error err = ERROR_INIT;
	if (bundle_place_read(m, r->spec.url, r->a, &r->place, &err) < 0 ||
	    bundle_rollout_read(m, r->spec.rollout, r->a, &r->rollout, &err) < 0)
		refuse(s, &err);
	else if (r->spec.keys)
		ask_keys(s);
	else
		ask_secret(s);
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
