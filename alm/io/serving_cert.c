#include "alm/io/serving_cert.h"

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/io/addresses.h"
#include "alm/io/tls.h"

#define LOOK_NS     (10 * NS_PER_S)
#define PAUSE_NS    (10 * NS_PER_MIN) /* after one could not be made */
#define FULL_NS     (29 * NS_PER_DAY) /* shorter: the CA has no more to give */
#define NAMES_BYTES ((size_t)64 << 10)

bool serving_cert_is_due(int64_t from_ns, int64_t until_ns, int64_t now_ns)
{
	return now_ns < from_ns || now_ns > until_ns - (until_ns - from_ns) / 3;
}

/* The further names, then the host that is listened on, without brackets; an empty one and the
 * wildcards stand for every address of the machine. */
static size_t names_of(const struct serving_cert *c, struct arena *a, const char ***ret_names)
{
	const char **names = ARENA_ARRAY(a, const char *, c->n_hosts + ADDRESSES_MAX);
	struct str host = STR(""), port;
	str_rcut(str_of(c->listen), ':', &host, &port);
	if (host.len > 1 && host.ptr[0] == '[')
		host = str_sub(host, 1, host.len - 2);
	for (size_t i = 0; i < c->n_hosts; i++)
		names[i] = c->hosts[i];
	*ret_names = names;
	if (!host.len || str_is(host, "0.0.0.0") || str_is(host, "::"))
		return c->n_hosts + addresses_local(a, names + c->n_hosts);
	names[c->n_hosts] = arena_strndup(a, host.ptr, host.len);
	return c->n_hosts + 1;
}

static char *joined(const char *const *names, size_t n)
{
	struct strbuf b = STRBUF_INIT(NAMES_BYTES);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&b, "%s ", names[i]);
	return strbuf_detach(&b);
}

static void replace(char **to, char *text)
{
	xfree(*to);
	*to = text;
}

static int make(struct serving_cert *c, const char *const *names, size_t n, struct error *err)
{
	char *cert = NULL, *key = NULL;
	if (tls_serving_new(c->loop, c->ca_cert, c->ca_key, names, n, &cert, &key, err) < 0)
		return -err->code;
	replace(&c->cert, cert);
	replace(&c->key, key);
	replace(&c->names, joined(names, n));
	if (tls_lifetime(c->cert, &c->from_ns, &c->until_ns, err) < 0)
		return -err->code;
	if (c->until_ns - c->from_ns < FULL_NS) {
		char until[CLOCK_TEXT_MAX];
		clock_format(c->until_ns, CLOCK_SECONDS, until);
		log_warn("the CA ends soon: remove ca.crt and ca.key from the data folder to get "
			 "another at the next start, and hand out the new kubeconfig",
			 "until", until);
	}
	return 0;
}

int serving_cert_make(struct serving_cert *c, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(NAMES_BYTES);
	const char **names;
	size_t n = names_of(c, a, &names);
	return make(c, names, n, err);
}

static void look(void *arg)
{
	struct serving_cert *c = arg;
	CLEANUP(arena_freep) struct arena *a = arena_new(NAMES_BYTES);
	const char **names;
	struct error err = ERROR_INIT;
	size_t n = names_of(c, a, &names);
	CLEANUP(xfreep) char *now = joined(names, n);
	loop_arm(c->loop, &c->timer, LOOK_NS);
	bool moved = !cstr_eq(now, c->names);
	if (!moved && !serving_cert_is_due(c->from_ns, c->until_ns, loop_now(c->loop)))
		return;
	if (make(c, names, n, &err) < 0 || server_renew(c->server, c->cert, c->key, &err) < 0) {
		log_error("no new serving certificate", "error", err.msg);
		loop_arm(c->loop, &c->timer, PAUSE_NS);
		return;
	}
	char until[CLOCK_TEXT_MAX];
	clock_format(c->until_ns, CLOCK_SECONDS, until);
	log_info("new serving certificate", "because", moved ? "addresses" : "age", "until", until);
}

void serving_cert_keep(struct serving_cert *c, struct server *s)
{
	c->server = s;
	c->timer = (struct timer){.fn = look, .arg = c};
	loop_arm(c->loop, &c->timer, LOOK_NS);
}

void serving_cert_release(struct serving_cert *c)
{
	if (c->timer.fn)
		loop_disarm(c->loop, &c->timer);
	xfree(c->cert);
	xfree(c->key);
	xfree(c->names);
}
