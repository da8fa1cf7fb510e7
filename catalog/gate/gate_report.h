/*
 * gate_report: many definitions against many others, as `alm crd check` and `alm crd diff` show
 * them. Pure: parsed objects in, text out; reading files, archives and clusters is the caller's.
 *
 *	gate_report_new(&input, &r, err);
 *	for each live object (or object of --objects): gate_report_object(r, o);
 *	gate_report_finish(r, have_objects);
 *	gate_report_text(r, &b);
 *	exit code: gate_report_outcome(r) == FINDING_REFUSE ? 3 : 0
 *	gate_report_free(r);
 *
 * Definitions are paired by metadata.name. The managed resources of each side are its served
 * versions, so that a definition or version that is removed is ResourceDropped.
 */
#ifndef CATALOG_GATE_GATE_REPORT_H
#define CATALOG_GATE_GATE_REPORT_H

#include "catalog/gate/gate.h"

#define GATE_REPORT_CRDS_MAX 2000

struct gate_report;

struct gate_report_input {
	const struct obj *const *before, *const *after; /* other kinds are passed over; borrowed */
	size_t n_before, n_after;
	const struct gate_waiver *waivers;
	size_t n_waivers;
	int64_t now_ns;
};

int gate_report_new(const struct gate_report_input *input, struct gate_report **ret,
		    struct error *err);
void gate_report_free(struct gate_report *r);
DEFINE_FREEP(gate_report)

/* The definitions by name, i below their number; gate_report_crd(): the old one, NULL if it is new. For a
 * live check: the versions to list objects through. */
size_t gate_report_crds(const struct gate_report *r);
const struct obj *gate_report_crd(const struct gate_report *r, size_t i);
size_t gate_report_versions(const struct gate_report *r, size_t i, const char *const **ret);

/* False if no definition is of the object's kind, or it was read through a version that is not
 * asked for. */
bool gate_report_object(struct gate_report *r, const struct obj *o);
void gate_report_finish(struct gate_report *r, bool have_objects);

enum finding_outcome gate_report_outcome(const struct gate_report *r);

/* A table of findings and a last line "2 refused, 1 warning". */
void gate_report_text(const struct gate_report *r, struct strbuf *b);
struct obj *gate_report_json(const struct gate_report *r);  /* owned */
struct obj *gate_report_sarif(const struct gate_report *r); /* owned; SARIF 2.1.0 */
/* {"changes": [{resource, path, change}]}, harmless ones too; owned. */
struct obj *gate_report_changes(const struct gate_report *r);
/* Every change in words, harmless ones too: "etcds.etcd.coreos.com/v1 spec.x: maxLength 3 -> 5". */
void gate_report_diff(const struct gate_report *r, struct strbuf *b);

/* One finding, as in the JSON. */
struct obj *gate_finding_obj(const struct gate *g, const struct gate_finding *f);

#endif
