/* The slot of a Bundle, and what its units are made with (manager_bundles.h). */
#include "alm/controllers/fleet/bundle_asks.h"
#include "alm/controllers/fleet/bundle_state.h"
#include "alm/controllers/manager_bundles.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

static char *key_of(const char *name)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%s/" BUNDLE_INSTANCE, name);
	return strbuf_detach(&b);
}

struct bundle_slot *bundle_slot_of(struct bundles *b, const char *name)
{
	struct bundle_slot *s = map_get(b->slots, name);
	if (s)
		return s;
	s = xcalloc(1, sizeof(*s));
	s->b = b;
	s->name = xstrdup(name);
	s->key = key_of(name);
	map_set(b->slots, name, s);
	return s;
}

static void digest(void *arg, const struct obj *o, char out[SHA256_HEX])
{
	audit_object_digest(arg, o, out);
}

static const char *hub_of(struct manager *m, struct arena *a)
{
	const struct informer_object *io =
		informer_get(m->fixed[WATCH_NAMESPACE].informer, "", "kube-system");
	CLEANUP(obj_unrefp) struct obj *o = manager_read(io);
	return meta_uid(o) ? unit_hub(meta_uid(o), a) : NULL;
}

int bundle_unit_options(const struct bundle_slot *s, struct arena *a, struct unit_options *ret,
			struct error *err)
{
	struct manager *m = s->b->m;
	*ret = (struct unit_options){.hub = hub_of(m, a),
				     .bundle = s->name,
				     .instance = BUNDLE_INSTANCE,
				     .ns = "default",
				     .digest = {.fn = digest, .arg = m->c.audit}};
	return ret->hub ? 0
			: error_set(err, E_UNAVAILABLE, "Namespace kube-system is not there yet");
}

void bundle_slot_limit(struct bundle_slot *s, bool again, const struct error *err)
{
	bool is_limit = err->reason == REASON_RENDER_LIMIT;
	s->limits = is_limit ? (again ? s->limits : 0) + 1 : 0;
	s->limited_ns = loop_mono(s->b->m->c.loop);
}

bool bundle_slot_has_config(const struct bundle_slot *s, const char *digest)
{
	return s->failed.reason == REASON_RENDER_LIMIT || cstr_eq(s->config, digest);
}

bool bundle_slot_tries_again(const struct bundle_slot *s)
{
	const struct bundle_ended e = {.run = RUN_REFUSED,
				       .failures = s->limits,
				       .since_ns = loop_mono(s->b->m->c.loop) - s->limited_ns};
	return (s->asks && s->failed.code) ||
	       (s->failed.reason == REASON_RENDER_LIMIT && bundle_retry_in(&e) == 0);
}

/* --- credentials that were rejected --- */

void bundle_rejected_clear(struct bundle_slot *s)
{
	xfree(STEAL(s->rejected.secret_version));
	s->rejected = (struct bundle_rejected){0};
}

static bool is_same(const struct bundle_slot *s, const struct obj *bundle,
		    const char *secret_version)
{
	return cstr_eq(s->rejected.secret_version, secret_version) &&
	       s->rejected.generation == meta_generation(bundle);
}

/* A server locks out who comes with a wrong password too often: the same one is shown to it more
 * and more seldom, another one at once. */
bool bundle_rejected_still(const struct bundle_slot *s, const struct obj *bundle,
			   const char *secret_version)
{
	const struct bundle_rejected *j = &s->rejected;
	return j->times && is_same(s, bundle, secret_version) &&
	       loop_mono(s->b->m->c.loop) - j->at_ns < bundle_rejected_pause(j->times);
}

void bundle_rejected_note(struct bundle_slot *s, const struct obj *bundle,
			  const char *secret_version, const struct error *why)
{
	unsigned times = is_same(s, bundle, secret_version) ? s->rejected.times : 0;
	bundle_rejected_clear(s);
	s->rejected = (struct bundle_rejected){.secret_version = xstrdup(secret_version),
					       .generation = meta_generation(bundle),
					       .at_ns = loop_mono(s->b->m->c.loop),
					       .times = times + 1,
					       .why = *why};
}

/* What was found wrong is looked at again: with the same commit and the same password. */
void bundle_slot_begin(struct bundle_slot *s, const struct obj *bundle)
{
	s->hooked = false;
	s->asks = bundle_is_asked(bundle, s->asked_read);
	if (!s->asks)
		return;
	bundle_rejected_clear(s);
	xfree(s->asked_read);
	s->asked_read = xstrdup(meta_annotation(bundle, ANNOTATION_RETRY));
}
