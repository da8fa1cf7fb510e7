/* Rollouts: what is read has steps with a name, an action and an object, spans within their limits,
 * and keys can be put to it. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/unit/rollout.h"

#define INPUT_BYTES_MAX 16384

static void check_span(int64_t ns)
{
	assert(ns >= NS_PER_MS && ns <= 7 * NS_PER_DAY);
}

static void check_step(const struct rollout_step *s)
{
	fuzz_note_text(s->name);
	fuzz_note_text(s->object);
	fuzz_note_text(s->action_name);
	fuzz_note_number(s->timeout_ns);
	assert(*s->name && *s->object && *s->action_name);
	assert(s->n_success <= ROLLOUT_CHECKS_MAX && s->n_failure <= ROLLOUT_FAILURES_MAX);
	check_span(s->timeout_ns);
	for (size_t i = 0; i < s->n_success; i++) {
		const struct rollout_check *c = &s->success[i];
		check_span(c->timeout_ns);
		check_span(c->poll_ns);
		for (size_t v = 0; v < c->n_values; v++)
			assert(c->values[v].path &&
			       !c->values[v].want == !!c->values[v].value_path);
		if (c->type == CHECK_WAIT)
			(void)wait_expr_holds(&c->wait, NULL, 0, NULL);
	}
	for (size_t i = 0; i < s->n_failure; i++)
		assert(failure_check_find(s->failure[i].name));
	(void)rollout_step_takes(s, "crds/a.yaml!1.2");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const plugins[] = {"Restart", NULL};
	static const struct rollout_options options = {
		.file = "r.yaml", .plugins = plugins, .checks = plugins};
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	struct error err = ERROR_INIT;
	struct rollout *r = NULL;
	if (size > INPUT_BYTES_MAX || memchr(data, 0, size))
		return 0;
	if (fuzz_noted(rollout_read(str_n((const char *)data, size), &options, a, &r, &err), &err) <
	    0) {
		assert(!strncmp(err.msg, "r.yaml: ", 8));
		return 0;
	}
	for (size_t g = 0; g < r->n; g++)
		for (size_t s = 0; s < r->groups[g].n; s++)
			check_step(&r->groups[g].steps[s]);
	return 0;
}
