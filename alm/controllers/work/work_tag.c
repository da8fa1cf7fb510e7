/* A registry is asked what a tag stands for now: {digest} of the manifest, which must be a Helm chart's. */
#include "alm/controllers/work/works.h"
#include "alm/sources/pull.h"

struct state {
	struct work_secret secret;
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

static void start(struct work *w)
{
	work_with_secret(w, w->action->name, ask);
}

static void cancel(struct work *w)
{
	pull_cancel(state_of(w)->pull);
}

const struct work_kind tag_work = {
	.name = "tag", .start = start, .cancel = cancel, .at_once = TAGS_AT_ONCE};
