/*
 * inspect: what a catalog wants to know of one archive: Chart.yaml, alm.yaml, what its CRDs serve.
 * Bytes in, an entry (catalog/index/entry.h) without place out. Pure; archives that came over the
 * network are inspected in the sandbox.
 */
#ifndef ALM_SOURCES_INSPECT_H
#define ALM_SOURCES_INSPECT_H

#include "alm/base/strbuf.h"
#include "alm/io/sandbox.h"
#include "alm/obj/obj.h"

/* {chart, descriptor, ownCrds, digest}; owned. ownCrds are those of crds/ alone (chart_crds);
 * unread says that templates make more, which only rendering tells: that is work for the sandbox,
 * see inspect_job(). */
int inspect_archive(struct str packed, struct obj **ret_entry, struct error *err);

/* Appends the definitions that a chart brings, each once by name: those of crds/, and what its
 * templates make with the chart's own values (lifecycle.md 1.1). A chart that does not render with
 * them has those of crds/ alone. */
struct archive_files;
int inspect_crds(struct arena *a, const struct archive_files *files, struct obj *crds,
		 struct error *err);
/* The same of an archive, with its entry; both owned. */
int inspect_rendered(struct str packed, struct obj **ret_entry, struct obj **ret_crds,
		     struct error *err);

#define INSPECT_JOB "inspect"
/* An archive in, the entry of inspect_rendered() out. Needs the limits of a render. */
int inspect_job(struct str input, struct strbuf *output, struct error *err);
extern const struct sandbox_limits inspect_limits;

struct package_version;
/* The archive is what its index said: the same name, version and descriptor. E_INVALID
 * REASON_DESCRIPTOR_MISMATCH. */
int inspect_compare(const struct obj *entry, const struct package_version *p, struct error *err);

#endif
