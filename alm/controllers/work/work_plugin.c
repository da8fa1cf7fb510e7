/* A plugin is asked; the outcome is its answer (alm/unit/plugin.h), or why there is none. */
#include "alm/controllers/work/works.h"
#include "alm/render/plugins.h"

struct state {
	struct plugin_call *call;
};

static struct state *state_of(struct work *w)
{
	return (struct state *)w->state;
}

static void answered(void *arg, struct obj *answer, const struct error *err)
{
	struct work *w = arg;
	state_of(w)->call = NULL;
	work_put(w, err, STR_NONE, answer);
	work_done(w);
}

static void start(struct work *w)
{
	const struct work_host *h = w->host;
	const struct obj *body = w->action->body;
	state_of(w)->call = plugins_ask(h->plugins, (enum plugin_kind)obj_i64(body, "kind", 0),
					obj_str(body, "name"), obj_get(body, "request"),
					obj_i64(body, "wallNs", 0), answered, w);
}

static void cancel(struct work *w)
{
	if (state_of(w)->call)
		plugins_cancel(state_of(w)->call);
}

const struct work_kind plugin_work = {
	.name = "plugin", .start = start, .cancel = cancel, .at_once = PLUGINS_AT_ONCE};
