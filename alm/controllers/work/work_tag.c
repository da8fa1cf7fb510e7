/* A registry is asked what a tag stands for now: {digest} of the manifest, which must be a Helm chart's. */
#include "alm/controllers/work/works.h"
#include "alm/sources/credentials.h"
#include "alm/sources/pull.h"

struct state {
	struct pull *pull;
};

static struct state *state_of(struct work *w)
{
	return (struct state *)w->state;
}

static void came(void *arg, const struct pull_result *result)
{
	struct work *w = arg;
	struct obj *value = NULL;
	state_of(w)->pull = NULL;
	if (!result->err) {
		value = obj_map();
		obj_set_str(value, "digest", result->digest);
	}
	work_put(w, result->err, STR_NONE, value);
	work_done(w);
}

static void ask(struct work *w, const struct obj *secret)
{
	const struct work_host *h = w->host;
	state_of(w)->pull =
		pull_digest_start(w->loop, h->addresses, secret, w->action->key, came, w);
}

static void secret_came(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	w->call = NULL;
	if (!reply->err) {
		ask(w, reply->body);
		return;
	}
	struct error err = *reply->err;
	if (err.code == E_NOTFOUND)
		credentials_absent(w->action->name, &err);
	work_put(w, &err, STR_NONE, NULL);
	work_done(w);
}

/* The Secret is read again each time: a changed password is used at once, and none is kept. */
static void start(struct work *w)
{
	const char *secret = w->action->name;
	const struct resource *r = secret ? discovery_kind(w->discovery, "", "v1", "Secret") : NULL;
	if (r)
		w->call = client_get(w->client, r, CREDENTIALS_NAMESPACE, secret, NULL, secret_came,
				     w);
	else
		ask(w, NULL);
}

static void cancel(struct work *w)
{
	pull_cancel(state_of(w)->pull);
}

const struct work_kind tag_work = {
	.name = "tag", .start = start, .cancel = cancel, .at_once = TAGS_AT_ONCE};
