#include "alm/io/own_ca.h"

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/io/serving_cert.h"
#include "alm/io/tls.h"

#define PEM_BYTES_MAX ((size_t)64 << 10)
#define NOW           ""
#define NEXT          "-next"

static void pair_release(struct own_ca_pair *p)
{
	xfree(STEAL(p->cert));
	xfree(STEAL(p->key));
}

/* --- files --- */

static const char *path_of(const struct own_ca *c, const char *which, const char *ending,
			   struct strbuf *b)
{
	strbuf_addf(b, "%s/%s%s.%s", c->dir, c->name, which, ending);
	return b->buf;
}

/* NULL if there is no such file, or an empty one. */
static int read_text(const struct own_ca *c, const char *which, const char *ending, char **ret,
		     struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PEM_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(PEM_BYTES_MAX);
	struct error inner = ERROR_INIT;
	*ret = NULL;
	if (file_read(path_of(c, which, ending, &path), &text, &inner) < 0 &&
	    inner.code != E_NOTFOUND) {
		*err = inner;
		return -err->code;
	}
	if (text.len)
		*ret = strbuf_detach(&text);
	return 0;
}

static int write_text(const struct own_ca *c, const char *which, const char *ending,
		      const char *text, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PEM_BYTES_MAX);
	return file_write_atomic(path_of(c, which, ending, &path), str_of(text), 0600, err);
}

/* The key first: without its certificate it is no pair, and is made again. */
static int write_pair(const struct own_ca *c, const char *which, const struct own_ca_pair *p,
		      struct error *err)
{
	if (write_text(c, which, "key", p->key, err) < 0)
		return -err->code;
	return write_text(c, which, "crt", p->cert, err);
}

static bool fits(const struct own_ca *c, const struct own_ca_pair *p)
{
	CLEANUP(xfreep) char *cert = NULL, *key = NULL;
	struct error ignored = ERROR_INIT;
	return p->cert && p->key &&
	       tls_serving_new(c->loop, p->cert, p->key, NULL, 0, &cert, &key, &ignored) == 0;
}

/* None if the two files are no pair that signs. */
static int read_pair(const struct own_ca *c, const char *which, struct own_ca_pair *ret,
		     struct error *err)
{
	if (read_text(c, which, "crt", &ret->cert, err) < 0 ||
	    read_text(c, which, "key", &ret->key, err) < 0)
		return -err->code;
	if (!fits(c, ret))
		pair_release(ret);
	return 0;
}

/* --- its life --- */

bool own_ca_is_due(const struct own_ca *c)
{
	struct error ignored = ERROR_INIT;
	int64_t from, until;
	return tls_lifetime(c->now.cert, &from, &until, &ignored) < 0 ||
	       serving_cert_is_due(from, until, loop_now(c->loop));
}

bool own_ca_is_over(const struct own_ca *c)
{
	struct error ignored = ERROR_INIT;
	int64_t from, until, now = loop_now(c->loop);
	return tls_lifetime(c->now.cert, &from, &until, &ignored) < 0 || now < from ||
	       now > until - OWN_CA_LAST_NS;
}

static int make(const struct own_ca *c, const char *which, struct own_ca_pair *ret,
		struct error *err)
{
	if (tls_ca_new(c->loop, c->name, &ret->cert, &ret->key, err) == 0 &&
	    write_pair(c, which, ret, err) == 0)
		return 0;
	pair_release(ret);
	return -err->code;
}

int own_ca_prepare(struct own_ca *c, struct error *err)
{
	if (fits(c, &c->next))
		return 0;
	pair_release(&c->next);
	return make(c, NEXT, &c->next, err);
}

static int forget(const struct own_ca *c, const char *ending, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PEM_BYTES_MAX);
	return file_remove(path_of(c, NEXT, ending, &path), err);
}

int own_ca_switch(struct own_ca *c, struct error *err)
{
	struct error ignored = ERROR_INIT;
	if (write_pair(c, NOW, &c->next, err) < 0)
		return -err->code;
	pair_release(&c->now);
	c->now = c->next;
	c->next = (struct own_ca_pair){0};
	(void)forget(c, "crt", &ignored); /* one that stays is the one that is used */
	(void)forget(c, "key", &ignored);
	return 0;
}

int own_ca_open(struct own_ca *c, struct error *err)
{
	if (read_pair(c, NOW, &c->now, err) < 0 || read_pair(c, NEXT, &c->next, err) < 0)
		return -err->code;
	if (c->next.cert && cstr_eq(c->next.cert, c->now.cert))
		return own_ca_switch(c, err); /* it ended before they were removed */
	if (c->now.cert && !own_ca_is_over(c))
		return 0;
	if (own_ca_prepare(c, err) < 0)
		return -err->code;
	return own_ca_switch(c, err);
}

void own_ca_bundle(const struct own_ca *c, struct strbuf *b)
{
	strbuf_adds(b, c->now.cert);
	if (c->next.cert)
		strbuf_adds(b, c->next.cert);
}

void own_ca_release(struct own_ca *c)
{
	pair_release(&c->now);
	pair_release(&c->next);
}
