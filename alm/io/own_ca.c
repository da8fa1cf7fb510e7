#include "alm/io/own_ca.h"

#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/io/serving_cert.h"
#include "alm/io/tls.h"

#define PEM_BYTES_MAX ((size_t)64 << 10)

static const char *path_of(const struct own_ca *c, const char *ending, struct strbuf *b)
{
	strbuf_addf(b, "%s/%s.%s", c->dir, c->name, ending);
	return b->buf;
}

/* NULL if there is no such file, or an empty one. */
static int read_text(const struct own_ca *c, const char *ending, char **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PEM_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(PEM_BYTES_MAX);
	struct error inner = ERROR_INIT;
	*ret = NULL;
	if (file_read(path_of(c, ending, &path), &text, &inner) < 0 && inner.code != E_NOTFOUND) {
		*err = inner;
		return -err->code;
	}
	if (text.len)
		*ret = strbuf_detach(&text);
	return 0;
}

static int write_text(const struct own_ca *c, const char *ending, const char *text,
		      struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PEM_BYTES_MAX);
	return file_write_atomic(path_of(c, ending, &path), str_of(text), 0600, err);
}

static bool fits(const struct own_ca *c)
{
	CLEANUP(xfreep) char *cert = NULL, *key = NULL;
	struct error ignored = ERROR_INIT;
	return c->cert && c->key &&
	       tls_serving_new(c->loop, c->cert, c->key, NULL, 0, &cert, &key, &ignored) == 0;
}

bool own_ca_is_due(const struct own_ca *c)
{
	struct error ignored = ERROR_INIT;
	int64_t from, until;
	return tls_lifetime(c->cert, &from, &until, &ignored) < 0 ||
	       serving_cert_is_due(from, until, loop_now(c->loop));
}

int own_ca_renew(struct own_ca *c, struct error *err)
{
	CLEANUP(xfreep) char *cert = NULL, *key = NULL;
	if (tls_ca_new(c->loop, c->name, &cert, &key, err) < 0 ||
	    write_text(c, "key", key, err) < 0 || write_text(c, "crt", cert, err) < 0)
		return -err->code;
	own_ca_release(c);
	c->cert = STEAL(cert);
	c->key = STEAL(key);
	return 0;
}

int own_ca_open(struct own_ca *c, struct error *err)
{
	if (read_text(c, "crt", &c->cert, err) < 0 || read_text(c, "key", &c->key, err) < 0)
		return -err->code;
	return fits(c) && !own_ca_is_due(c) ? 0 : own_ca_renew(c, err);
}

void own_ca_release(struct own_ca *c)
{
	xfree(STEAL(c->cert));
	xfree(STEAL(c->key));
}
