/*
 * oci: the texts of the OCI distribution protocol, read strictly: references, manifests, tag lists,
 * challenges. Pure: bytes in, structs in an arena out.
 */
#ifndef ALM_SOURCES_OCI_H
#define ALM_SOURCES_OCI_H

#include "alm/base/hash.h"
#include "catalog/weburl.h"

#define OCI_MANIFEST_BYTES_MAX ((size_t)4 << 20)
#define OCI_LAYERS_MAX         10000
#define OCI_TAGS_MAX           10000

#define OCI_MANIFEST       "application/vnd.oci.image.manifest.v1+json"
#define OCI_DOCKER         "application/vnd.docker.distribution.manifest.v2+json"
#define OCI_HELM_CONFIG    "application/vnd.cncf.helm.config.v1+json"
#define OCI_HELM_CHART     "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
#define OCI_HELM_PROV      "application/vnd.cncf.helm.chart.provenance.v1.prov"
#define OCI_CATALOG_CONFIG "application/vnd.alm.catalog.config.v1+json"
#define OCI_CATALOG_INDEX  "application/vnd.alm.catalog.index.v1+yaml"
#define OCI_CATALOG_YAML   "application/vnd.alm.catalog.notices.v1+yaml"
#define OCI_TITLE          "org.opencontainers.image.title"

/* "oci://host[:port]/name[:tag][@sha256:...]" */
struct oci_reference {
	struct weburl registry; /* its origin */
	const char *name;       /* "charts/etcd" */
	const char *tag;        /* NULL: none */
	const char *digest;     /* "sha256:..."; NULL: none */
};
int oci_reference_parse(struct str text, struct arena *a, struct oci_reference *ret,
			struct error *err);

struct oci_blob {
	const char *media_type;
	const char *digest; /* 64 lower-case hex digits */
	uint64_t size;
	const char *title;     /* of the annotation, or NULL */
	const char *signature; /* of cosign, base64; or NULL */
};
struct oci_manifest {
	const char *media_type;
	struct oci_blob config;
	struct oci_blob *layers;
	size_t n_layers;
};
int oci_manifest_parse(struct str text, struct arena *a, struct oci_manifest *ret,
		       struct error *err);
/* NULL if there is none. */
const struct oci_blob *oci_layer(const struct oci_manifest *m, const char *media_type);
/* The digits of "sha256:..."; NULL for anything else. */
const char *oci_digest(const char *text, struct arena *a);

/* Tags of one page, appended. */
int oci_tags_parse(struct str text, struct arena *a, const char ***tags, size_t *n, size_t *cap,
		   struct error *err);
/* Target of a Link header with rel="next"; STR_NONE: none. */
struct str oci_next_page(const char *link);
/* '_' is read as '+': tags cannot hold it. */
const char *oci_tag_version(const char *tag, struct arena *a);
const char *oci_version_tag(const char *version, struct arena *a);

struct oci_challenge { /* WWW-Authenticate */
	bool is_basic;
	const char *realm, *service, *scope; /* of Bearer; service, scope may be NULL */
};
int oci_challenge_parse(const char *header, struct arena *a, struct oci_challenge *ret,
			struct error *err);

#endif
