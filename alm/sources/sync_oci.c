/* oci://: a chart repository, whose tags are versions, or one catalog artifact. */
#include <string.h>
#include <sys/queue.h>

#include "alm/obj/json.h"
#include "alm/sources/oci.h"
#include "alm/sources/registry.h"
#include "alm/sources/sync_internal.h"
#include "catalog/index/entry.h"

#define TAGS_AT_ONCE     6
#define TAG_PAGES_MAX    1000
#define TOO_LARGE        "the registry's answers are larger than %zu bytes"
#define CONFIG_BYTES_MAX ((size_t)1 << 20)

struct oci_sync {
	struct sync *s;
	struct registry *registry;
	struct oci_reference ref;
	const char **tags;
	size_t n_tags, cap_tags, next, running, n_pages;
	struct oci_manifest artifact;
	char artifact_digest[SHA256_HEX]; /* of a catalog */
	TAILQ_HEAD(, tag) begun;
};

struct tag { /* arena of the sync */
	struct oci_sync *o;
	const char *name, *known; /* known: digest it had when it was last read */
	const char *digest;       /* of the manifest */
	struct sandbox_run *child;
	TAILQ_ENTRY(tag) link;
	struct oci_manifest manifest;
};

void oci_sync_free(struct oci_sync *o)
{
	if (!o)
		return;
	const struct tag *t;
	TAILQ_FOREACH (t, &o->begun, link)
		if (t->child)
			sandbox_cancel(o->s->host.sandbox, t->child);
	registry_free(o->registry);
	xfree(o->tags);
	xfree(o);
}

static void fail(struct oci_sync *o, struct error *err)
{
	if (!o->s->err.code) {
		error_wrap(err, "%s", o->s->url);
		sync_fail(o->s, err);
	}
}

int oci_sync_check(const struct remote_reply *reply, const char *wanted, char hex[SHA256_HEX],
		   struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	const char *claimed = http_header(reply->headers, "Docker-Content-Digest");
	if (remote_check(reply, err) < 0)
		return -err->code;
	sha256_hex(reply->body, hex);
	if (!wanted && claimed)
		wanted = oci_digest(claimed, a);
	if (wanted && strcmp(wanted, hex) != 0)
		return error_because(err, E_INVALID, REASON_DIGEST_MISMATCH,
				     "sha256 is %s, wanted %s", hex, wanted);
	return 0;
}

static void get(struct oci_sync *o, const char *path, const char *if_none_match, size_t body_max,
		remote_done done, void *arg)
{
	const struct registry_request q = {.path = path,
					   .accept = OCI_MANIFEST ", " OCI_DOCKER ", */*",
					   .if_none_match = if_none_match,
					   .body_max = body_max};
	registry_send(o->registry, &q, done, arg);
}

void oci_sync_get(struct sync *s, const char *path, size_t body_max, remote_done done, void *arg)
{
	get(s->oci, path, NULL, body_max, done, arg);
}

const char *oci_sync_artifact(const struct sync *s)
{
	return s->oci && *s->oci->artifact_digest ? s->oci->artifact_digest : NULL;
}

/* --- a chart repository --- */

static void next_tags(struct oci_sync *o);

static void tag_done(struct tag *t, struct obj *entry)
{
	struct oci_sync *o = t->o;
	struct sync *s = o->s;
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(CONFIG_BYTES_MAX * 2);
	obj_keep(s->a, entry);
	entry_print(entry, &line);
	if (t->digest && s->cache) {
		source_note_set(s->cache, arena_fmt(s->a, "tag:%s", t->name), str_of(t->digest));
		source_note_set(s->cache, arena_fmt(s->a, "line:%s:%s", t->name, t->digest),
				strbuf_str(&line));
	}
	strbuf_addstr(&s->lines, strbuf_str(&line));
	o->running--;
	next_tags(o);
}

static void tag_rejected(struct tag *t, const struct error *err)
{
	tag_done(t, entry_error(arena_fmt(t->o->s->a, "tag %s", t->name), err->msg, err->reason));
}

/* The registry could not be asked: that is no fact about the entry. */
static bool is_transient(const struct remote_reply *reply)
{
	return reply->err || reply->status >= 500 || reply->status == 401 || reply->status == 403 ||
	       reply->status == 429;
}

static bool broke_off(struct tag *t, const struct remote_reply *reply)
{
	struct error err = ERROR_INIT;
	if (t->o->s->err.code)
		return true;
	if (!is_transient(reply) || remote_check(reply, &err) == 0)
		return false;
	fail(t->o, &err);
	return true;
}

