/* A chart is rendered in the sandbox; the outcome is what render_job.h says. */
#include <stdlib.h>
#include <string.h>

#include "alm/controllers/work/works.h"

#define API_VERSIONS_MAX 20000

static int by_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

/* .Capabilities.APIVersions of the live server: "apps/v1" and "apps/v1/Deployment", each once. */
static struct obj *api_versions(struct work *w)
{
	size_t n, n_texts = 0;
	const struct resource *const *all = discovery_all(w->discovery, &n);
	struct obj *list = obj_list();
	n = n < API_VERSIONS_MAX ? n : API_VERSIONS_MAX;
	const char **texts = ARENA_ARRAY(w->a, const char *, 2 * n);
	for (size_t i = 0; i < n; i++) {
		const char *gv = *all[i]->group
					 ? arena_fmt(w->a, "%s/%s", all[i]->group, all[i]->version)
					 : arena_strdup(w->a, all[i]->version);
		texts[n_texts++] = gv;
		texts[n_texts++] = arena_fmt(w->a, "%s/%s", gv, all[i]->kind);
	}
	qsort(texts, n_texts, sizeof(*texts), by_text);
	const char *last = NULL;
	for (size_t i = 0; i < n_texts; i++) {
		if (!cstr_eq(texts[i], last))
			obj_append(list, obj_string(texts[i]));
		last = texts[i];
	}
	return list;
}

static void rendered(void *arg, struct obj *value, const struct error *err)
{
	struct work *w = arg;
	if (err && err->code == E_TOOMANY) { /* says nothing of the chart: again after a pause */
		work_fail(w, err);
		return;
	}
	work_put(w, err, STR_NONE, value);
	work_done(w);
}

static struct render_call *call_of(struct work *w)
{
	_Static_assert(sizeof(struct render_call) <= WORK_STATE_BYTES, "it has no room");
	return (struct render_call *)w->state;
}

static void start(struct work *w)
{
	const struct work_host *h = w->host;
	const struct outcome *archive = stash_get(w->stash, w->action->key);
	if (!archive || archive->code) { /* its fetch has failed, or it was evicted */
		work_changed(w);         /* the next reconcile reports it */
		work_done(w);
		return;
	}
	struct obj *request = obj_keep(w->a, obj_copy(w->action->body));
	if (!obj_has(request, "apiVersions"))
		obj_set(request, "apiVersions", api_versions(w));
	*call_of(w) = (struct render_call){.done = rendered, .arg = w};
	h->render(h->arg, archive->bytes, request, call_of(w));
}

static void cancel(struct work *w)
{
	render_job_cancel(call_of(w));
}

static void add_secrets(const struct action *a, struct secrets *s)
{
	secrets_add_values(s, obj_get(a->body, "values"));
	secrets_add_answers(s, obj_get(a->body, "answers"));
}

const struct work_kind render_work = {.name = "render",
				      .start = start,
				      .cancel = cancel,
				      .secrets = add_secrets,
				      .at_once = RENDERS_MAX};
