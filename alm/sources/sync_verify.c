/*
 * The policy of a Catalog (policy.h), applied to what its source told: for every entry the
 * signature is found (beside the archive, or in its registry) and judged in the sandbox. An entry
 * without a valid one is rejected as SignatureInvalid; a catalog artifact is signed as a whole, and
 * without a valid signature nothing of it is used. A source that cannot be asked fails the sync:
 * the last good revision stays.
 *
 * Entries are judged some at a time and kept in their order. What was found valid is not asked for
 * again as long as entry, policy and the end of the signature's life stay the same.
 */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "alm/sources/oci.h"
#include "alm/sources/sync_internal.h"
#include "catalog/index/entry.h"
#include "catalog/trust/cosign.h"
#include "catalog/trust/provenance.h"

#define AT_ONCE    6
#define TRIES_MAX  2 /* of a child that died or was killed */
#define ANSWER_MAX ((size_t)4 << 20)

struct judged { /* one line */
	struct sync *s;
	struct arena *a;
	struct str line;
	struct obj *entry;    /* NULL: the line stays as it is */
	struct obj *question; /* of VERIFY_JOB */
	struct oci_manifest cosign;
	size_t layer;
	struct sandbox_run *child;
	int tries;
	bool done;
	int64_t until_s;
	const char *problem; /* NULL: valid */
};

struct signatures {
	struct str rest;
	struct strbuf out;
	struct judged items[AT_ONCE];
	size_t n;
	struct obj *provenances; /* of file://: name -> base64 */
	struct judged artifact;  /* the catalog as a whole */
	bool pgp, pem;           /* the kinds of keys */
	bool rejected;           /* something */
};

static void judged_release(struct judged *j)
{
	if (j->child)
		sandbox_cancel(j->s->host.sandbox, j->child);
	obj_unref(j->entry);
	obj_unref(j->question);
	arena_free(j->a);
	*j = (struct judged){0};
}

void signatures_free(struct signatures *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n; i++)
		judged_release(&g->items[i]);
	judged_release(&g->artifact);
	obj_unref(g->provenances);
	strbuf_release(&g->out);
	xfree(g);
}

static void judge_some(struct sync *s);

static void settle(struct judged *j, const char *problem)
{
	j->problem = problem;
	j->done = true;
	if (!j->s->err.code)
		sync_next(j->s, judge_some);
}

static void refuse(struct judged *j, struct error *err)
{
	if (err->reason != REASON_SIGNATURE_INVALID)
		error_set_reason(err, REASON_SIGNATURE_INVALID);
	settle(j, arena_strdup(j->a, err->msg));
}

static void fail(struct judged *j, const struct error *err)
{
	struct error copy = *err;
	if (j->s->err.code)
		return;
	error_wrap(&copy, "%s", j->s->url);
	sync_fail(j->s, &copy);
}

/* --- the verdict --- */

static void judge(struct judged *j);

static void told(void *arg, struct str output, const struct error *err)
{
	struct judged *j = arg;
	struct error ignored;
	CLEANUP(obj_unrefp) struct obj *answer = NULL;
	j->child = NULL;
	if (j->s->err.code)
		return;
	if (err && !sync_is_verdict(err) && j->tries < TRIES_MAX) {
		judge(j);
		return;
	}
	if (!err && json_parse(output, &answer, &ignored) == 0)
		j->until_s = obj_i64(answer, "until", -1);
	struct error failed = err ? *err : ERROR_INIT;
	if (!err && j->until_s < 0)
		error_set(&failed, E_INTERNAL, "its check gave no answer");
	if (failed.code)
		refuse(j, &failed);
	else
		settle(j, NULL);
}

static void judge(struct judged *j)
{
	struct sync *s = j->s;
	CLEANUP(strbuf_release) struct strbuf input = STRBUF_INIT(VERIFY_KEYS_BYTES_MAX * 16);
	j->tries++;
	json_print(j->question, &input);
	j->child = sandbox_run(s->host.sandbox, VERIFY_JOB, strbuf_str(&input), &source_limits_one,
			       told, j);
}

static void add_base64(struct obj *o, const char *key, struct str bytes)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PROVENANCE_BYTES_MAX * 2);
	base64_encode(bytes, &b);
	obj_set(o, key, obj_stringn(strbuf_str(&b)));
}

