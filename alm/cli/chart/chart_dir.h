/* chart_dir: charts from disk: a folder (with its .helmignore) or a packed archive. */
#ifndef ALM_CLI_CHART_CHART_DIR_H
#define ALM_CLI_CHART_CHART_DIR_H

#include "installers/chart/chart.h"
#include "installers/chart/warnings.h"

#define CHART_DIR_DEPTH_MAX 32

/* The files of a folder that belong to the chart, in lexical order. Links are refused (links NULL:
 * packaging, CVE-2019-18658) or followed inside of the budget and named there, as helm logs them.
 */
int chart_dir_files(struct arena *a, const char *path, struct warnings *links,
		    struct archive_budget *budget, struct archive_files *ret, struct strbuf *msg);
/* A folder or a .tgz as bytes: opening files is one thing, looking into them another, which a
 * sandbox can do. */
struct chart_source {
	const char *path;
	bool is_dir;
	struct str packed;
	struct archive_files files;
	struct archive_budget budget;
	struct warnings links;
};
int chart_dir_read(struct arena *a, const char *path, struct chart_source *ret, struct strbuf *msg);
int chart_dir_parse(struct arena *a, struct chart_source *s, enum tmpl_profile profile,
		    struct chart **ret, struct strbuf *msg);
/* Both. */
int chart_dir_load(struct arena *a, const char *path, enum tmpl_profile profile, struct chart **ret,
		   struct strbuf *msg);

#endif