static int read_config(struct tag *t, const struct remote_reply *reply, struct obj **ret,
		       struct error *err)
{
	char hex[SHA256_HEX];
	struct obj *chart = NULL;
	struct arena *a = t->o->s->a;
	const struct oci_blob *layer = oci_layer(&t->manifest, OCI_HELM_CHART);
	const struct oci_blob *provenance = oci_layer(&t->manifest, OCI_HELM_PROV);
	if (oci_sync_check(reply, t->manifest.config.digest, hex, err) < 0 ||
	    json_parse(reply->body, &chart, err) < 0)
		return error_wrap(err, "config");
	obj_keep(a, chart);
	const char *version = obj_str(chart, "version");
	if (!cstr_eq(version, oci_tag_version(t->name, a)))
		return error_set(err, E_INVALID, "the tag holds version %.128s",
				 version ? version : "(none)");
	struct obj *o = obj_map();
	obj_set(o, "where", obj_stringf("tag %s", t->name));
	obj_set(o, "chart", entry_chart(chart));
	obj_set_bool(o, "unread", true);
	obj_set_str(o, "digest", layer->digest);
	obj_set(o, "locator",
		obj_stringf("%s/v2/%s/blobs/sha256:%s", t->o->ref.registry.origin, t->o->ref.name,
			    layer->digest));
	obj_set_str(o, "manifest", t->digest);
	if (provenance)
		obj_set_str(o, "provenance", provenance->digest);
	*ret = o;
	return 0;
}

/* A descriptor is YAML, which a child reads. */
static void sealed(void *arg, struct str output, const struct error *err)
{
	struct tag *t = arg;
	struct sync *s = t->o->s;
	struct error failed = err ? *err : ERROR_INIT;
	struct obj *entry = NULL;
	t->child = NULL;
	if (s->err.code)
		return;
	if (err && !sync_is_verdict(err))
		fail(t->o, &failed);
	else if (err || json_parse(output, &entry, &failed) < 0)
		tag_rejected(t, &failed);
	else
		tag_done(t, entry);
}

static void seal(struct tag *t, struct obj *entry)
{
	struct sync *s = t->o->s;
	CLEANUP(strbuf_release) struct strbuf input = STRBUF_INIT(CONFIG_BYTES_MAX * 2);
	if (!obj_get(obj_get(obj_get(entry, "chart"), "annotations"), PACKAGE_ANNOTATION)) {
		tag_done(t, entry);
		return;
	}
	json_print(entry, &input);
	obj_unref(entry);
	t->child = sandbox_run(s->host.sandbox, SOURCE_JOB_PACKAGE, strbuf_str(&input),
			       &source_limits_one, sealed, t);
}

static void config_came(void *arg, const struct remote_reply *reply)
{
	struct tag *t = arg;
	struct error err = ERROR_INIT;
	struct obj *entry = NULL;
	if (broke_off(t, reply))
		return;
	if (read_config(t, reply, &entry, &err) < 0)
		tag_rejected(t, &err);
	else
		seal(t, entry);
}

static int check_chart(const struct oci_manifest *m, struct error *err)
{
	if (!strcmp(m->config.media_type, OCI_CATALOG_CONFIG))
		return error_set(err, E_INVALID,
				 "is a catalog artifact: name its tag in the URL of the source");
	if (strcmp(m->config.media_type, OCI_HELM_CONFIG) != 0 || !oci_layer(m, OCI_HELM_CHART))
		return error_set(err, E_INVALID, "is no Helm chart but %.100s",
				 m->config.media_type);
	if (m->config.size > CONFIG_BYTES_MAX)
		return error_set(err, E_LIMIT, "config of %llu bytes is larger than %zu",
				 (unsigned long long)m->config.size, CONFIG_BYTES_MAX);
	if (oci_layer(m, OCI_HELM_CHART)->size > SOURCE_ARCHIVE_BYTES_MAX)
		return error_set(err, E_LIMIT, "archive of %llu bytes is larger than %zu",
				 (unsigned long long)oci_layer(m, OCI_HELM_CHART)->size,
				 SOURCE_ARCHIVE_BYTES_MAX);
	return 0;
}

/* As it was when it was last read. */
static bool use_known(struct tag *t)
{
	struct sync *s = t->o->s;
	struct str line = STR_NONE;
	if (t->digest && s->cache)
		line = source_note(s->cache, arena_fmt(s->a, "line:%s:%s", t->name, t->digest));
	if (!line.len)
		return false;
	source_note(s->cache, arena_fmt(s->a, "tag:%s", t->name));
	strbuf_addstr(&s->lines, line);
	t->o->running--;
	next_tags(t->o);
	return true;
}

