/* Objects are read live: {KEY: object} of those that are there. */
#include "alm/controllers/work/works.h"

static void survey_next(struct work *w);

static void survey_found(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	const struct obj *row = obj_at(w->action->body, w->at - 1);
	w->call = NULL;
	if (!reply->err) {
		obj_set(w->found, obj_str(row, "key"), obj_ref(reply->body));
	} else if (reply->err->code != E_NOTFOUND) {
		work_fail(w, reply->err);
		return;
	}
	survey_next(w);
}

static void survey_next(struct work *w)
{
	while (w->at < obj_len(w->action->body)) {
		const struct obj *row = obj_at(w->action->body, w->at++);
		const struct resource *res =
			discovery_kind(w->discovery, obj_str(row, "group"), obj_str(row, "version"),
				       obj_str(row, "kind"));
		if (!res)
			continue; /* not served: it cannot exist */
		w->call = client_get(w->client, res, obj_str(row, "namespace"),
				     obj_str(row, "name"), NULL, survey_found, w);
		return;
	}
	work_put(w, NULL, STR_NONE, STEAL(w->found));
	work_done(w);
}

static void start(struct work *w)
{
	w->found = obj_map();
	survey_next(w);
}

const struct work_kind survey_work = {.name = "survey", .start = start};