/* The source could not be asked: that is no fact about the entry. */
static bool is_transient(const struct remote_reply *reply)
{
	return reply->err || reply->status >= 500 || reply->status == 429 || reply->status == 408;
}

/* False: the sync has failed, or the entry is settled. */
static bool came(struct judged *j, const struct remote_reply *reply, struct error *err)
{
	if (j->s->err.code)
		return false;
	if (remote_check(reply, err) == 0)
		return true;
	if (is_transient(reply)) {
		fail(j, err);
		return false;
	}
	error_wrap(err, "it is not signed");
	refuse(j, err);
	return false;
}

/* --- cosign: one more manifest, its layers are statements --- */

static void next_layer(struct judged *j);

static void payload_came(void *arg, const struct remote_reply *reply)
{
	struct judged *j = arg;
	struct error err = ERROR_INIT;
	char hex[SHA256_HEX];
	const struct oci_blob *layer = &j->cosign.layers[j->layer++];
	if (!came(j, reply, &err))
		return;
	if (oci_sync_check(reply, layer->digest, hex, &err) < 0) {
		error_wrap(&err, "cosign");
		refuse(j, &err);
		return;
	}
	struct obj *o = obj_map();
	add_base64(o, "payload", reply->body);
	obj_set_str(o, "signature", layer->signature);
	obj_append(obj_get_mut(j->question, "cosign"), o);
	next_layer(j);
}

static void next_layer(struct judged *j)
{
	const struct oci_manifest *m = &j->cosign;
	while (j->layer < m->n_layers &&
	       (strcmp(m->layers[j->layer].media_type, COSIGN_LAYER) != 0 ||
		!m->layers[j->layer].signature))
		j->layer++;
	if (j->layer == m->n_layers ||
	    obj_len(obj_get(j->question, "cosign")) == COSIGN_SIGNATURES_MAX)
		judge(j);
	else
		oci_sync_get(j->s, arena_fmt(j->a, "/blobs/sha256:%s", m->layers[j->layer].digest),
			     COSIGN_PAYLOAD_BYTES_MAX, payload_came, j);
}

static void cosign_came(void *arg, const struct remote_reply *reply)
{
	struct judged *j = arg;
	struct error err = ERROR_INIT;
	char hex[SHA256_HEX];
	if (j->s->err.code)
		return;
	if (!reply->err && reply->status == 404) {
		judge(j); /* that says what is missing */
		return;
	}
	if (!came(j, reply, &err))
		return;
	if (oci_sync_check(reply, NULL, hex, &err) < 0 ||
	    oci_manifest_parse(reply->body, j->a, &j->cosign, &err) < 0) {
		error_wrap(&err, "cosign");
		refuse(j, &err);
		return;
	}
	obj_set(j->question, "cosign", obj_list());
	next_layer(j);
}

static void find_cosign(struct judged *j)
{
	const char *manifest = obj_str(j->question, "manifest");
	if (!manifest || !j->s->signatures->pem) {
		judge(j);
		return;
	}
	oci_sync_get(j->s, arena_fmt(j->a, "/manifests/%s", cosign_tag(manifest, j->a)),
		     OCI_MANIFEST_BYTES_MAX, cosign_came, j);
}

/* --- provenance: beside the archive --- */

static void blob_came(void *arg, const struct remote_reply *reply)
{
	struct judged *j = arg;
	struct error err = ERROR_INIT;
	char hex[SHA256_HEX];
	if (!came(j, reply, &err))
		return;
	if (oci_sync_check(reply, obj_str(j->entry, "provenance"), hex, &err) < 0) {
		error_wrap(&err, "provenance");
		refuse(j, &err);
		return;
	}
	add_base64(j->question, "provenance", reply->body);
	find_cosign(j);
}

static void prov_came(void *arg, const struct remote_reply *reply)
{
	struct judged *j = arg;
	struct error err = ERROR_INIT;
	if (!came(j, reply, &err))
		return;
	add_base64(j->question, "provenance", reply->body);
	judge(j);
}

static void find_https(struct judged *j)
{
	struct sync *s = j->s;
	struct error err = ERROR_INIT;
	struct weburl u;
	if (weburl_parse(str_of(obj_str(j->entry, "locator")), "https", j->a, &u, &err) < 0) {
		refuse(j, &err);
		return;
	}
	u.path = arena_fmt(j->a, "%s" PROVENANCE_SUFFIX, u.path);
	struct remote_request q = {.url = &u,
				   .authorization =
					   credentials_are_for(&s->credentials, u.origin)
						   ? credentials_header(&s->credentials, j->a)
						   : NULL,
				   .body_max = PROVENANCE_BYTES_MAX};
	remote_send(s->remote, &q, prov_came, j);
}

