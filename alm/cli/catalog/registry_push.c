#include "alm/cli/catalog/registry_push.h"

#include <string.h>

#include "alm/cli/catalog/catalog_files.h"
#include "alm/cli/term.h"
#include "alm/obj/json.h"

#define INDEX_BYTES_MAX ((size_t)64 << 20)

struct pushing {
	struct cli *c;
	const char *url;
	struct registry_session *session;
	struct catalog_listing *listing; /* of a catalog */
	struct obj *layers;
};

static struct obj *descriptor(const char *media_type, struct str bytes, const char *title)
{
	char hex[SHA256_HEX];
	struct obj *o = obj_map();
	sha256_hex(bytes, hex);
	obj_set_str(o, "mediaType", media_type);
	obj_set(o, "digest", obj_stringf("sha256:%s", hex));
	obj_set_int(o, "size", (int64_t)bytes.len);
	if (title) {
		struct obj *annotations = obj_map();
		obj_set_str(annotations, OCI_TITLE, title);
		obj_set(o, "annotations", annotations);
	}
	return o;
}

static int expect(const struct remote_reply *r, int status, const char *what, struct error *err)
{
	if (r->status == status)
		return 0;
	if (remote_check(r, err) < 0)
		return error_wrap(err, "%s", what);
	return error_set(err, E_IO, "%s: answers %d, wanted %d", what, r->status, status);
}

/* POST for a place, then PUT of the whole there (distribution spec, "Pushing a blob
 * monolithically"). */
static int push_blob(struct pushing *p, const struct obj *o, struct str bytes, struct error *err)
{
	struct arena *a = p->c->arena;
	const char *digest = obj_str(o, "digest");
	struct remote_reply r;
	struct registry_request head = {.method = "HEAD",
					.path = arena_fmt(a, "/blobs/%s", digest)};
	struct registry_request post = {.method = "POST", .path = "/blobs/uploads/"};
	struct weburl place;
	if (registry_session_send(p->session, &head, &r, err) < 0)
		return -err->code;
	if (r.status == 200)
		return 0; /* it is there */
	if (registry_session_send(p->session, &post, &r, err) < 0 ||
	    expect(&r, 202, "upload", err) < 0)
		return -err->code;
	const char *to = http_header(r.headers, "Location");
	if (!to)
		return error_set(err, E_IO, "upload: the registry names no place");
	if (weburl_resolve(r.url, str_of(to), a, &place, err) < 0)
		return error_wrap(err, "upload: %.200s", to);
	place.query = arena_fmt(a, "%s%sdigest=%s", place.query ? place.query : "",
				place.query ? "&" : "", url_encode(str_of(digest), a));
	struct registry_request put = {.method = "PUT",
				       .url = &place,
				       .content_type = "application/octet-stream",
				       .body = bytes};
	if (registry_session_send(p->session, &put, &r, err) < 0)
		return -err->code;
	return expect(&r, 201, "upload", err);
}

static int push_manifest(struct pushing *p, struct obj *config, struct obj *layers, const char *tag,
			 char digest[SHA256_HEX], struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(OCI_MANIFEST_BYTES_MAX);
	struct remote_reply r;
	obj_set_int(o, "schemaVersion", 2);
	obj_set_str(o, "mediaType", OCI_MANIFEST);
	obj_set(o, "config", config);
	obj_set(o, "layers", layers);
	json_print(o, &text);
	if (strbuf_check(&text, "manifest", err) < 0)
		return -err->code;
	struct registry_request put = {.method = "PUT",
				       .path = arena_fmt(p->c->arena, "/manifests/%s", tag),
				       .content_type = OCI_MANIFEST,
				       .body = strbuf_str(&text)};
	sha256_hex(strbuf_str(&text), digest);
	if (registry_session_send(p->session, &put, &r, err) < 0)
		return -err->code;
	return expect(&r, 201, "manifest", err);
}

/* --- one artifact --- */

static int push_layer(struct pushing *p, const char *media_type, struct str bytes,
		      const char *title, struct error *err)
{
	struct obj *o = descriptor(media_type, bytes, title);
	obj_append(p->layers, o);
	return push_blob(p, o, bytes, err);
}

