/*
 * chart: a chart in memory: metadata, templates, values, files, subcharts (charts.md 2, 3).
 *
 * Everything lives in the arena it was loaded into. Messages are Helm's, without "Error: ", of any
 * length, hence a strbuf; the return value is 0 or a negative error code.
 */
#ifndef INSTALLERS_CHART_CHART_H
#define INSTALLERS_CHART_CHART_H

#include "installers/chart/archive.h"
#include "installers/value/value.h"

#define CHART_DEPENDENCIES_MAX 1000

struct chart_maintainer {
	struct str name, email, url;
};

struct chart_dependency {
	struct str name, version, repository, condition, alias;
	struct value tags;          /* VALUE_STRINGS */
	struct value import_values; /* VALUE_LIST of strings and maps */
	bool enabled;
};

struct chart_meta {
	struct str name, home, version, description, icon, api_version, condition, tags;
	struct str app_version, kube_version, type;
	struct value sources, keywords; /* VALUE_STRINGS, items NULL if absent */
	struct vmap *annotations;       /* of strings; NULL if absent */
	bool deprecated;
	struct chart_maintainer *maintainers;
	struct chart_dependency *dependencies;
	size_t n_maintainers, n_dependencies;
	bool has_dependencies; /* false ends the walk over conditions and tags */
};

struct chart {
	struct chart_meta meta;
	struct archive_files templates, files;
	struct vmap *values; /* NULL if there are none; import-values changes it */
	struct str schema;   /* ptr NULL if there is none */
	struct str lock;     /* text of Chart.lock or requirements.lock */
	bool has_requirements,
		has_requirements_lock; /* beside a Chart.yaml of v2, by their names */
	struct chart **charts;
	size_t n_charts;
	struct chart *parent; /* NULL for the root */
};

/* An archive (.tgz). E_INVALID, E_LIMIT. */
int chart_open(struct arena *a, struct str archive, const struct chart_limits *limits,
	       enum tmpl_profile profile, struct chart **ret, struct strbuf *msg);
/* The files of a folder or archive. Nested archives draw on the budget. */
int chart_load(struct arena *a, const struct archive_files *files, struct archive_budget *budget,
	       enum tmpl_profile profile, struct chart **ret, struct strbuf *msg);
/* The same without its subcharts, for `alm package build` and lint: Chart.yaml and its checks. */
int chart_read_meta(struct arena *a, struct str text, struct chart_meta *ret, struct strbuf *msg);
int chart_check_meta(struct arena *a, struct chart_meta *m, struct strbuf *msg);

/* May the root be installed: no library, every dependency is there. */
int chart_check_installable(const struct chart *c, struct strbuf *msg);

/* "c/charts/s": where the templates of the chart have their names. */
struct str chart_path(struct arena *a, const struct chart *c);
/* A copy of c for another parent or name; templates and files are shared. Its subcharts are copies
 * with this copy as parent; those below them keep the parent they had, as in Helm, and with it
 * their paths, until the dependencies of their own chart are processed. */
struct chart *chart_clone(struct arena *a, const struct chart *c);

/* Is the file, by its path inside its chart, one of the chart's CRDs? crds/ at the chart's root,
 * YAML or JSON by the extension, as Helm's Chart.CRDObjects() has it: what lies below
 * templates/crds/ is a template. The one place that decides. */
bool chart_is_crd(const char *path);
/* Those of a chart and its subcharts, packed ones included, with paths from the root
 * ("charts/s/crds/a.yaml", "charts/s-1.0.0.tgz:crds/a.yaml"). in_templates: another file is a
 * manifest of a CRD, so rendering may give more. Subcharts that values switch off are included.
 * Errors of archive_read(). */
struct chart_crds {
	struct archive_files files;
	bool in_templates;
};
int chart_crds(struct arena *a, const struct archive_files *files, struct archive_budget *budget,
	       struct chart_crds *ret, struct error *err);

/* A path of the chart that .helmignore hides; rules NULL hides only templates/.?*. -E_INVALID for
 * a bad rule. */
int chart_ignores(struct str rules, struct str path, bool is_dir, bool *ret, struct strbuf *msg);

#endif
