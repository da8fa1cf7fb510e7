/*
 * release: Helm's record of one revision of a release (charts.md 10.1): a Secret of type
 * helm.sh/release.v1 whose data.release is base64(gzip(JSON)), and the API's own base64 around it.
 *
 * What is written is the least record that helm 3 and 4 list, show, roll back and uninstall. What
 * is read may be from either; unknown keys are ignored, "" is no time. Everything decoded lives in
 * the arena.
 */
#ifndef INSTALLERS_RELEASE_H
#define INSTALLERS_RELEASE_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"
#include "installers/chart/chart.h"
#include "installers/hooks.h"

#define RELEASE_UNPACKED_MAX ((size_t)32 << 20)
#define RELEASE_PACKED_MAX   ((size_t)768 << 10) /* its base64 is the 1 MiB that a Secret holds */
#define RELEASE_SECRET_TYPE  "helm.sh/release.v1"

struct release {
	const char *name, *ns;
	int64_t revision;
	const char *status;              /* "deployed", "pending-install" ... */
	const char *description, *notes; /* NULL: none */
	int64_t first_deployed_ns, last_deployed_ns, deleted_ns; /* 0: never */
	const struct obj *metadata;     /* of the chart, names as in Chart.yaml */
	const struct obj *chart_values; /* defaults of the chart, or NULL */
	const struct obj *config;       /* values of the user, or NULL */
	const struct obj *hooks;        /* list, see release_hook(), or NULL */
	const char *manifest;
	const struct obj *labels; /* of the user, copied from revision to revision; or NULL */
};

bool release_is_pending(const char *status);
/* "sh.helm.release.v1.NAME.vREVISION" */
const char *release_secret_name(struct arena *a, const char *name, int64_t revision);

/* The text of data.release. E_LIMIT if it is too large for a Secret. */
int release_encode(const struct release *r, struct strbuf *b, struct error *err);
int release_decode(struct str data, struct arena *a, struct release *ret, struct error *err);
/* The whole Secret; now_ns is its createdAt. Of a record that is too large the notes are left out,
 * then the defaults, then the hooks; E_LIMIT if the manifest alone is. Owned. */
int release_to_secret(const struct release *r, int64_t now_ns, struct obj **ret, struct error *err);
/* E_INVALID if the Secret is no record. */
int release_from_secret(const struct obj *secret, struct arena *a, struct release *ret,
			struct error *err);

/* Changes a record in place, whoever wrote it: what is not named here stays as it is, but for
 * helm's apply_method: it is ALM that applies from now on. */
struct release_change {
	const char *status;
	const char *description; /* NULL: as it is */
	const struct obj *hooks; /* list with their last_run, NULL: as it is */
	int64_t now_ns;          /* its modifiedAt */
};
/* A merge patch for the Secret: labels and data. Files and templates of the chart go from a record
 * that would become too large, then notes and defaults. Owned. */
int release_change(const struct obj *secret, const struct release_change *c, struct obj **ret,
		   struct error *err);

/* Parts of a record from what was rendered. Owned. */
struct obj *release_metadata(const struct chart_meta *m);
struct obj *release_hook(const struct hook *h);

#endif