static void manifest_came(void *arg, const struct remote_reply *reply)
{
	struct tag *t = arg;
	struct sync *s = t->o->s;
	struct error err = ERROR_INIT;
	char hex[SHA256_HEX];
	if (broke_off(t, reply))
		return;
	if (reply->status == 304 && t->known) {
		t->digest = t->known;
		if (use_known(t))
			return;
	}
	if (oci_sync_check(reply, NULL, hex, &err) < 0) {
		tag_rejected(t, &err);
		return;
	}
	t->digest = arena_strdup(s->a, hex);
	if (use_known(t))
		return;
	if (oci_manifest_parse(reply->body, s->a, &t->manifest, &err) < 0 ||
	    check_chart(&t->manifest, &err) < 0) {
		tag_rejected(t, &err);
		return;
	}
	get(t->o, arena_fmt(s->a, "/blobs/sha256:%s", t->manifest.config.digest), NULL,
	    CONFIG_BYTES_MAX, config_came, t);
}

static bool is_version(const char *tag, struct arena *a)
{
	struct version v;
	struct error ignored;
	return version_parse(str_of(oci_tag_version(tag, a)), VERSION_STRICT, &v, &ignored) == 0;
}

static void start_tag(struct oci_sync *o, const char *name)
{
	struct sync *s = o->s;
	struct tag *t = ARENA_NEW(s->a, struct tag);
	struct str known = STR_NONE;
	t->o = o;
	t->name = name;
	TAILQ_INSERT_TAIL(&o->begun, t, link);
	if (s->cache)
		known = source_note(s->cache, arena_fmt(s->a, "tag:%s", name));
	if (known.len)
		t->known = arena_text(s->a, known.ptr, known.len);
	o->running++;
	get(o, arena_fmt(s->a, "/manifests/%s", name),
	    t->known ? arena_fmt(s->a, "\"sha256:%s\"", t->known) : NULL, OCI_MANIFEST_BYTES_MAX,
	    manifest_came, t);
}

static void next_tags(struct oci_sync *o)
{
	struct sync *s = o->s;
	struct error err = ERROR_INIT;
	if (arena_over(s->a)) {
		error_set(&err, E_LIMIT, TOO_LARGE, SYNC_ARENA_BYTES);
		fail(o, &err);
	}
	while (!s->err.code && o->running < TAGS_AT_ONCE && o->next < o->n_tags) {
		const char *tag = o->tags[o->next++];
		if (is_version(tag, s->a)) /* "latest" and the like are no versions */
			start_tag(o, tag);
	}
	if (s->err.code || o->running || o->next < o->n_tags)
		return;
	sync_build(s);
}

static void ask_tags(struct oci_sync *o, const struct weburl *url);

static void tags_came(void *arg, const struct remote_reply *reply)
{
	struct oci_sync *o = arg;
	struct sync *s = o->s;
	struct error err = ERROR_INIT;
	struct weburl next;
	if (remote_check(reply, &err) < 0 ||
	    oci_tags_parse(reply->body, s->a, &o->tags, &o->n_tags, &o->cap_tags, &err) < 0) {
		fail(o, &err);
		return;
	}
	struct str page = oci_next_page(http_header(reply->headers, "Link"));
	if (!page.len) {
		next_tags(o);
		return;
	}
	if (++o->n_pages > TAG_PAGES_MAX)
		error_set(&err, E_LIMIT, "more than %d pages of tags", TAG_PAGES_MAX);
	else if (arena_over(s->a))
		error_set(&err, E_LIMIT, TOO_LARGE, SYNC_ARENA_BYTES);
	else
		weburl_resolve(reply->url, page, s->a, &next, &err);
	if (!err.code && !weburl_same_origin(&next, &o->ref.registry))
		error_set(&err, E_REFUSED, "its tags go on at another server, %s", next.origin);
	if (err.code)
		fail(o, &err);
	else
		ask_tags(o, &next);
}

static void ask_tags(struct oci_sync *o, const struct weburl *url)
{
	const struct registry_request q = {.path = "/tags/list?n=1000",
					   .url = url,
					   .accept = "application/json",
					   .body_max = OCI_MANIFEST_BYTES_MAX};
	registry_send(o->registry, &q, tags_came, o);
}

/* --- one artifact: a catalog, or a single version --- */

static void read_index(struct oci_sync *o);

static void index_came(void *arg, const struct remote_reply *reply)
{
	struct oci_sync *o = arg;
	struct sync *s = o->s;
	struct error err = ERROR_INIT;
	const struct oci_blob *index = oci_layer(&o->artifact, OCI_CATALOG_INDEX);
	char hex[SHA256_HEX];
	if (oci_sync_check(reply, index->digest, hex, &err) < 0) {
		fail(o, &err);
		return;
	}
	CLEANUP(strbuf_release) struct strbuf input =
		STRBUF_INIT(HELM_INDEX_BYTES_MAX + 2 * WEBURL_BYTES_MAX);
	strbuf_addf(&input, "%s/v2/%s/blobs/\nblobs\n", o->ref.registry.origin, o->ref.name);
	strbuf_addstr(&input, reply->body);
	sync_parse_index(s, strbuf_str(&input));
}

