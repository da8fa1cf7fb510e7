#include "alm/controllers/manager_hooks.h"

#include "alm/base/log.h"
#include "alm/controllers/manager_bundles.h"
#include "alm/obj/meta.h"
#include "alm/sources/credentials.h"

#define HOOK_BYTES_MAX ((size_t)16 << 20)

struct asked {
	const char *bundle, *secret;
	bool is_about; /* the branch that it reads */
};

struct manager_hook {
	struct manager *m;
	struct arena *a;
	const struct git_hook *h;
	struct asked list[HOOK_BUNDLES_MAX];
	size_t n, at, n_taken;
	bool failed;
	struct client_call *call;
	struct task begin;
	manager_hook_fn done;
	void *arg;
};

static void add(struct manager_hook *k, const struct obj *bundle)
{
	struct bundle_spec spec;
	struct error ignored = ERROR_INIT;
	if (k->n == HOOK_BUNDLES_MAX || bundle_spec_read(bundle, k->a, &spec, &ignored) < 0 ||
	    !spec.hook_secret || !git_hook_is_of(k->h, spec.url, k->a))
		return;
	k->list[k->n++] = (struct asked){.bundle = arena_strdup(k->a, meta_name(bundle)),
					 .secret = arena_strdup(k->a, spec.hook_secret),
					 .is_about = git_hook_is_about(k->h, spec.branch)};
}

static void collect(struct manager_hook *k)
{
	const struct informer *i = k->m->fixed[WATCH_BUNDLE].informer;
	const struct informer_object *io = NULL;
	while (i && k->n < HOOK_BUNDLES_MAX && (io = informer_next(i, io))) {
		CLEANUP(obj_unrefp) struct obj *bundle = informer_decode(io);
		if (bundle)
			add(k, bundle);
	}
}

static void take(struct manager_hook *k, const struct asked *b)
{
	k->n_taken++;
	if (!b->is_about)
		return;
	bundle_slot_of(k->m->bundles, b->bundle)->hooked = true;
	manager_enqueue(k->m, "bundle", b->bundle, "Git");
}

static void next(struct manager_hook *k);

/* That a Secret is none for this is told to who may read the log, and to nobody who asks. */
static void secret_came(void *arg, const struct client_reply *reply)
{
	struct manager_hook *k = arg;
	const struct asked *b = &k->list[k->at++];
	struct error err = ERROR_INIT;
	struct str secret = STR_NONE;
	k->call = NULL;
	if (reply->err && reply->err->code != E_NOTFOUND)
		k->failed = true;
	if (reply->err)
		err = *reply->err;
	else
		(void)git_hook_secret(reply->body, k->a, &secret, &err);
	if (err.code)
		log_warn("a hook has no secret", "bundle", b->bundle, "field",
			 "spec.source.git.hookSecretRef", "error", err.msg);
	else if (git_hook_is_signed(k->h, secret))
		take(k, b);
	next(k);
}

static void next(struct manager_hook *k)
{
	struct manager *m = k->m;
	const struct resource *secrets = discovery_kind(m->discovery, "", "v1", "Secret");
	if (k->at < k->n && secrets) {
		k->call = client_get(m->c.client, secrets, CREDENTIALS_NAMESPACE,
				     k->list[k->at].secret, NULL, secret_came, k);
		return;
	}
	manager_hook_fn done = k->done;
	void *arg = k->arg;
	size_t n_taken = k->n_taken;
	bool failed = k->failed || k->at < k->n;
	manager_hook_cancel(k);
	done(arg, n_taken, failed);
}

static void begin(void *arg)
{
	struct manager_hook *k = arg;
	collect(k);
	next(k);
}

struct manager_hook *manager_hook_start(struct manager *m, const struct git_hook *h,
					manager_hook_fn done, void *arg)
{
	struct manager_hook *k = xcalloc(1, sizeof(*k));
	k->m = m;
	k->a = arena_new(HOOK_BYTES_MAX);
	k->h = h;
	k->done = done;
	k->arg = arg;
	k->begin = (struct task){.fn = begin, .arg = k};
	loop_post(m->c.loop, &k->begin);
	return k;
}

void manager_hook_cancel(struct manager_hook *k)
{
	if (!k)
		return;
	loop_unpost(k->m->c.loop, &k->begin);
	if (k->call)
		client_cancel(k->m->c.client, k->call);
	arena_free(k->a);
	xfree(k);
}
