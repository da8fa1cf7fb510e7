#include "alm/client/injected_ca.h"

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/base/log.h"

#define BUNDLE_BYTES_MAX ((size_t)256 << 10)
#define NEVER            INT64_MAX

struct injected_ca {
	struct injected_ca_config c;
	struct loop *loop;
	struct own_ca ca;
	struct timer look;
	struct client_call *call;
	bool leads;
	int64_t in_place_ns; /* since when looks find the successor in place */
	char *bundle;        /* base64 */
	struct error told;   /* why the object cannot be looked after */
};

/* --- where it stands --- */

static bool apiservice_has(const struct obj *live, const char *bundle)
{
	return cstr_eq(obj_str(live, "spec.caBundle"), bundle);
}

static void apiservice_put(const struct obj *live, const char *bundle, struct obj *patch)
{
	(void)live;
	obj_set_path(patch, "spec.caBundle", obj_string(bundle));
}

const struct injected_ca_place injected_ca_apiservices = {
	{"apiregistration.k8s.io", "v1", "apiservices", "APIService", false},
	apiservice_has,
	apiservice_put};

static bool webhooks_have(const struct obj *live, const char *bundle)
{
	const struct obj *hooks = obj_get(live, "webhooks");
	for (size_t i = 0; i < obj_len(hooks); i++)
		if (!cstr_eq(obj_str(obj_at(hooks, i), "clientConfig.caBundle"), bundle))
			return false;
	return true;
}

static void webhooks_put(const struct obj *live, const char *bundle, struct obj *patch)
{
	struct obj *hooks = obj_copy(obj_get(live, "webhooks"));
	for (size_t i = 0; i < obj_len(hooks); i++)
		obj_set_path(obj_at_mut(hooks, i), "clientConfig.caBundle", obj_string(bundle));
	obj_set(patch, "webhooks", hooks);
}

const struct injected_ca_place injected_ca_webhooks = {{"admissionregistration.k8s.io", "v1",
							"validatingwebhookconfigurations",
							"ValidatingWebhookConfiguration", false},
						       webhooks_have,
						       webhooks_put};

/* --- the CA --- */

