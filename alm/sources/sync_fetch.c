/* One archive by digest, from wherever its index says it lies. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "alm/sources/inplace.h"
#include "alm/sources/inspect.h"
#include "alm/sources/pull.h"
#include "alm/sources/registry.h"
#include "alm/sources/remote.h"
#include "alm/sources/sync.h"

struct archive_fetch {
	struct sync_host host;
	struct arena *a;
	struct package_version wanted; /* texts copied */
	const char *policy;
	struct credentials credentials;
	struct remote *remote;
	struct registry *registry;
	struct pull *pull;   /* of the operator of a package in place */
	struct obj *inplace; /* of the Catalog */
	struct sandbox_run *child;
	struct task step;
	struct strbuf bytes;
	struct obj *entry;
	struct error err;
	archive_done done;
	void *arg;
};

static void fetch_free(struct archive_fetch *f)
{
	loop_unpost(f->host.loop, &f->step);
	if (f->child)
		sandbox_cancel(f->host.sandbox, f->child);
	registry_free(f->registry);
	remote_free(f->remote);
	pull_cancel(f->pull);
	obj_unref(f->inplace);
	strbuf_release(&f->bytes);
	obj_unref(f->entry);
	arena_free(f->a);
	xfree(f);
}

void archive_fetch_cancel(struct archive_fetch *f)
{
	if (f)
		fetch_free(f);
}

static void deliver(void *arg)
{
	struct archive_fetch *f = arg;
	struct archive_result result = {.err = f->err.code ? &f->err : NULL,
					.bytes = strbuf_str(&f->bytes),
					.entry = f->entry};
	f->done(f->arg, &result);
	fetch_free(f);
}

static void finish(struct archive_fetch *f)
{
	loop_post(f->host.loop, &f->step);
}

static void compare(struct archive_fetch *f)
{
	inspect_compare(f->entry, &f->wanted, &f->err);
	finish(f);
}

static void inspected(void *arg, struct str output, const struct error *err)
{
	struct archive_fetch *f = arg;
	f->child = NULL;
	if (err) {
		f->err = *err;
		error_wrap(&f->err, "%s", f->wanted.locator);
		finish(f);
	} else if (json_parse(output, &f->entry, &f->err) < 0) {
		error_wrap(&f->err, "what the inspection answered");
		finish(f);
	} else {
		compare(f);
	}
}

/* The signature is of the digest: what was said of that is said of these bytes. */
static int judge_signature(struct archive_fetch *f)
{
	const struct package_version *p = &f->wanted;
	int64_t now_s = loop_now(f->host.loop) / NS_PER_S;
	if (!*f->policy)
		return 0;
	if (!cstr_eq(p->verified_by, f->policy))
		return error_because(
			&f->err, E_UNAVAILABLE, REASON_SIGNATURE_INVALID,
			"%s: its signature was not judged by the keys of "
			"spec.verify as they are now; the catalog has to be read again",
			p->locator);
	if (p->verified_until_s && now_s >= p->verified_until_s)
		return error_because(&f->err, E_UNAVAILABLE, REASON_SIGNATURE_INVALID,
				     "%s: its signature, or the key, has expired", p->locator);
	return 0;
}

/* Every archive of every kind of source comes by here: what a Catalog demands of the bytes (digest,
 * signature) is judged here and nowhere else, before a parser sees them. */
static int judge(struct archive_fetch *f)
{
	if (judge_signature(f) < 0)
		return -f->err.code;
	char actual[SHA256_HEX];
	sha256_hex(strbuf_str(&f->bytes), actual);
	if (strcmp(actual, f->wanted.digest) != 0)
		return error_because(&f->err, E_INVALID, REASON_DIGEST_MISMATCH,
				     "%s: sha256 is %s, wanted %s", f->wanted.locator, actual,
				     f->wanted.digest);
	return 0;
}

static void bytes_came(struct archive_fetch *f)
{
	if (judge(f) < 0) {
		strbuf_clear(&f->bytes);
		finish(f);
		return;
	}
	f->child = sandbox_run(f->host.sandbox, INSPECT_JOB, strbuf_str(&f->bytes), &inspect_limits,
			       inspected, f);
}

static void reply_came(void *arg, const struct remote_reply *reply)
{
	struct archive_fetch *f = arg;
	if (remote_check(reply, &f->err) < 0) {
		finish(f);
		return;
	}
	strbuf_addstr(&f->bytes, reply->body);
	bytes_came(f);
}

/* "https://host/v2/NAME/blobs/sha256:..." */
static bool blob_name(const struct weburl *u, struct arena *a, struct oci_reference *ret)
{
	struct str path = str_of(u->path);
	ptrdiff_t at = str_find(path, STR("/blobs/"));
	if (!str_has_prefix(path, STR("/v2/")) || at < 4)
		return false;
	*ret = (struct oci_reference){.registry = *u,
				      .name = arena_text(a, path.ptr + 4, (size_t)at - 4)};
	return true;
}

