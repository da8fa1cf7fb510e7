/* A slot and the reading of it: how it ends, and what is known then. */
#include "alm/controllers/manager_bundle_reading.h"

#include <string.h>

#include "alm/controllers/fleet/bundle_accept.h"
#include "alm/obj/meta.h"

void bundle_reading_free(struct bundle_slot *s)
{
	struct reading *r = STEAL(s->reading);
	struct manager *m = s->b->m;
	if (!r)
		return;
	if (r->asked)
		client_cancel(m->c.client, r->asked);
	bundle_ask_end(&r->ask);
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
	bundle_reading_free(s);
	bundle_rejected_clear(s);
	if (s->a)
		arena_free(s->a);
	unit_arenas_free(&s->arenas);
	obj_unref(s->read);
	obj_unref(s->record);
	obj_unref(s->source);
	obj_unref(s->steers);
	obj_unref(s->lists);
	obj_unref(s->told);
	obj_unref(s->steer);
	obj_unref(s->namespaces);
	xfree(s->head);
	xfree(s->accepted);
	xfree(s->asked);
	xfree(s->asked_read);
	xfree(s->dir);
	xfree(s->name);
	xfree(s->key);
	xfree(s);
}

/* --- the end of a reading --- */

void bundle_reading_end(struct bundle_slot *s, const struct bundle_news *news,
			const struct error *err)
{
	bundle_read_fn done = s->reading->done;
	void *arg = s->reading->arg;
	struct error own = err ? *err : ERROR_INIT;
	const struct bundle_news copy = news ? *news : (struct bundle_news){0};
	struct arena *a = STEAL(s->reading->a); /* the news are in it */
	s->fetched = s->reading->read || s->reading->unchanged;
	bundle_reading_free(s);
	done(arg, news ? &copy : NULL, err ? &own : NULL);
	if (a)
		arena_free(a);
}

void bundle_reading_fail(struct bundle_slot *s, const struct error *err)
{
	if (s->reading)
		bundle_reading_end(s, NULL, err);
}

void bundle_reading_head(struct bundle_slot *s, const char *head, const struct error *err)
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
	memcpy(s->config, s->reading->ask.input.digest, sizeof(s->config));
	memcpy(s->tree, s->reading->tree, sizeof(s->tree));
	s->lacks = s->reading->lacks.code != 0;
	s->failed = err ? *err : ERROR_INIT;
}

bool bundle_reading_is_known(const struct bundle_slot *s)
{
	const struct reading *r = s->reading;
	return s->lacks == (r->lacks.code != 0) && s->generation == meta_generation(r->bundle) &&
	       cstr_eq(bundle_accepts(r->bundle), s->accepted) &&
	       !strcmp(s->keys, r->keys.digest) && !strcmp(s->rollout, r->rollout.digest) &&
	       bundle_slot_has_config(s, r->ask.input.digest) && (s->read || s->failed.code);
}

/* What is wrong with a commit stays wrong with it; what a server says, or this machine lacks, may pass. */
void bundle_reading_refuse(struct bundle_slot *s, const struct error *err)
{
	const struct reading *r = s->reading;
	const char *commit = obj_str(r->read, "commit");
	bool stays =
		(error_retry(err->code) == RETRY_NEVER || err->reason == REASON_VALUE_MISSING) &&
		err->reason != REASON_RENDERER_MISSING;
	if (commit && stays) {
		bundle_slot_limit(s, bundle_reading_is_known(s) && cstr_eq(s->head, commit), err);
		bundle_reading_head(s, commit, err);
	}
	bundle_reading_end(s, NULL, err);
}
