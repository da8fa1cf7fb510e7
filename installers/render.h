/*
 * render: a chart, values and a release to documents, hooks and notes, as `helm template` does
 * (charts.md 5, 9). Pure: time, entropy and lookups come in through tmpl_host; the same
 * request gives the same bytes.
 *
 * Everything lives in the arena. Messages are Helm's, without "Error: ". The chart is changed
 * (dependencies, import-values): load it again for another render.
 */
#ifndef INSTALLERS_RENDER_H
#define INSTALLERS_RENDER_H

#include "installers/chart/chart.h"
#include "installers/chart/values.h"
#include "installers/hooks.h"
#include "installers/tmpl/tmpl.h"

/* Of the process that renders; wall time only for one that hangs: a busy machine gives its
 * processor time late. Ten RSA keys of 4096 bits, which public charts make, take 20 s, and 40 s
 * with bad luck; --render-cpu says otherwise. */
#define RENDER_MEMORY_BYTES ((size_t)512 << 20)
#define RENDER_CPU_S        60
#define RENDER_WALL_NS      (INT64_C(600) * 1000000000)

struct render_request {
	enum tmpl_profile profile;
	struct str name, ns; /* "" are release-name and default */
	int revision;        /* 0 is 1 */
	bool is_upgrade, strict, skip_schema, subchart_notes;
	/* lint: fail, required, missing dependencies, libraries, kubeVersion do not end it */
	bool lenient;
	struct str kube_version;         /* "v1.33.1"; "" is the profile's default */
	const char *const *api_versions; /* after those of the profile, or instead of them */
	size_t n_api_versions;
	bool only_api_versions;           /* live: no built-in list */
	const struct vmap *values;        /* of the user; NULL is none */
	const struct tmpl_host *host;     /* NULL: no time, no entropy, no lookup */
	const struct tmpl_limits *limits; /* NULL: tmpl_limits_default */
};

struct render_document {
	const char *path; /* of its template: "c/templates/a.yaml" */
	struct str text;
	struct manifest_head head;
};

struct render_crd {
	const char *path; /* "c/crds/a.yaml" */
	struct str text;  /* the whole file */
};

struct render_file {
	struct str path, text; /* as rendered, before it is split */
};

struct render_result {
	struct render_document *documents; /* in install order */
	size_t n_documents;
	struct hook *hooks; /* sorted by kind, as Helm prints them */
	size_t n_hooks;
	struct render_crd *crds; /* of the root, then of subcharts; archive order */
	size_t n_crds;
	struct render_file *files; /* sorted by path; also there when a document is bad YAML */
	size_t n_files;
	struct str notes;
	struct vmap *values; /* coalesced: what the templates saw */
	struct warnings warnings;
	bool is_random; /* a function that is not reproducible ran */
	/* The failure came while rendering or later: Helm adds "Use --debug flag ...". */
	bool failed_late;
};

/* *ret is filled as far as it got also on failure. */
int render_chart(struct arena *a, struct chart *c, const struct render_request *rq,
		 struct render_result *ret, struct strbuf *msg);

/* "invalid kube version 'abc': ..." */
int render_check_kube_version(struct str text, struct strbuf *msg);

/* The text that `helm template` prints: CRDs (if wanted), documents, hooks. */
struct render_print {
	bool crds, no_hooks, skip_tests;
	/* Takes the text in pieces of RENDER_PIECE_BYTES or more, so that it is not all in out:
	 * that has the rest. NULL: out has all. */
	void (*put)(void *ctx, struct str text);
	void *ctx;
};
#define RENDER_PIECE_BYTES ((size_t)64 << 10)
void render_print(const struct render_result *r, const struct render_print *options,
		  struct strbuf *out);
/* What is stored as manifest of a release: the documents alone. */
void render_print_manifest(const struct render_result *r, bool crds, struct strbuf *out);

#endif
