/* Checks over objects of others: {live, pods, replicaSets, events, record}. Whatever they say, an
 * answer has its reason and its text, another look is in the future, and what is remembered is
 * bounded and can be given back. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "alm/unit/check.h"

#define INPUT_BYTES_MAX  16384
#define RECORD_BYTES_MAX 16384
#define SINCE            INT64_C(1767355200000000000) /* 2026-01-02T12:00:00Z */

static const char rollout[] =
	"{apiVersion: app.coreos.com/v1alpha1, kind: Rollout, spec: {groups: [{steps: ["
	"{object: a, action: CreateOrUpdate},"
	"{object: a, action: Job},"
	"{object: a, action: DeleteIfExist},"
	"{object: a, action: CreateOrUpdate, success: [{wait: condition=Ready}, {fieldComparisons: "
	"["
	"{path: '{..a}', value: {path: .b}}, {path: '.c[?(@.d==1)]', default: 0, value: {static: "
	"0}}]}], failure: [{checkName: Unschedulable, grace: 1s}, {checkName: OOMKilled, grace: "
	"1m}]}]}]}}";

static void check_result(const struct check_result *r, const struct check_input *in)
{
	fuzz_note_number(r->state);
	fuzz_note_text(r->reason);
	fuzz_note_text(r->message);
	fuzz_note_number(r->again_ns);
	assert(r->state == CHECK_DONE || (r->message && *r->message));
	assert((r->state == CHECK_FAILED) == (r->reason != NULL));
	assert(r->state != CHECK_WAITING || r->again_ns > in->now_ns);
}

static void look_twice(const struct rollout_step *s, struct check_input *in, struct arena *a)
{
	struct check_result got;
	const struct obj *record = in->record, *given = in->record;
	for (int i = 0; i < 2; i++) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
		in->now_ns = SINCE + (20 + 30 * i) * NS_PER_S;
		in->record = record;
		check_step(s, in, a, &got, &record);
		check_result(&got, in);
		if (record)
			json_print(record, &text);
		fuzz_note(strbuf_str(&text));
		assert(text.len < RECORD_BYTES_MAX);
	}
	in->record = given;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct rollout_options options = {.file = "r.yaml"};
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct error err = ERROR_INIT;
	struct rollout *r = NULL;
	if (size > INPUT_BYTES_MAX || json_parse(str_n((const char *)data, size), &o, &err) < 0)
		return 0;
	int rc = rollout_read(str_of(rollout), &options, a, &r, &err);
	assert(rc >= 0);
	struct check_input in = {.live = obj_get(o, "live"),
				 .around = {.pods = obj_get(o, "pods"),
					    .replica_sets = obj_get(o, "replicaSets"),
					    .events = obj_get(o, "events")},
				 .since_ns = SINCE,
				 .record = obj_get(o, "record")};
	for (size_t i = 0; i < r->groups[0].n; i++)
		look_twice(&r->groups[0].steps[i], &in, a);
	return 0;
}
