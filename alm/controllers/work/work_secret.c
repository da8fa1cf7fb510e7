/* The Secret that a work of ours may send to a server. */
#include "alm/controllers/work/works.h"
#include "alm/sources/credentials.h"

static struct work_secret *secret_of(struct work *w)
{
	return (struct work_secret *)w->state;
}

static void fail(struct work *w, const struct error *err)
{
	work_put(w, err, STR_NONE, NULL);
	work_done(w);
}

static void came(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	w->call = NULL;
	if (!reply->err) {
		secret_of(w)->then(w, reply->body);
		return;
	}
	struct error err = *reply->err;
	if (err.code == E_NOTFOUND)
		credentials_absent(secret_of(w)->name, &err);
	fail(w, &err);
}

void work_with_secret(struct work *w, const char *name,
		      void (*then)(struct work *w, const struct obj *secret))
{
	const struct resource *r = discovery_kind(w->discovery, "", "v1", "Secret");
	struct error err = ERROR_INIT;
	*secret_of(w) = (struct work_secret){name, then};
	if (!name) {
		then(w, NULL);
	} else if (r) {
		w->call = client_get(w->client, r, CREDENTIALS_NAMESPACE, name, NULL, came, w);
	} else { /* never without it */
		(void)error_set(&err, E_UNAVAILABLE, "Secret %s/%s: the server lists no Secrets",
				CREDENTIALS_NAMESPACE, name);
		fail(w, &err);
	}
}
