/* The slot of a Bundle, and what its units are made with (manager_bundles.h). */
#include "alm/controllers/manager_bundles.h"
#include "alm/obj/meta.h"

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
