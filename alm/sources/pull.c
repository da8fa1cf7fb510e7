#include "alm/sources/pull.h"

#include <string.h>

#include "alm/sources/oci.h"
#include "alm/sources/registry.h"
#include "alm/sources/source_jobs.h"

struct pull {
	struct loop *loop;
	struct arena *a;
	const char *text;
	struct oci_reference ref;
	struct credentials credentials;
	struct remote *remote;
	struct registry *registry;
	struct task step;
	char manifest_digest[SHA256_HEX];
	const struct oci_blob *chart;
	struct str bytes;
	bool only_digest;
	struct error err;
	pull_done done;
	void *arg;
};

static void pull_free(struct pull *p)
{
	loop_unpost(p->loop, &p->step);
	registry_free(p->registry);
	remote_free(p->remote);
	arena_free(p->a);
	xfree(p);
}

void pull_cancel(struct pull *p)
{
	if (p)
		pull_free(p);
}

static void deliver(void *arg)
{
	struct pull *p = arg;
	if (p->err.code)
		error_wrap(&p->err, "%s", p->text);
	const struct pull_result result = {.err = p->err.code ? &p->err : NULL,
					   .bytes = p->bytes,
					   .digest = p->manifest_digest};
	p->done(p->arg, &result);
	pull_free(p);
}

static void finish(struct pull *p)
{
	loop_post(p->loop, &p->step);
}

/* wanted NULL: whatever came. */
static int check_digest(struct str body, const char *wanted, char hex[SHA256_HEX],
			struct error *err)
{
	sha256_hex(body, hex);
	if (wanted && strcmp(wanted, hex) != 0)
		return error_because(err, E_INVALID, REASON_DIGEST_MISMATCH,
				     "sha256 is %s, wanted %s", hex, wanted);
	return 0;
}

static void get(struct pull *p, const char *path, size_t body_max, remote_done done)
{
	const struct registry_request q = {
		.path = path, .accept = OCI_MANIFEST ", " OCI_DOCKER ", */*", .body_max = body_max};
	registry_send(p->registry, &q, done, p);
}

static void chart_came(void *arg, const struct remote_reply *reply)
{
	struct pull *p = arg;
	char hex[SHA256_HEX];
	if (remote_check(reply, &p->err) == 0 &&
	    check_digest(reply->body, p->chart->digest, hex, &p->err) == 0)
		p->bytes =
			str_n(arena_text(p->a, reply->body.ptr, reply->body.len), reply->body.len);
	finish(p);
}

static int read_manifest(struct pull *p, const struct remote_reply *reply)
{
	struct oci_manifest m;
	const char *wanted = p->ref.digest ? p->ref.digest + strlen("sha256:") : NULL;
	if (remote_check(reply, &p->err) < 0 ||
	    check_digest(reply->body, wanted, p->manifest_digest, &p->err) < 0 ||
	    oci_manifest_parse(reply->body, p->a, &m, &p->err) < 0)
		return -p->err.code;
	p->chart = oci_layer(&m, OCI_HELM_CHART);
	if (strcmp(m.config.media_type, OCI_HELM_CONFIG) != 0 || !p->chart)
		return error_set(&p->err, E_INVALID, "is no Helm chart but %.100s",
				 m.config.media_type);
	if (p->chart->size > SOURCE_ARCHIVE_BYTES_MAX)
		return error_set(&p->err, E_LIMIT, "archive of %llu bytes is larger than %zu",
				 (unsigned long long)p->chart->size, SOURCE_ARCHIVE_BYTES_MAX);
	return 0;
}

static void manifest_came(void *arg, const struct remote_reply *reply)
{
	struct pull *p = arg;
	if (read_manifest(p, reply) < 0 || p->only_digest)
		finish(p);
	else
		get(p, arena_fmt(p->a, "/blobs/sha256:%s", p->chart->digest),
		    SOURCE_ARCHIVE_BYTES_MAX, chart_came);
}

static struct pull *start(struct loop *l, const struct address_policy *addresses,
			  const struct obj *secret, const char *ref, bool only_digest,
			  pull_done done, void *arg)
{
	struct pull *p = xcalloc(1, sizeof(*p));
	p->only_digest = only_digest;
	p->loop = l;
	p->a = arena_new(2 * SOURCE_ARCHIVE_BYTES_MAX);
	p->text = arena_strdup(p->a, ref);
	p->step = (struct task){.fn = deliver, .arg = p};
	p->done = done;
	p->arg = arg;
	if (oci_reference_parse(str_of(ref), p->a, &p->ref, &p->err) < 0 ||
	    credentials_read(secret, p->ref.registry.origin, p->a, &p->credentials, &p->err) < 0) {
		finish(p);
		return p;
	}
	const char *name = p->ref.digest ? p->ref.digest : p->ref.tag ? p->ref.tag : "latest";
	p->remote = remote_new(l, p->credentials.ca_pem, addresses);
	p->registry = registry_new(p->remote, &p->ref, &p->credentials, "pull");
	get(p, arena_fmt(p->a, "/manifests/%s", name), OCI_MANIFEST_BYTES_MAX, manifest_came);
	return p;
}

struct pull *pull_start(struct loop *l, const struct address_policy *addresses,
			const struct obj *secret, const char *ref, pull_done done, void *arg)
{
	return start(l, addresses, secret, ref, false, done, arg);
}

struct pull *pull_digest_start(struct loop *l, const struct address_policy *addresses,
			       const struct obj *secret, const char *ref, pull_done done, void *arg)
{
	return start(l, addresses, secret, ref, true, done, arg);
}
