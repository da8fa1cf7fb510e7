/* What a Bundle's program gets besides its files (manager_bundles.h): its configuration, then the lists that it imports.
 * Which these are the program says, in the sandbox: the slot remembers them, so that a change of one is seen at the
 * next interval. */
#include "alm/controllers/manager_bundles.h"

#define TIMES_MAX 3 /* of one reading: pushes that ask for others each time */

static void start(struct bundle_asking *q, struct arena *a, live_input_fn fn)
{
	struct bundles *b = q->s->b;
	if (!b->live) {
		b->live = live_input_new(b->m->c.loop, b->m->c.sandbox);
		live_input_lend(b->live, b->m->c.client, b->m->discovery);
	}
	q->wants.ns = q->spec->ns;
	q->wants.option = BUNDLE_CONFIG_FROM;
	q->wants.as = q->spec->account;
	q->live = live_input_start(b->live, &q->wants, a, fn, q);
}

static void forget(struct bundle_slot *s)
{
	obj_unref(STEAL(s->lists));
}

/* Those that another commit wanted may not be there, or not be allowed: then this one is asked, which may want others. */
static void has_lists(void *arg, const struct live_input_found *found, const struct error *failed)
{
	struct bundle_asking *q = arg;
	struct error err = failed ? *failed : ERROR_INIT;
	q->live = NULL;
	if (!failed) {
		bundle_input_lists(&q->input, found->lists, q->lists_a);
	} else {
		forget(q->s);
		bundle_input_blame(NULL, &err);
	}
	q->done(q->s, failed && q->times ? &err : NULL);
}

void bundle_ask_end(struct bundle_asking *q)
{
	live_input_cancel(STEAL(q->live));
	q->input.lists = NULL;
	q->input.secrets = q->without.secrets;
	if (q->lists_a)
		arena_free(STEAL(q->lists_a));
}

void bundle_ask_sent(struct bundle_asking *q)
{
	if (q->input.secrets == q->without.secrets)
		bundle_ask_end(q);
}

static int ask_lists(struct bundle_asking *q)
{
	size_t n = 0;
	bundle_ask_end(q);
	const char **names = ARENA_ARRAY(q->a, const char *, obj_len(q->s->lists) + 1);
	q->input = q->without;
	if (!q->spec->account)
		forget(q->s);
	OBJ_EACH (it, q->s->lists)
		names[n++] = arena_strdup(q->a, it.key);
	if (!n)
		return 1;
	q->wants = (struct live_input_wants){.lists = names, .n_lists = n};
	q->lists_a = arena_new(BUNDLE_BYTES_MAX);
	start(q, q->lists_a, has_lists);
	return 0;
}

static int take_config(struct bundle_asking *q, const struct live_input_found *found,
		       struct error *err)
{
	if (bundle_input_make(q->spec, found->layers, found->n, q->a, &q->without, err) < 0)
		return -err->code;
	q->without.is_live = true;
	return ask_lists(q);
}

static void has_config(void *arg, const struct live_input_found *found, const struct error *failed)
{
	struct bundle_asking *q = arg;
	struct error err = failed ? *failed : ERROR_INIT;
	q->live = NULL;
	if (failed)
		bundle_input_blame(BUNDLE_CONFIG_FROM, &err);
	int rc = failed ? -err.code : take_config(q, found, &err);
	if (rc)
		q->done(q->s, rc < 0 ? &err : NULL);
}

int bundle_ask(struct bundle_asking *q, struct error *err)
{
	const struct live_input_found nothing = {0};
	if (!q->spec->renderer.from.n)
		return take_config(q, &nothing, err);
	q->wants = (struct live_input_wants){.from = &q->spec->renderer.from};
	start(q, q->a, has_config);
	return 0;
}

int bundle_ask_again(struct bundle_asking *q, const struct obj *lists, struct error *err)
{
	forget(q->s);
	if (bundle_lists_check(q->spec, lists, err) < 0)
		return -err->code;
	if (++q->times > TIMES_MAX)
		return error_set(err, E_UNAVAILABLE,
				 "%s: each push imports other live lists than the one before",
				 q->spec->renderer.entrypoint);
	q->s->lists = obj_copy(lists);
	return ask_lists(q);
}