static int fetch_remote(struct archive_fetch *f, const char *source, const struct obj *secret)
{
	struct weburl home, u;
	bool is_oci = cstr_has_prefix(source, "oci://");
	struct oci_reference ref;
	if (weburl_parse(str_of(source), is_oci ? "oci" : "https", f->a, &home, &f->err) < 0 ||
	    weburl_parse(str_of(f->wanted.locator), "https", f->a, &u, &f->err) < 0 ||
	    credentials_read(secret, home.origin, f->a, &f->credentials, &f->err) < 0)
		return -f->err.code;
	f->remote = remote_new(f->host.loop, f->credentials.ca_pem, f->host.addresses);
	if (is_oci && blob_name(&u, f->a, &ref)) {
		struct registry_request q = {.url = &u, .body_max = SOURCE_ARCHIVE_BYTES_MAX};
		f->registry = registry_new(f->remote, &ref, &f->credentials, "pull");
		registry_send(f->registry, &q, reply_came, f);
		return 0;
	}
	/* Credentials are the source's: another server gets them only if they say so. */
	struct remote_request q = {.url = &u,
				   .authorization =
					   credentials_are_for(&f->credentials, u.origin)
						   ? credentials_header(&f->credentials, f->a)
						   : NULL,
				   .body_max = SOURCE_ARCHIVE_BYTES_MAX};
	remote_send(f->remote, &q, reply_came, f);
	return 0;
}

/* --- what lies on this machine --- */

static void member_came(void *arg, struct str output, const struct error *err)
{
	struct archive_fetch *f = arg;
	f->child = NULL;
	if (err) {
		f->err = *err;
		error_wrap(&f->err, "%s", f->wanted.locator);
		finish(f);
		return;
	}
	strbuf_addstr(&f->bytes, output);
	bytes_came(f);
}

static void fetch_from_dir(struct archive_fetch *f, const char *dir)
{
	const struct source_files *fs = f->host.files;
	const char *path = arena_fmt(f->a, "%s/%s", dir, source_local_name(f->wanted.locator));
	if (fs->read(fs->arg, path, &f->bytes, &f->err) < 0)
		finish(f);
	else
		bytes_came(f);
}

static void fetch_from_file(struct archive_fetch *f, const char *path)
{
	const char *name = arena_fmt(f->a, "%s\n", source_local_name(f->wanted.locator));
	f->child = source_run(f->host.files, f->host.sandbox, SOURCE_JOB_MEMBER, str_of(name), path,
			      member_came, f, &f->err);
	if (!f->child)
		finish(f);
}

/* --- what stands in an AppType --- */

static void make_inplace(struct archive_fetch *f, struct str operator_chart)
{
	if (inplace_archive(f->inplace, operator_chart, &f->bytes, &f->err) < 0)
		finish(f);
	else
		bytes_came(f);
}

static void operator_came(void *arg, const struct pull_result *result)
{
	struct archive_fetch *f = arg;
	f->pull = NULL;
	if (result->err) {
		f->err = *result->err;
		finish(f);
	} else {
		make_inplace(f, result->bytes);
	}
}

static void fetch_inplace(struct archive_fetch *f, const struct obj *inplace,
			  const struct obj *secret)
{
	f->inplace = obj_copy(inplace);
	const char *ref;
	if (inplace_operator(f->inplace, f->a, &ref, &f->err) < 0)
		finish(f);
	else if (ref)
		f->pull =
			pull_start(f->host.loop, f->host.addresses, secret, ref, operator_came, f);
	else
		make_inplace(f, STR_NONE);
}

static void copy_wanted(struct archive_fetch *f, const struct package_version *p)
{
	const char *text = arena_text(f->a, p->version.text.ptr, p->version.text.len);
	f->wanted.package = arena_strdup(f->a, p->package);
	f->wanted.version.text = str_of(text);
	f->wanted.digest = arena_strdup(f->a, p->digest);
	f->wanted.locator = arena_strdup(f->a, p->locator);
	memcpy(f->wanted.descriptor_digest, p->descriptor_digest, sizeof(p->descriptor_digest));
	f->wanted.verified_by = p->verified_by ? arena_strdup(f->a, p->verified_by) : NULL;
	f->wanted.verified_until_s = p->verified_until_s;
}

struct archive_fetch *archive_fetch_start(const struct sync_host *h,
					  const struct archive_request *r, archive_done done,
					  void *arg)
{
	struct archive_fetch *f = xcalloc(1, sizeof(*f));
	const char *source = obj_str(r->catalog, "spec.source.url");
	const char *dir = source_path(r->catalog, "dir://");
	const char *file = source_path(r->catalog, "file://");
	f->host = *h;
	f->a = arena_new((size_t)4 << 20);
	f->step = (struct task){.fn = deliver, .arg = f};
	f->done = done;
	f->arg = arg;
	strbuf_init(&f->bytes, SOURCE_ARCHIVE_BYTES_MAX + 1);
	f->policy = arena_strdup(f->a, r->policy);
	copy_wanted(f, r->version);
	if (dir)
		fetch_from_dir(f, dir);
	else if (file)
		fetch_from_file(f, file);
	else if (source && cstr_has_prefix(source, INPLACE_URL))
		fetch_inplace(f, obj_path(r->catalog, "spec.inPlace"), r->secret);
	else if (fetch_remote(f, source ? source : "", r->secret) < 0)
		finish(f);
	return f;
}
