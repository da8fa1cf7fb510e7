/* job_policy_check: when a Job has failed or succeeded, by its Pods (job_check.h), as batch/validation of Kubernetes 1.36 has it. */
#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/job_check.h"

#define RULES_MAX      20
#define PATTERNS_MAX   20
#define EXIT_CODES_MAX 255
#define INDEXES_BYTES  (64 << 10)

/* One of all, which has to be there; valid: how all are told. */
static void check_needed(struct field_errors *e, const char *path, const char *is,
			 const char *const *all, const char *valid)
{
	if (!*is)
		check_required(e, path, valid);
	else
		field_errors_one_of(e, path, is, all);
}

/* --- indexes --- */

static const char *index_fault(struct field_errors *e, struct str number, int64_t completions,
			       int64_t *ret)
{
	const char *shown = check_quoted(e, arena_strndup(e->arena, number.ptr, number.len));
	if (!str_parse_i64(number, ret))
		return arena_fmt(e->arena, "cannot convert string to integer for index: %s", shown);
	return *ret >= completions ? arena_fmt(e->arena, "too large index: %s", shown) : NULL;
}

static const char *order_fault(struct field_errors *e, int64_t previous, int64_t current)
{
	return arena_fmt(e->arena, "non-increasing order, previous: %lld, current: %lld",
			 (long long)previous, (long long)current);
}

struct indexes {
	int64_t completions; /* of the Job: the first index that is too large */
	int64_t last;        /* -1: none so far */
	int64_t n;
};

/* "7" or "0-3", behind what x has. */
static const char *interval_fault(struct field_errors *e, struct str part, struct indexes *x)
{
	struct str first, second;
	int64_t from = 0, to = 0;
	bool two = str_cut(part, '-', &first, &second);
	if (two && str_find_char(second, '-') >= 0)
		return arena_fmt(e->arena,
				 "the fragment %s violates the requirement that an index "
				 "interval can have at most two parts separated by '-'",
				 check_quoted(e, arena_strndup(e->arena, part.ptr, part.len)));
	const char *fault = index_fault(e, two ? first : part, x->completions, &from);
	if (!fault && two)
		fault = index_fault(e, second, x->completions, &to);
	if (!fault && two && from >= to)
		fault = order_fault(e, from, to);
	if (!fault && x->last >= 0 && x->last >= from)
		fault = order_fault(e, x->last, from);
	x->last = two ? to : from;
	x->n += x->last - from + 1;
	return fault;
}

const char *job_indexes_fault(struct field_errors *e, const char *text, int64_t completions,
			      int64_t *ret)
{
	struct str rest = str_of(text), part;
	struct indexes x = {.completions = completions, .last = -1};
	const char *fault = NULL;
	while (*text && !fault && str_next(&rest, ',', &part))
		fault = interval_fault(e, part, &x);
	*ret = fault ? 0 : x.n;
	return fault;
}

/* The next interval that is one. */
static bool next_interval(struct field_errors *e, struct str *rest, struct indexes *x)
{
	struct str part;
	while (rest->len && str_next(rest, ',', &part)) {
		*x = (struct indexes){.completions = x->completions, .last = -1};
		if (!interval_fault(e, part, x))
			return true;
	}
	return false;
}

int64_t job_indexes_overlap(struct field_errors *e, const char *a, const char *b,
			    int64_t completions)
{
	struct str of_a = str_of(a), of_b = str_of(b);
	struct indexes x = {.completions = completions}, y = x;
	bool more = next_interval(e, &of_a, &x) && next_interval(e, &of_b, &y);
	while (more) {
		int64_t from = x.last - x.n + 1, other = y.last - y.n + 1;
		if (from <= y.last && other <= x.last)
			return from > other ? from : other;
		more = from <= other ? next_interval(e, &of_a, &x) : next_interval(e, &of_b, &y);
	}
	return -1;
}

/* --- failure --- */

/* All that rules may name, found once: rules and containers may both be as many as a body has room for. */
static void name_containers(const struct obj *spec, struct map *names)
{
	static const char *const lists[] = {"template.spec.containers",
					    "template.spec.initContainers"};
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct obj *list = obj_path(spec, lists[k]);
		for (size_t i = 0; i < obj_len(list); i++)
			(void)map_set(names, check_text(obj_at(list, i), "name"), NULL);
	}
}

/* Each once, and from the least to the greatest. */
static void check_values(struct field_errors *e, const char *at, const struct obj *values,
			 bool is_in)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	int64_t before = INT64_MIN;
	bool ordered = true;
	if (!obj_len(values))
		check_invalid(e, at, values, "at least one value is required");
	(void)check_length(e, at, values, EXIT_CODES_MAX);
	for (size_t i = 0; i < obj_len(values) && !field_errors_full(e); i++) {
		const struct obj *v = obj_at(values, i);
		int64_t n = 0;
		if (!obj_as_i64(v, &n))
			continue;
		if (n == 0 && is_in)
			check_invalid(e, check_at(e, at, i), v,
				      "must not be 0 for the In operator");
		if (check_again(seen, arena_fmt(e->arena, "%lld", (long long)n)))
			check_invalid(e, check_at(e, at, i), v, NULL);
		ordered = ordered && n >= before;
		before = n;
	}
	if (!ordered)
		check_invalid(e, at, values, "must be ordered");
}

static void check_exit_codes(struct field_errors *e, const char *path, const struct obj *codes,
			     const struct map *names)
{
	static const char *const operators[] = {"In", "NotIn", NULL};
	const char *op = check_text(codes, "operator"), *name = obj_str(codes, "containerName");
	check_needed(e, check_below(e, path, "operator"), op, operators,
		     "valid values: [\"In\" \"NotIn\"]");
	if (name && !map_has(names, name))
		check_invalid_text(e, check_below(e, path, "containerName"), name,
				   "must be one of the container or initContainer names in the pod "
				   "template");
	check_values(e, check_below(e, path, "values"), obj_get(codes, "values"),
		     strcmp(op, "In") == 0);
}