static void find_in_registry(struct judged *j)
{
	const char *layer = obj_str(j->entry, "provenance");
	obj_set_str(j->question, "manifest", obj_str(j->entry, "manifest"));
	if (layer && j->s->signatures->pgp)
		oci_sync_get(j->s, arena_fmt(j->a, "/blobs/sha256:%s", layer), PROVENANCE_BYTES_MAX,
			     blob_came, j);
	else
		find_cosign(j);
}

static void find_in_dir(struct judged *j, const char *dir)
{
	const struct source_files *fs = j->s->host.files;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PROVENANCE_BYTES_MAX + 1);
	struct error err = ERROR_INIT;
	const char *name = source_local_name(obj_str(j->entry, "locator"));
	const char *path = arena_fmt(j->a, "%s/%s" PROVENANCE_SUFFIX, dir, name);
	if (fs->read(fs->arg, path, &b, &err) == 0)
		add_base64(j->question, "provenance", strbuf_str(&b));
	else if (err.code != E_NOTFOUND) {
		refuse(j, &err);
		return;
	}
	judge(j);
}

static void find_in_file(struct judged *j)
{
	const char *name = source_local_name(obj_str(j->entry, "locator"));
	const struct obj *found = obj_get(j->s->signatures->provenances,
					  arena_fmt(j->a, "%s" PROVENANCE_SUFFIX, name));
	if (found)
		obj_set(j->question, "provenance", obj_ref(found));
	judge(j);
}

static void find(struct judged *j)
{
	struct sync *s = j->s;
	const char *dir = source_path(s->catalog, "dir://");
	if (!s->signatures->pgp && !s->oci) /* cosign signs what lies in a registry */
		judge(j);
	else if (dir)
		find_in_dir(j, dir);
	else if (s->oci)
		find_in_registry(j);
	else if (source_path(s->catalog, "file://"))
		find_in_file(j);
	else
		find_https(j);
}

static void ask(struct judged *j)
{
	j->question = obj_map();
	obj_set(j->question, "keys", obj_ref(j->s->keys));
	obj_set_int(j->question, "now", loop_now(j->s->host.loop) / NS_PER_S);
}

/* --- line by line --- */

static const char *note_of(struct judged *j)
{
	char hex[SHA256_HEX];
	sha256_hex(j->line, hex);
	return arena_fmt(j->a, "verified:%s:%s", j->s->index->policy, hex);
}

/* It was found valid before, and that has not ended. */
static bool use_known(struct judged *j)
{
	struct str known = j->s->cache ? source_note(j->s->cache, note_of(j)) : STR_NONE;
	if (!known.len || !str_parse_i64(known, &j->until_s))
		return false;
	return !j->until_s || loop_now(j->s->host.loop) / NS_PER_S < j->until_s;
}

static bool is_entry(const struct obj *o)
{
	return obj_type(o) == OBJ_MAP && obj_str(o, "locator") && obj_str(o, "digest") &&
	       !obj_str(o, "error");
}

static void start_line(struct sync *s, struct str line)
{
	struct signatures *g = s->signatures;
	struct judged *j = &g->items[g->n++];
	struct error ignored;
	*j = (struct judged){.s = s, .a = arena_new(ANSWER_MAX), .line = line};
	if (json_parse(line, &j->entry, &ignored) < 0 || !is_entry(j->entry)) {
		obj_unref(STEAL(j->entry));
		j->done = true;
		return;
	}
	obj_del(j->entry, "verified"); /* only this file says that */
	if (g->artifact.done) {
		j->until_s = g->artifact.until_s;
		j->done = true;
		return;
	}
	if (use_known(j)) {
		j->done = true;
		return;
	}
	ask(j);
	obj_set_str(j->question, "digest", obj_str(j->entry, "digest"));
	obj_set(j->question, "chart", obj_ref(obj_get(j->entry, "chart")));
	find(j);
}

