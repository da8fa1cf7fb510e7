/*
 * package: one version of a package as the resolver sees it (lifecycle.md 1.1).
 *
 * It is made from texts only: Chart.yaml, the descriptor alm.yaml (or its copy in the annotation
 * app.coreos.com/package), and the CRDs of crds/. Everything lives in the arena it was read into.
 * Every name and version of every source comes through package_read(), which refuses those that are
 * no safe file names.
 */
#ifndef CATALOG_INDEX_PACKAGE_H
#define CATALOG_INDEX_PACKAGE_H

#include "alm/obj/gvk.h"
#include "alm/obj/obj.h"
#include "catalog/semver.h"

#define PACKAGE_ANNOTATION           "app.coreos.com/package"
#define PACKAGE_RESOURCES_MAX        256
#define PACKAGE_DESCRIPTOR_BYTES_MAX ((size_t)256 << 10)

#define PACKAGE_REQUIREMENTS_MAX 64 /* what an InstallStrategy takes, crds/strategy.yaml */

struct package_requirement {  /* provided by another package */
	const char *resource; /* plural.group/version */
	const char *versions; /* range, or NULL */
	bool optional;
};

struct package_conflict {
	const char *package, *versions;
};

struct package_version {
	const char *package; /* chart name */
	struct version version;
	const char *digest;   /* SHA-256 of the archive, 64 hex digits */
	const char *locator;  /* where the source finds the archive */
	const char *app_type; /* selfRef it installs; NULL: the app named like the chart */
	const char **provides;
	size_t n_provides;
	const char **own_crds; /* plural.group/version that the archive's CRDs serve */
	size_t n_own_crds;
	struct package_requirement *
		requires;
	size_t n_requires;
	struct package_conflict *conflicts;
	size_t n_conflicts;
	const char **channels; /* none: member of every channel */
	size_t n_channels;
	const char *replaces, **skips, *skip_range; /* upgrade edges; replaces NULL: none */
	size_t n_skips;
	const char **images; /* of the descriptor, for mirroring */
	size_t n_images;
	const char *min_kube_version, *kube_version; /* version; range of Chart.yaml */
	const struct obj *requirements;              /* list, or NULL */
	bool rollback_unsafe, deprecated;
	const char *deprecation; /* message, or NULL */
	const char *withdrawn;   /* message: listed, never installable; or NULL */
	bool is_unusable;        /* withdrawn as its archive could not be read, which may pass */
	const char *overlay;     /* channels and edges that another file gave it (fbc.h); or NULL */
	const char *ambiguous;   /* message: the same version with another digest; or NULL */
	/* Only an index told of it, or templates make CRDs: without declared provides not all are
	 * known before the archive was read and rendered (package_learn). */
	bool unread;
	bool listed_only; /* there is no archive of it: fbc.h */
	char descriptor_digest[65];
	const char *verified_by;  /* policy that its signature was judged by; NULL: none */
	int64_t verified_until_s; /* 0: no end */
};

struct package_source {
	struct str chart_yaml;
	const struct obj *chart;  /* Chart.yaml as a map, instead of its text */
	struct str descriptor;    /* alm.yaml; STR_NONE: none */
	const struct obj *parsed; /* what descriptor or annotation mean; NULL: parsed here */
	const struct obj *const
		*crds; /* of crds/, subcharts included: give provides when undeclared */
	size_t n_crds;
	const struct obj *own_crds; /* their plural.group/version as strings, instead of crds */
	bool unread;                /* as package_version.unread */
	const char *digest, *locator;
	const char *verified_by; /* as of package_version */
	int64_t verified_until_s;
	const char *unusable; /* why it is listed and not to be installed for now; or NULL */
	const char *where;    /* for people, in what is rejected; NULL: the locator */
};

/* A package name becomes a file name, a part of URLs and a word on terminals: Helm's own rule for
 * new charts, letters, digits and "._-", and it begins with none of "." (hidden, "..") and "-" (an
 * option). NAME-VERSION.tgz has room in 255 bytes. */
#define PACKAGE_NAME_BYTES_MAX 120
int package_check_name(struct str name, struct error *err);
/* The descriptor as a map; NULL if the text is empty. */
int package_parse_descriptor(struct str text, struct obj **ret, struct error *err);
/* E_INVALID names the file, the field and what was wanted: "alm.yaml: provides[0]: ...". */
int package_read(const struct package_source *s, struct arena *a, struct package_version **ret,
		 struct error *err);
/* What the archive of an unread version serves; plural.group/version as strings. */
int package_learn(struct package_version *p, const struct obj *own_crds, struct arena *a,
		  struct error *err);
/* plural.group/version of every served version of a CRD, appended. */
int package_crd_resources(const struct obj *crd, struct arena *a, const char ***resources,
			  size_t *n, struct error *err);
bool package_has_channel(const struct package_version *p, const char *channel);
bool package_provides(const struct package_version *p, const char *resource);

#endif
