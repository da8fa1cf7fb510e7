/*
 * Reads [definition, definition, object ...] of any form, legal or not: the gate ends, with texts
 * and a report for whatever it finds, and a definition against itself has no finding.
 */
#include "tests/fuzz/fuzz.h"

#include <assert.h>

#include "alm/obj/json.h"
#include "catalog/gate/gate_report.h"

#define OBJECTS_MAX 8

static void judge(const struct obj *before, const struct obj *after, const struct obj *all)
{
	const struct gate_input in = {.before = before, .after = after};
	const char *const *versions;
	struct gate *g = NULL;
	struct error err = ERROR_INIT;
	if (fuzz_noted(gate_begin(&in, &g, &err), &err) < 0)
		return;
	size_t n = gate_versions(g, &versions);
	for (size_t i = 2; i < obj_len(all) && i < OBJECTS_MAX; i++)
		for (size_t k = 0; k < n && obj_type(obj_at(all, i)) == OBJ_MAP; k++)
			gate_object(g, obj_at(all, i), versions[k]);
	gate_finish(g);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)64 << 20);
	for (size_t i = 0; i < gate_count(g); i++)
		gate_finding_text(g, gate_finding(g, i), &b);
	fuzz_note(strbuf_str(&b));
	fuzz_note_number(gate_outcome(g));
	assert(before != after || gate_count(g) == 0);
	gate_free(g);
}

static void report(const struct obj *before, const struct obj *after)
{
	const struct gate_report_input in = {
		.before = &before, .after = &after, .n_before = 1, .n_after = 1};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)64 << 20);
	struct gate_report *r = NULL;
	struct error err = ERROR_INIT;
	if (fuzz_noted(gate_report_new(&in, &r, &err), &err) < 0)
		return;
	gate_report_finish(r, false);
	gate_report_text(r, &b);
	gate_report_diff(r, &b);
	struct obj *sarif = gate_report_sarif(r);
	fuzz_note(strbuf_str(&b));
	fuzz_note_obj(sarif);
	obj_unref(sarif);
	gate_report_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	if (json_parse(str_n((const char *)data, size), &o, &err) < 0)
		return 0;
	const struct obj *x = obj_at(o, 0), *y = obj_at(o, 1);
	if (obj_type(x) == OBJ_MAP && obj_type(y) == OBJ_MAP) {
		judge(x, y, o);
		judge(x, x, o);
		report(x, y);
	}
	obj_unref(o);
	return 0;
}
