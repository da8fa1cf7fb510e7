#include "alm/sources/signature.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "alm/sources/oci.h"
#include "alm/sources/sync_internal.h"
#include "catalog/trust/cosign.h"
#include "catalog/trust/provenance.h"

#define TRIES_MAX 2 /* of a child that died or was killed */

void signature_release(struct judged *j)
{
	if (j->child)
		sandbox_cancel(j->s->host.sandbox, j->child);
	obj_unref(j->entry);
	obj_unref(j->question);
	arena_free(j->a);
	*j = (struct judged){0};
}

static void settle(struct judged *j, const char *problem)
{
	j->problem = problem;
	j->done = true;
	if (!j->s->err.code)
		sync_next(j->s, j->s->signatures->judged);
}

static void refuse(struct judged *j, struct error *err)
{
	if (err->reason != REASON_SIGNATURE_INVALID)
		error_set_reason(err, REASON_SIGNATURE_INVALID);
	settle(j, arena_strdup(j->a, err->msg));
}

void signature_fail(struct judged *j, const struct error *err)
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
		signature_fail(j, err);
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

void signature_find_cosign(struct judged *j)
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
	signature_find_cosign(j);
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
		signature_find_cosign(j);
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

void signature_find(struct judged *j)
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

void signature_ask(struct judged *j)
{
	j->question = obj_map();
	obj_set(j->question, "keys", obj_ref(j->s->keys));
	obj_set_int(j->question, "now", loop_now(j->s->host.loop) / NS_PER_S);
}
