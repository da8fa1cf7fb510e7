/*
 * values: from values.yaml, -f, --set and defaults to what templates see (charts.md 4).
 *
 *	values_read()      text of a values file -> map
 *	values_combine()   all sources of a user, in Helm's order -> one map
 *	values_process_dependencies()  conditions, tags, alias, import-values: changes the chart
 *	values_coalesce()  user values over the defaults of a chart and all below
 *
 * Maps are handles that templates can change, and they are shared as Helm shares them: a child's
 * values are the very map below its name in the parent's.
 */
#ifndef INSTALLERS_CHART_VALUES_H
#define INSTALLERS_CHART_VALUES_H

#include "installers/chart/setpath.h"
#include "installers/chart/warnings.h"
#include "installers/value/value.h"

struct chart;

#define VALUES_DEPTH_MAX   1000
#define VALUES_SOURCES_MAX 1000

/* All documents of a values file, merged (profile 3: the first). Messages begin with "cannot
 * unmarshal yaml document: ". */
int values_read(struct arena *a, struct str text, enum tmpl_profile profile, struct vmap **ret,
		struct strbuf *msg);

struct values_file {
	const char *name; /* for messages: "failed to parse NAME: ..." */
	struct str text;
};

struct values_sources {
	const struct values_file *files;
	size_t n_files;
	/* texts of --set-json, --set, --set-string, --set-file, --set-literal */
	const char *const *json, *const *typed, *const *string, *const *file, *const *literal;
	size_t n_json, n_typed, n_string, n_file, n_literal;
	const struct setpath_files *reader;
};
int values_combine(struct arena *a, const struct values_sources *s, enum tmpl_profile profile,
		   struct vmap **ret, struct strbuf *msg);

/* User values are not changed. -E_INVALID "type mismatch on s: %!t(<nil>)". */
int values_coalesce(struct arena *a, const struct chart *c, const struct vmap *user,
		    enum tmpl_profile profile, struct warnings *w, struct vmap **ret,
		    struct strbuf *msg);
int values_process_dependencies(struct arena *a, struct chart *c, const struct vmap *user,
				enum tmpl_profile profile, struct warnings *w, struct strbuf *msg);
/* "a.b" as a table; NULL if a part is missing or no table. */
struct vmap *values_table(struct vmap *m, struct str path);

#endif