static void notices_told(void *arg, struct str output, const struct error *err)
{
	struct oci_sync *o = arg;
	struct error failed = err ? *err : ERROR_INIT;
	o->s->child = NULL;
	if (err) {
		fail(o, &failed);
		return;
	}
	strbuf_addstr(&o->s->lines, output);
	read_index(o);
}

static void notices_came(void *arg, const struct remote_reply *reply)
{
	struct oci_sync *o = arg;
	struct error err = ERROR_INIT;
	char hex[SHA256_HEX];
	const struct oci_blob *layer = oci_layer(&o->artifact, OCI_CATALOG_YAML);
	if (oci_sync_check(reply, layer->digest, hex, &err) < 0) {
		fail(o, &err);
		return;
	}
	CLEANUP(strbuf_release) struct strbuf input = STRBUF_INIT(CONFIG_BYTES_MAX * 2);
	strbuf_adds(&input, SOURCE_NOTICES "\n");
	strbuf_addstr(&input, reply->body);
	o->s->child = sandbox_run(o->s->host.sandbox, SOURCE_JOB_TEXT, strbuf_str(&input),
				  &source_limits_all, notices_told, o);
}

static void read_index(struct oci_sync *o)
{
	const struct oci_blob *index = oci_layer(&o->artifact, OCI_CATALOG_INDEX);
	get(o, arena_fmt(o->s->a, "/blobs/sha256:%s", index->digest), NULL, HELM_INDEX_BYTES_MAX,
	    index_came, o);
}

static void read_catalog(struct oci_sync *o)
{
	struct error err = ERROR_INIT;
	const struct oci_blob *notices = oci_layer(&o->artifact, OCI_CATALOG_YAML);
	if (!oci_layer(&o->artifact, OCI_CATALOG_INDEX)) {
		error_set(&err, E_INVALID,
			  "the artifact has no index; make it with `alm catalog push`");
		fail(o, &err);
		return;
	}
	if (notices)
		get(o, arena_fmt(o->s->a, "/blobs/sha256:%s", notices->digest), NULL,
		    CONFIG_BYTES_MAX, notices_came, o);
	else
		read_index(o);
}

static void artifact_came(void *arg, const struct remote_reply *reply)
{
	struct oci_sync *o = arg;
	struct sync *s = o->s;
	struct error err = ERROR_INIT;
	char hex[SHA256_HEX];
	const char *wanted = o->ref.digest ? o->ref.digest + strlen("sha256:") : NULL;
	if (oci_sync_check(reply, wanted, hex, &err) < 0 ||
	    oci_manifest_parse(reply->body, s->a, &o->artifact, &err) < 0) {
		fail(o, &err);
		return;
	}
	if (!strcmp(o->artifact.config.media_type, OCI_CATALOG_CONFIG)) {
		if (s->is_conditional && !strcmp(s->result.validators.etag, hex)) {
			sync_unchanged(s);
			return;
		}
		memcpy(s->result.validators.etag, hex, sizeof(hex));
		memcpy(o->artifact_digest, hex, sizeof(hex));
		read_catalog(o);
		return;
	}
	if (o->ref.tag && is_version(o->ref.tag, s->a)) { /* a repository of this one version */
		o->tags = xcalloc(1, sizeof(*o->tags));
		o->tags[o->n_tags++] = o->ref.tag;
		next_tags(o);
		return;
	}
	error_set(&err, E_INVALID, "is neither a catalog artifact nor a version of a chart: %.100s",
		  o->artifact.config.media_type);
	fail(o, &err);
}

void sync_oci(struct sync *s)
{
	struct error err = ERROR_INIT;
	struct oci_sync *o = xcalloc(1, sizeof(*o));
	s->oci = o;
	o->s = s;
	TAILQ_INIT(&o->begun);
	if (oci_reference_parse(str_of(s->url), s->a, &o->ref, &err) < 0) {
		fail(o, &err);
		return;
	}
	o->registry = registry_new(s->remote, &o->ref, &s->credentials, "pull");
	const char *name = o->ref.digest ? o->ref.digest : o->ref.tag;
	if (name)
		get(o, arena_fmt(s->a, "/manifests/%s", name), NULL, OCI_MANIFEST_BYTES_MAX,
		    artifact_came, o);
	else
		ask_tags(o, NULL);
}
