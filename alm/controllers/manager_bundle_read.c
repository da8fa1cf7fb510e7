/* One reading of a Bundle's source: may it be read, with which credentials; and git. */
#include <string.h>

#include "alm/controllers/fleet/bundle_accept.h"
#include "alm/controllers/manager_bundle_reading.h"
#include "alm/obj/meta.h"
#include "alm/sources/credentials.h"

#define KEYS_REF "spec.source.git.verify.keysRef"

static void tell_refused(void *arg)
{
	struct bundle_slot *s = arg;
	bundle_reading_refuse(s, &s->reading->err);
}

static void refuse(struct bundle_slot *s, const struct error *err)
{
	s->reading->err = *err;
	loop_post(s->b->m->c.loop, &s->reading->refuse);
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
		bundle_reading_end(s, NULL, &s->failed);
	else
		bundle_reading_end(s, &news, NULL);
}

static void git_came(void *arg, const struct git_result *g, const struct error *err)
{
	struct bundle_slot *s = arg;
	struct reading *r = s->reading;
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
		bundle_reading_refuse(s, err);
		return;
	}
	bundle_rejected_clear(s);
	r->unchanged = g->unchanged;
	if (g->files)
		memcpy(r->tree, g->files->tree, sizeof(r->tree));
	if (r->lacks.code)
		bundle_reading_refuse(s, &r->lacks);
	else if (g->unchanged)
		unchanged(s);
	else
		bundle_reading_take(s, g->files);
}

static void read_git(struct bundle_slot *s, const struct credentials *c)
{
	const struct manager_config *mc = &s->b->m->c;
	struct reading *r = s->reading;
	bool known = bundle_reading_is_known(s) && !bundle_slot_tries_again(s);
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
		bundle_reading_refuse(s, &err);
	else if (bundle_rejected_still(s, r->bundle, r->secret_version))
		bundle_reading_refuse(s, &s->rejected.why);
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
	bundle_reading_refuse(s, &err);
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

/* What it lacks holds up its rendering; whether git can be read is told all the same. */
static void go_on(struct bundle_slot *s, const struct error *lacks)
{
	struct reading *r = s->reading;
	if (lacks)
		r->lacks = *lacks;
	if (r->spec.keys)
		ask_keys(s);
	else
		ask_secret(s);
}

static void start_reading(struct bundle_slot *s)
{
	const struct manager *m = s->b->m;
	struct reading *r = s->reading;
	struct error err = ERROR_INIT;
	if (bundle_place_read(m, r->spec.url, r->a, &r->place, &err) < 0 ||
	    bundle_rollout_read(m, r->spec.rollout, r->a, &r->rollout, &err) < 0) {
		refuse(s, &err);
		return;
	}
	r->ask = (struct bundle_asking){.s = s, .spec = &r->spec, .a = r->a, .done = go_on};
	int rc = bundle_ask(&r->ask, &err);
	if (rc)
		go_on(s, rc < 0 ? &err : NULL);
}

void manager_read_bundle(void *arg, const struct obj *bundle, bundle_read_fn done, void *done_arg)
{
	struct manager *m = arg;
	struct bundle_slot *s = bundle_slot_of(m->bundles, meta_name(bundle));
	struct reading *r = xcalloc(1, sizeof(*r));
	struct error err = ERROR_INIT;
	bundle_reading_free(s); /* of a run that was cancelled: nobody waits for it */
	s->reading = r;
	bundle_slot_begin(s, bundle);
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