static void check_conditions_of(struct field_errors *e, const char *path, const struct obj *list)
{
	static const char *const all[] = {"False", "True", "Unknown", NULL};
	(void)check_length(e, path, list, PATTERNS_MAX);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const struct obj *c = obj_at(list, i);
		const char *at = check_at(e, path, i);
		check_qualified(e, check_below(e, at, "type"), check_text(c, "type"));
		check_needed(e, check_below(e, at, "status"), check_text(c, "status"), all,
			     "valid values: [\"False\" \"True\" \"Unknown\"]");
	}
}

static void check_failure_rule(struct field_errors *e, const char *path, const struct obj *r,
			       const struct obj *spec, const struct map *names)
{
	static const char *const actions[] = {"Count", "FailIndex", "FailJob", "Ignore", NULL};
	const struct obj *codes = obj_get(r, "onExitCodes"),
			 *conditions = obj_get(r, "onPodConditions");
	const char *action = check_text(r, "action"), *at = check_below(e, path, "action");
	if (strcmp(action, "FailIndex") == 0 && !obj_has(spec, "backoffLimitPerIndex"))
		check_invalid_text(e, at, action, "requires the backoffLimitPerIndex to be set");
	else
		check_needed(e, at, action, actions,
			     "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]");
	if (codes)
		check_exit_codes(e, check_below(e, path, "onExitCodes"), codes, names);
	check_conditions_of(e, check_below(e, path, "onPodConditions"), conditions);
	if (!codes == !obj_len(conditions))
		field_errors_add(e, FIELD_INVALID, path, "Invalid value: %s",
				 codes ? "specifying both OnExitCodes and OnPodConditions is not "
					 "supported"
				       : "specifying one of OnExitCodes and OnPodConditions is "
					 "required");
}

/* --- success --- */

static void check_succeeded(struct field_errors *e, const char *path, const struct obj *count,
			    int64_t most, const char *of)
{
	int64_t n = 0;
	if (obj_as_i64(count, &n) && n > most)
		check_invalid(e, path, count,
			      arena_fmt(e->arena, "must be less than or equal to %lld (%s)",
					(long long)most, of));
}

/* completions is there: of a Job without them nothing is counted. */
static void check_success_rule(struct field_errors *e, const char *path, const struct obj *r,
			       int64_t completions)
{
	const struct obj *indexes = obj_get(r, "succeededIndexes"),
			 *count = obj_get(r, "succeededCount");
	const char *at = check_below(e, path, "succeededIndexes"), *fault = NULL;
	const char *count_at = check_below(e, path, "succeededCount");
	int64_t total = 0;
	if (!indexes && !count)
		check_required(e, path,
			       "at least one of succeededCount or succeededIndexes must be "
			       "specified");
	if (indexes && obj_as_str(indexes).len > INDEXES_BYTES)
		check_too_long(e, at, INDEXES_BYTES);
	if (indexes)
		fault = job_indexes_fault(e, obj_as_string(indexes), completions, &total);
	if (fault)
		check_invalid(e, at, indexes,
			      arena_fmt(e->arena, "error parsing succeededIndexes: %s", fault));
	check_at_least(e, count_at, count, 0);
	check_succeeded(e, count_at, count, completions, "the number of specified completions");
	if (indexes)
		check_succeeded(e, count_at, count, total,
				"the number of indexes in the specified succeededIndexes field");
}

static void check_success(struct field_errors *e, const char *path, const struct obj *spec)
{
	const struct obj *policy = obj_get(spec, "successPolicy"),
			 *rules = obj_get(policy, "rules");
	const char *at = check_below(e, path, "rules");
	int64_t completions = 0;
	if (strcmp(check_text(spec, "completionMode"), "Indexed") != 0) {
		check_invalid(e, path, policy, "requires indexed completion mode");
		return;
	}
	if (!obj_len(rules))
		check_required(e, at,
			       "at least one rules must be specified when the successPolicy is "
			       "specified");
	(void)check_length(e, at, rules, RULES_MAX);
	if (!obj_as_i64(obj_get(spec, "completions"), &completions))
		return; /* which is told */
	for (size_t i = 0; i < obj_len(rules) && !field_errors_full(e); i++)
		check_success_rule(e, check_at(e, at, i), obj_at(rules, i), completions);
}

void job_check_policies(struct field_errors *e, const char *path, const struct obj *spec)
{
	static const char *const policies[] = {"Failed", "TerminatingOrFailed", NULL};
	static const char *const only[] = {"Failed", NULL};
	const struct obj *policy = obj_get(spec, "podFailurePolicy"),
			 *rules = obj_get(policy, "rules");
	const char *at = check_below(e, path, "podFailurePolicy.rules");
	CLEANUP(map_freep) struct map *names = map_new(NULL);
	if (obj_len(rules))
		name_containers(spec, names);
	(void)check_length(e, at, rules, RULES_MAX);
	for (size_t i = 0; i < obj_len(rules) && !field_errors_full(e); i++)
		check_failure_rule(e, check_at(e, at, i), obj_at(rules, i), spec, names);
	if (obj_has(spec, "successPolicy"))
		check_success(e, check_below(e, path, "successPolicy"), spec);
	if (obj_has(spec, "podReplacementPolicy"))
		field_errors_one_of(e, check_below(e, path, "podReplacementPolicy"),
				    check_text(spec, "podReplacementPolicy"),
				    policy ? only : policies);
}