static int push_archive(void *arg, const struct package_version *v, struct str bytes,
			struct error *err)
{
	struct pushing *p = arg;
	struct obj *chart = NULL;
	const char *name = catalog_file_name(v, p->c->arena);
	if (catalog_chart(bytes, &chart, err) < 0)
		return -err->code;
	catalog_listing_add(p->listing, chart, v->digest, NULL, name);
	return push_layer(p, OCI_HELM_CHART, bytes, name, err);
}

static int push_listing(struct pushing *p, const struct catalog_index *x, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf index = STRBUF_INIT(INDEX_BYTES_MAX);
	catalog_listing_print(p->listing, NULL, &index);
	if (strbuf_check(&index, "index.yaml", err) < 0 ||
	    push_layer(p, OCI_CATALOG_INDEX, strbuf_str(&index), "index.yaml", err) < 0)
		return -err->code;
	if (!x->catalog_yaml)
		return 0;
	return push_layer(p, OCI_CATALOG_YAML, str_of(x->catalog_yaml), "catalog.yaml", err);
}

int registry_push_catalog(struct cli *c, struct catalog_source *s, const char *url,
			  struct error *err)
{
	CLEANUP(registry_session_freep) struct registry_session *session = NULL;
	CLEANUP(catalog_listing_freep) struct catalog_listing *l = catalog_listing_new();
	CLEANUP(obj_unrefp) struct obj *layers = obj_list();
	struct pushing p = {.c = c, .url = url, .listing = l, .layers = layers};
	char digest[SHA256_HEX];
	if (registry_session_open(c, url, "pull,push", &session, err) < 0)
		return -err->code;
	p.session = session;
	const struct oci_reference *ref = registry_session_reference(session);
	struct obj *config = obj_keep(c->arena, descriptor(OCI_CATALOG_CONFIG, STR("{}"), NULL));
	if (catalog_each(c, s, push_archive, &p, err) < 0 ||
	    push_listing(&p, catalog_source_index(s), err) < 0 ||
	    push_blob(&p, config, STR("{}"), err) < 0 ||
	    push_manifest(&p, obj_ref(config), obj_ref(layers), ref->tag ? ref->tag : "latest",
			  digest, err) < 0)
		return error_wrap(err, "%s", url);
	term_print("%s: %zu versions\noci://%s/%s@sha256:%s\n", url, catalog_source_index(s)->n,
		   ref->registry.origin + strlen("https://"), ref->name, digest);
	return 0;
}

/* --- charts --- */

static int push_chart(void *arg, const struct package_version *v, struct str bytes,
		      struct error *err)
{
	struct pushing *p = arg;
	CLEANUP(registry_session_freep) struct registry_session *session = NULL;
	CLEANUP(obj_unrefp) struct obj *chart = NULL;
	CLEANUP(strbuf_release) struct strbuf config = STRBUF_INIT(STRBUF_SMALL);
	struct arena *a = p->c->arena;
	const char *to = arena_fmt(a, "%s/%s", p->url, v->package);
	const char *version = arena_text(a, v->version.text.ptr, v->version.text.len);
	char digest[SHA256_HEX];
	if (catalog_chart(bytes, &chart, err) < 0 ||
	    registry_session_open(p->c, to, "pull,push", &session, err) < 0)
		return -err->code;
	p->session = session;
	json_print(chart, &config);
	struct obj *layers = obj_keep(a, obj_list());
	struct obj *described = obj_keep(a, descriptor(OCI_HELM_CONFIG, strbuf_str(&config), NULL));
	struct obj *layer = descriptor(OCI_HELM_CHART, bytes, NULL);
	obj_append(layers, layer);
	if (push_blob(p, described, strbuf_str(&config), err) < 0 ||
	    push_blob(p, layer, bytes, err) < 0 ||
	    push_manifest(p, obj_ref(described), obj_ref(layers), oci_version_tag(version, a),
			  digest, err) < 0)
		return -err->code;
	term_print("%s:%s\n", to, oci_version_tag(version, a));
	return 0;
}

int registry_push_charts(struct cli *c, struct catalog_source *s, const char *url,
			 struct error *err)
{
	struct pushing p = {.c = c, .url = url};
	if (strrchr(url, ':') != url + strlen("oci") && strchr(strrchr(url, ':'), '/') == NULL)
		return error_set(err, E_USAGE,
				 "%s: with --charts the tags are the versions; leave the tag out",
				 url);
	return catalog_each(c, s, push_chart, &p, err);
}
