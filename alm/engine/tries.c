/* tries: see tries.h. */
#include "alm/engine/tries.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/map.h"
#include "alm/client/client.h"
#include "alm/obj/json.h"

#define HOW_MAX 40

/* The failures of one action: all alike. */
struct failing {
	size_t action;
	char how[HOW_MAX];
	int64_t n, pending;
};

struct tried {
	char digest[SHA256_HEX];
	int64_t plan_seq;
	unsigned attempts;
	struct failing failing[CLIENT_WRITES_MAX]; /* so many are under way at once */
	size_t n;
};

struct tries {
	struct map *units;
};

struct tries *tries_new(void)
{
	struct tries *t = xcalloc(1, sizeof(*t));
	t->units = map_new(xfree);
	return t;
}

void tries_free(struct tries *t)
{
	if (!t)
		return;
	map_free(t->units);
	xfree(t);
}

static void add_text(struct sha256 *h, const char *s)
{
	sha256_add(h, s ? s : "", s ? strlen(s) + 1 : 1);
}

static void digest_body(const struct obj *body, char out[SHA256_HEX])
{
	*out = 0;
	if (!body)
		return;
	CLEANUP(obj_unrefp) struct obj *bare = obj_copy(body);
	obj_del_path(bare, "metadata.resourceVersion");
	json_digest(bare, out);
}

void tries_digest(const struct plan *p, char out[SHA256_HEX])
{
	unsigned char sum[SHA256_BYTES];
	char body[SHA256_HEX];
	CLEANUP(sha256_freep) struct sha256 *h = sha256_new();
	*out = 0;
	if (!plan_has_writes(p))
		return;
	for (const struct action *a = p->head; a; a = a->next) {
		if (a->type > ACT_DELETE)
			continue;
		char type = (char)('0' + (char)a->type);
		digest_body(a->body, body);
		sha256_add(h, &type, 1);
		add_text(h, a->resource.group);
		add_text(h, a->resource.kind);
		add_text(h, a->ns);
		add_text(h, a->name);
		add_text(h, a->uid);
		add_text(h, a->as);
		add_text(h, a->subresource);
		add_text(h, body);
	}
	sha256_final(h, sum);
	hex_encode(sum, sizeof(sum), out);
}

int64_t tries_again(struct tries *t, const char *unit, const struct plan *p, unsigned *ret_attempt)
{
	char digest[SHA256_HEX];
	struct tried *d = map_get(t->units, unit);
	if (!d)
		return 0;
	tries_digest(p, digest);
	if (strcmp(d->digest, digest) != 0)
		return 0;
	*ret_attempt = ++d->attempts;
	return d->plan_seq;
}

static struct failing *failing_of(struct tried *d, size_t action)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->failing[i].action == action)
			return &d->failing[i];
	if (d->n == CLIENT_WRITES_MAX)
		d->n--;
	struct failing *f = &d->failing[d->n++];
	*f = (struct failing){.action = action};
	return f;
}

static struct tried *tried_of(struct tries *t, const char *unit, const char *digest,
			      int64_t plan_seq)
{
	struct tried *d = map_get(t->units, unit);
	if (d && d->plan_seq == plan_seq)
		return d;
	if (!d && map_count(t->units) >= TRIES_MAX)
		return NULL;
	d = xcalloc(1, sizeof(*d));
	d->plan_seq = plan_seq;
	d->attempts = 1;
	(void)snprintf(d->digest, sizeof(d->digest), "%s", digest);
	map_set(t->units, unit, d);
	return d;
}

bool tries_failed(struct tries *t, const char *unit, const char *digest, int64_t plan_seq,
		  size_t action, const char *how, int64_t *ret_suppressed)
{
	struct tried *d = tried_of(t, unit, digest, plan_seq);
	*ret_suppressed = 0;
	if (!d)
		return true;
	struct failing *f = failing_of(d, action);
	if (strncmp(f->how, how, sizeof(f->how) - 1) != 0) {
		/* of the former way nothing is lost: the entry of the new one counts them */
		*f = (struct failing){.action = action, .pending = f->pending};
		(void)snprintf(f->how, sizeof(f->how), "%s", how);
	}
	f->n++;
	if (f->n & (f->n - 1)) {
		f->pending++;
		return false;
	}
	*ret_suppressed = f->pending;
	f->pending = 0;
	return true;
}

int64_t tries_pending(const struct tries *t, const char *unit, size_t action)
{
	const struct tried *d = map_get(t->units, unit);
	for (size_t i = 0; d && i < d->n; i++)
		if (d->failing[i].action == action)
			return d->failing[i].pending;
	return 0;
}

void tries_forget(struct tries *t, const char *unit)
{
	map_del(t->units, unit);
}
