/* What was read of a Bundle's source is made a unit: rendered in the sandbox, or, of a tree that was rendered before,
 * the same one by another commit. */
#include <string.h>

#include "alm/controllers/fleet/bundle_accept.h"
#include "alm/controllers/fleet/bundle_make.h"
#include "alm/controllers/manager_bundle_reading.h"
#include "alm/obj/gvk.h"
#include "alm/render/flat_job.h"

static int scope_of(void *arg, const struct obj *o)
{
	const struct manager *m = arg;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 12);
	struct gvk g = {"", "", ""};
	gvk_of(o, a, &g);
	const struct resource *r = discovery_kind(m->discovery, g.group, g.version, g.kind);
	return r ? r->namespaced : -1;
}

static int take_commit(struct reading *r, size_t objects, const char *digest, struct error *err)
{
	const struct bundle_head head = {.commit = obj_str(r->read, "commit"),
					 .objects = objects,
					 .rewritten = r->rewritten,
					 .unknown = r->unknown};
	if (bundle_accept_check(r->bundle, &r->spec, &head, err) < 0)
		return -err->code;
	obj_set_str(r->read, "digest", digest);
	obj_set_int(r->read, "objects", (int64_t)objects);
	return 0;
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
	o.hidden = bundle_input_hidden(&r->ask.input, rendered, r->a);
	if (bundle_make(&r->spec, rendered, &scopes, &o, r->a, NULL, &made, err) < 0)
		return bundle_render_mute(&r->spec, &r->ask.input, err);
	*ret = made.unit;
	return take_commit(r, made.flat.n, made.unit->digest, err);
}

/* The same objects by another commit: what runs, or has run, is of that one now. */
static void keep_read(struct bundle_slot *s)
{
	const struct reading *r = s->reading;
	obj_unref(s->read);
	s->read = obj_copy(r->read);
	s->rewritten = r->rewritten;
	if (s->source && cstr_eq(obj_str(s->source, "digest"), obj_str(s->read, "digest"))) {
		obj_unref(s->source);
		s->source = obj_ref(s->read);
		s->job.source = s->source;
	}
	bundle_reading_head(s, obj_str(r->read, "commit"), NULL);
}

static void keep_unit(struct bundle_slot *s, struct unit *u)
{
	keep_read(s);
	if (s->a)
		arena_free(s->a);
	s->a = STEAL(s->reading->a); /* the news are in it */
	s->next = u;
}

static void tell_revision(struct bundle_slot *s)
{
	const struct reading *r = s->reading;
	const struct bundle_news news = {
		.read = r->read, .skipped = r->skipped, .is_new = true, .unknown = r->unknown};
	bundle_reading_end(s, &news, NULL);
}

/* Git is asked anew, too: its files are gone. */
static void ask_again(struct bundle_slot *s, const struct obj *lists)
{
	struct reading *r = s->reading;
	struct error err = ERROR_INIT;
	int rc = bundle_ask_again(&r->ask, lists, &err);
	if (rc < 0) {
		bundle_reading_refuse(s, &err);
		return;
	}
	r->read = r->skipped = NULL;
	if (rc)
		r->ask.done(s, NULL);
}

static void rendered(void *arg, struct obj *value, const struct error *failed)
{
	struct bundle_slot *s = arg;
	struct reading *r = s->reading;
	struct error err = failed ? *failed : ERROR_INIT;
	struct unit *u = NULL;
	if (r->spec.renderer.entrypoint && flat_job_lists(value)) {
		ask_again(s, flat_job_lists(obj_keep(r->a, value)));
		return;
	}
	if (failed) {
		(void)bundle_render_mute(&r->spec, &r->ask.input, &err);
	} else {
		bundle_render_hide(&r->ask.input, value);
		(void)take_flat(s, obj_keep(r->a, value), &u, &err);
	}
	if (err.code) {
		bundle_render_blame(&r->spec, &err);
		bundle_reading_refuse(s, &err);
		return;
	}
	keep_unit(s, u);
	tell_revision(s);
}

/* Another commit of the tree that was rendered well, for the same spec and with the same configuration and lists: it
 * would be the same once more. */
static bool has_same_tree(const struct bundle_slot *s, const struct files *f)
{
	return s->read && !s->failed.code && *f->tree && !strcmp(s->tree, f->tree) &&
	       bundle_reading_is_known(s);
}

static void take_again(struct bundle_slot *s)
{
	struct reading *r = s->reading;
	struct error err = ERROR_INIT;
	obj_set_str(r->read, "sameAs", obj_str(s->read, "commit"));
	if (take_commit(r, (size_t)obj_i64(s->read, "objects", 0), obj_str(s->read, "digest"),
			&err) < 0) {
		bundle_reading_refuse(s, &err);
		return;
	}
	keep_read(s);
	tell_revision(s);
}

void bundle_reading_take(struct bundle_slot *s, const struct files *f)
{
	struct reading *r = s->reading;
	if (has_same_tree(s, f)) {
		take_again(s);
		return;
	}
	r->render = (struct render_call){.done = rendered, .arg = s};
	bundle_input_files(&r->ask.input, f, r->a);
	bundle_render_start(&r->spec, s->b->m->c.sandbox, f, &r->ask.input, &r->render);
	bundle_ask_sent(&r->ask);
}