static void note_bundle(struct injected_ca *c)
{
	CLEANUP(strbuf_release) struct strbuf pem = STRBUF_INIT(BUNDLE_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(BUNDLE_BYTES_MAX);
	own_ca_bundle(&c->ca, &pem);
	base64_encode(str_of(pem.buf), &b);
	xfree(c->bundle);
	c->bundle = xstrdup(b.buf);
}

const char *const *injected_ca_bundle(const struct injected_ca *c)
{
	return (const char *const *)&c->bundle;
}

/* It signs before it takes the place of the former, which stays in the bundle for as long as it serves. */
static int replace(struct injected_ca *c, struct error *err)
{
	if (own_ca_prepare(&c->ca, err) < 0 ||
	    c->c.sign(c->c.arg, c->ca.next.cert, c->ca.next.key, err) < 0 ||
	    own_ca_switch(&c->ca, err) < 0) {
		note_bundle(c);
		return -err->code;
	}
	note_bundle(c);
	log_info("a new CA signs", "ca", c->c.name, "object", c->c.object);
	return 0;
}

static int prepare(struct injected_ca *c, struct error *err)
{
	if (c->ca.next.cert)
		return 0;
	c->in_place_ns = NEVER;
	if (own_ca_prepare(&c->ca, err) < 0)
		return -err->code;
	note_bundle(c);
	log_info("a new CA stands beside the former one", "ca", c->c.name, "object", c->c.object);
	return 0;
}

static bool has_settled(const struct injected_ca *c)
{
	return c->in_place_ns != NEVER &&
	       loop_mono(c->loop) - c->in_place_ns >= INJECTED_CA_SETTLE_NS;
}

static int look_after(struct injected_ca *c, struct error *err)
{
	if (own_ca_is_over(&c->ca) || (c->ca.next.cert && has_settled(c)))
		return replace(c, err);
	return own_ca_is_due(&c->ca) ? prepare(c, err) : 0;
}

/* --- the object --- */

/* Each error once, until it is another one. */
static void tell(struct injected_ca *c, const struct error *err)
{
	if (err && !cstr_eq(err->msg, c->told.msg))
		log_warn("a CA is not in its object", "ca", c->c.name, "kind",
			 c->c.place->resource.kind, "object", c->c.object, "error", err->msg);
	c->told = err ? *err : ERROR_INIT;
}

static void injected(void *arg, const struct client_reply *reply)
{
	struct injected_ca *c = arg;
	c->call = NULL;
	if (reply->err && reply->err->code == E_CONFLICT) {
		loop_arm(c->loop, &c->look, INJECTED_CA_AGAIN_NS);
		return;
	}
	tell(c, reply->err);
	if (!reply->err)
		log_info("a CA is in its object", "ca", c->c.name, "kind",
			 c->c.place->resource.kind, "object", c->c.object);
}

static void inject(struct injected_ca *c, const char *bundle, const struct obj *live)
{
	CLEANUP(obj_unrefp) struct obj *patch = obj_map();
	c->c.place->put(live, bundle, patch);
	obj_set_path(patch, "metadata.resourceVersion",
		     obj_string(obj_str(live, "metadata.resourceVersion")));
	c->call = client_patch(c->c.client, &c->c.place->resource, NULL, c->c.object,
			       "application/merge-patch+json", patch, NULL, injected, c);
}

static void looked(void *arg, const struct client_reply *reply)
{
	struct injected_ca *c = arg;
	c->call = NULL;
	tell(c, reply->err);
	if (reply->err || !c->c.place->has(reply->body, c->bundle)) {
		c->in_place_ns = NEVER;
		if (!reply->err)
			inject(c, c->bundle, reply->body);
	} else if (c->in_place_ns == NEVER) {
		c->in_place_ns = loop_mono(c->loop);
	}
}

static void look(void *arg)
{
	struct injected_ca *c = arg;
	struct error err = ERROR_INIT;
	loop_arm(c->loop, &c->look, INJECTED_CA_LOOK_NS);
	if (look_after(c, &err) < 0)
		log_error("no new CA", "ca", c->c.name, "error", err.msg);
	if (c->leads && !c->call)
		c->call = client_get(c->c.client, &c->c.place->resource, NULL, c->c.object, NULL,
				     looked, c);
}

/* --- life --- */

int injected_ca_open(const struct injected_ca_config *config, struct injected_ca **ret,
		     struct error *err)
{
	struct injected_ca *c = xcalloc(1, sizeof(*c));
	c->c = *config;
	c->loop = client_loop(config->client);
	c->ca = (struct own_ca){.loop = c->loop, .dir = config->dir, .name = config->name};
	c->look = (struct timer){.fn = look, .arg = c};
	c->in_place_ns = NEVER;
	if (own_ca_open(&c->ca, err) < 0 ||
	    c->c.sign(c->c.arg, c->ca.now.cert, c->ca.now.key, err) < 0) {
		injected_ca_free(c);
		return -err->code;
	}
	note_bundle(c);
	*ret = c;
	return 0;
}

void injected_ca_start(struct injected_ca *c)
{
	loop_arm(c->loop, &c->look, INJECTED_CA_LOOK_NS);
}

void injected_ca_lead(struct injected_ca *c, bool leads)
{
	c->leads = leads;
	if (leads) {
		look(c);
	} else if (c->call) {
		client_cancel(c->c.client, c->call);
		c->call = NULL;
	}
	if (!leads)
		c->in_place_ns = NEVER;
}

void injected_ca_free(struct injected_ca *c)
{
	if (!c)
		return;
	injected_ca_lead(c, false);
	loop_disarm(c->loop, &c->look);
	own_ca_release(&c->ca);
	xfree(c->bundle);
	xfree(c);
}
