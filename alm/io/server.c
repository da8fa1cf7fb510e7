/*
 * server: what every backend's exchange shares.
 */
#include "alm/io/server.h"

void exchange_reply(struct exchange *x, int status, const struct http_headers *h, struct str body)
{
	x->ops->reply(x, status, h, body);
}

void exchange_begin(struct exchange *x, int status, const struct http_headers *h)
{
	x->ops->begin(x, status, h);
}

size_t exchange_write(struct exchange *x, struct str chunk)
{
	return x->ops->write(x, chunk);
}

void exchange_end(struct exchange *x)
{
	x->ops->end(x);
}

void exchange_cut(struct exchange *x)
{
	x->ops->cut(x);
}

enum quota_verdict exchange_charge(struct exchange *x, enum quota_what what, size_t n)
{
	return x->ops->charge ? x->ops->charge(x, what, n) : QUOTA_OK;
}

bool exchange_keeps(const struct exchange *x)
{
	return x->ops->keep != NULL;
}

void exchange_keep(struct exchange *x, struct arena *a)
{
	x->ops->keep(x, a);
}

void exchange_discharge(struct exchange *x, enum quota_what what)
{
	if (x->ops->discharge)
		x->ops->discharge(x, what);
}