static void write_line(struct sync *s, struct judged *j)
{
	struct signatures *g = s->signatures;
	if (!j->entry) {
		strbuf_addstr(&g->out, j->line);
		strbuf_addc(&g->out, '\n');
		return;
	}
	if (j->problem) {
		const char *where = obj_str(j->entry, "where");
		CLEANUP(obj_unrefp) struct obj *o =
			entry_error(where ? where : "", j->problem, REASON_SIGNATURE_INVALID);
		entry_print(o, &g->out);
		g->rejected = true;
		return;
	}
	if (s->cache && j->question)
		source_note_set(s->cache, note_of(j),
				str_of(arena_fmt(j->a, "%lld", (long long)j->until_s)));
	obj_set_path(j->entry, "verified.by", obj_string(s->index->policy));
	obj_set_path(j->entry, "verified.until", obj_int(j->until_s));
	entry_print(j->entry, &g->out);
}

/* What is missing may come without a change of the index. */
static void finish(struct sync *s)
{
	struct signatures *g = s->signatures;
	if (g->rejected)
		s->result.validators = (struct sync_validators){0};
	strbuf_release(&s->lines);
	s->lines = g->out;
	strbuf_init(&g->out, HELM_LINES_BYTES_MAX);
	sync_build_lines(s);
}

static bool all_done(const struct signatures *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (!g->items[i].done)
			return false;
	return true;
}

static void flush(struct sync *s)
{
	struct signatures *g = s->signatures;
	for (size_t i = 0; i < g->n; i++) {
		write_line(s, &g->items[i]);
		judged_release(&g->items[i]);
	}
	g->n = 0;
}

static void judge_some(struct sync *s)
{
	struct signatures *g = s->signatures;
	int64_t until = loop_mono(s->host.loop) + SYNC_SLICE_NS;
	struct str line;
	if (g->artifact.problem) {
		struct error err;
		error_set(&err, E_INVALID, "%s", g->artifact.problem);
		err.reason =
			REASON_SIGNATURE_INVALID; /* as each problem of a signature: refuse() */
		fail(&g->artifact, &err);
		return;
	}
	while (all_done(g)) {
		flush(s);
		if (!g->rest.len) {
			finish(s);
			return;
		}
		if (loop_mono(s->host.loop) >= until) {
			sync_next(s, judge_some);
			return;
		}
		while (g->n < AT_ONCE && str_next_line(&g->rest, &line))
			if (line.len)
				start_line(s, line);
	}
}

/* --- what comes before the lines --- */

static void provenances_told(void *arg, struct str output, const struct error *err)
{
	struct sync *s = arg;
	struct error failed = err ? *err : ERROR_INIT;
	s->child = NULL;
	if (!failed.code)
		json_parse(output, &s->signatures->provenances, &failed);
	if (!failed.code) {
		sync_next(s, judge_some);
		return;
	}
	error_wrap(&failed, "%s", s->url);
	sync_fail(s, &failed);
}

static void read_provenances(struct sync *s)
{
	struct error err = ERROR_INIT;
	s->child = source_run(s->host.files, s->host.sandbox, SOURCE_JOB_SIGNED, STR(""),
			      source_path(s->catalog, "file://"), provenances_told, s, &err);
	if (!s->child)
		sync_fail(s, &err);
}

/* Its one manifest names the index, and that every archive. */
static void judge_artifact(struct sync *s, const char *manifest)
{
	struct judged *j = &s->signatures->artifact;
	*j = (struct judged){.s = s, .a = arena_new(ANSWER_MAX)};
	ask(j);
	obj_set_str(j->question, "manifest", manifest);
	find_cosign(j);
}

static void note_key_kinds(struct sync *s)
{
	struct signatures *g = s->signatures;
	OBJ_EACH (it, s->keys) {
		struct str text = obj_as_str(it.value);
		g->pgp = g->pgp || str_contains(text, STR(OPENPGP_KEY_BEGIN));
		g->pem = g->pem || str_contains(text, STR(VERIFY_PEM_BEGIN));
	}
}

void sync_verify(struct sync *s)
{
	struct signatures *g = xcalloc(1, sizeof(*g));
	const char *manifest = oci_sync_artifact(s);
	s->signatures = g;
	g->rest = strbuf_str(&s->lines);
	strbuf_init(&g->out, HELM_LINES_BYTES_MAX);
	note_key_kinds(s);
	if (manifest)
		judge_artifact(s, manifest);
	else if (g->pgp && source_path(s->catalog, "file://"))
		read_provenances(s);
	else
		judge_some(s);
}
