/*
 * jsonschema: values.schema.json (charts.md 4): drafts 4, 6, 7, 2019-09, 2020-12; none named
 * means 2020-12. Pure: references stay inside the document (CVE-2025-32387, CVE-2025-55199).
 */
#ifndef INSTALLERS_JSONSCHEMA_JSONSCHEMA_H
#define INSTALLERS_JSONSCHEMA_JSONSCHEMA_H

#include "installers/chart/chart.h"
#include "installers/chart/values.h"

#define JSONSCHEMA_REF_STEPS_MAX 1000
#define JSONSCHEMA_STEPS_MAX     5000000             /* schemas applied to values, in all */
#define JSONSCHEMA_BYTES_MAX     ((size_t)256 << 20) /* of one schema, read */

/* The schema of the chart against its values, then those of its subcharts. All violations are in
 * msg, as Helm words them, sorted by path. */
int jsonschema_check_chart(const struct chart *c, struct vmap *values, struct warnings *w,
			   struct strbuf *msg);

/* One document. Lines "- at '/a': got number, want string", each with its newline. */
int jsonschema_check(struct arena *a, struct str schema, struct value v, struct warnings *w,
		     struct strbuf *msg);

#endif
