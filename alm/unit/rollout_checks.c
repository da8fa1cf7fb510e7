/* rollout_checks: the success and failure checks of a step, as written. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/decode.h"
#include "alm/unit/rollout_internal.h"

struct raw_check {
	const char *wait, *plugin;
	const struct obj *fields, *failure, *prometheus, *config;
	int64_t timeout_ns, poll_ns;
};

#define CHECK(path, type, member) {path, type, offsetof(struct raw_check, member)}
static const struct decode_field check_fields[] = {
	CHECK("fieldComparisons", DECODE_ANY, fields),
	CHECK("wait", DECODE_STR, wait),
	CHECK("plugin", DECODE_STR, plugin),
	CHECK("config", DECODE_ANY, config), /* of a plugin */
	CHECK("timeout", DECODE_SPAN, timeout_ns),
	CHECK("pollInterval", DECODE_SPAN, poll_ns),
	CHECK("failure", DECODE_LIST, failure), /* where Locutus has it */
	CHECK("prometheus", DECODE_ANY, prometheus),
	{0},
};

struct raw_comparisons {
	const struct obj *values, *failure;
	int64_t timeout_ns, progress_ns, poll_ns;
};

#define COMPARISONS(path, type, member) {path, type, offsetof(struct raw_comparisons, member)}
static const struct decode_field comparisons_fields[] = {
	COMPARISONS("expectedValues", DECODE_LIST, values),
	COMPARISONS("timeout", DECODE_SPAN, timeout_ns),
	COMPARISONS("progressTimeout", DECODE_SPAN, progress_ns),
	COMPARISONS("pollInterval", DECODE_SPAN, poll_ns),
	COMPARISONS("failure", DECODE_LIST, failure),
	{0},
};

struct raw_expected {
	const char *name, *path;
	const struct obj *fallback, *value;
};

#define EXPECTED(path, type, member) {path, type, offsetof(struct raw_expected, member)}
static const struct decode_field expected_fields[] = {
	EXPECTED("name", DECODE_TEXT, name),
	EXPECTED("path", DECODE_STR, path),
	EXPECTED("default", DECODE_ANY, fallback),
	EXPECTED("value", DECODE_MAP, value),
	{0},
};

struct raw_value {
	const char *path;
	const struct obj *fixed, *integer;
};

#define VALUE(path, type, member) {path, type, offsetof(struct raw_value, member)}
static const struct decode_field value_fields[] = {
	VALUE("path", DECODE_STR, path),
	VALUE("static", DECODE_ANY, fixed),
	VALUE("staticInt64", DECODE_ANY, integer),
	{0},
};

struct raw_failure {
	const char *name;
	int64_t grace_ns;
};

static const struct decode_field failure_fields[] = {
	{"checkName", DECODE_STR, offsetof(struct raw_failure, name)},
	{"grace", DECODE_SPAN, offsetof(struct raw_failure, grace_ns)},
	{0},
};

struct reader {
	struct rollout_step *step;
	const struct rollout_options *options;
	struct arena *a;
	struct error *err;
};

static void free_path(void *p)
{
	jsonpath_free(p);
}

static void release_wait(void *p)
{
	wait_expr_release(p);
}

/* With or without the braces of a template: "{.status.phase}". */
static int read_path(struct reader *r, const char *field, const char *text, struct jsonpath **ret)
{
	struct error inner = ERROR_INIT;
	struct str s = str_of(text);
	bool opens = s.len && s.ptr[0] == '{', closes = s.len && s.ptr[s.len - 1] == '}';
	if (opens != closes)
		return error_set(r->err, E_INVALID,
				 "%s: \"%.200s\" has one brace; want both or none", field, text);
	if (opens && s.len >= 2)
		s = str_sub(s, 1, s.len - 2);
	if (!s.len)
		return error_set(r->err, E_INVALID,
				 "%s: is empty; want a JSONPath like {.status.replicas}", field);
	if (jsonpath_parse(s, ret, &inner) < 0)
		return error_set(r->err, E_INVALID, "%s: %s", field, inner.msg);
	arena_defer(r->a, free_path, *ret);
	return 0;
}

/* The seed's programs compare numbers as JSON has them: 0 equals 0.0, not "0". */
static int read_value(struct reader *r, const char *field, const struct obj *o,
		      struct expected_value *ret)
{
	int64_t n;
	struct raw_value raw = {0};
	if (decode_members(o, field, value_fields, &raw, r->a, r->err) < 0)
		return -r->err->code;
	if (!!raw.path + !!raw.fixed + !!raw.integer != 1)
		return error_set(r->err, E_INVALID,
				 "%s: has %s of path, static, staticInt64; one is wanted", field,
				 raw.path || raw.fixed || raw.integer ? "several" : "none");
	if (raw.integer && !obj_as_i64(raw.integer, &n))
		return error_set(r->err, E_INVALID, "%s.staticInt64: found %s, wanted integer",
				 field, obj_type_name(obj_type(raw.integer)));
	ret->want = raw.fixed ? raw.fixed : raw.integer;
	ret->value_text = raw.path;
	if (!raw.path)
		return 0;
	return read_path(r, arena_fmt(r->a, "%s.path", field), raw.path, &ret->value_path);
}

static int read_expected(struct reader *r, const char *field, const struct obj *o,
			 struct expected_value *ret)
{
	struct raw_expected raw = {0};
	if (decode_members(o, field, expected_fields, &raw, r->a, r->err) < 0)
		return -r->err->code;
	if (!raw.path)
		return error_set(r->err, E_INVALID,
				 "%s.path: is missing; want a JSONPath like {.status.replicas}",
				 field);
	if (!raw.value)
		return error_set(r->err, E_INVALID,
				 "%s.value: is missing; want {path: JSONPATH} or {static: VALUE}",
				 field);
	*ret = (struct expected_value){.name = raw.name && *raw.name ? raw.name : raw.path,
				       .path_text = raw.path,
				       .fallback = raw.fallback};
	if (read_path(r, arena_fmt(r->a, "%s.path", field), raw.path, &ret->path) < 0)
		return -r->err->code;
	return read_value(r, arena_fmt(r->a, "%s.value", field), raw.value, ret);
}

static int read_values(struct reader *r, const char *field, const struct obj *list,
		       struct rollout_check *ret)
{
	size_t n = obj_len(list);
	if (!n)
		return error_set(r->err, E_INVALID, "%s: has no comparison", field);
	if (n > ROLLOUT_VALUES_MAX)
		return error_set(r->err, E_LIMIT, "%s: has %zu entries, at most %d are taken",
				 field, n, ROLLOUT_VALUES_MAX);
	ret->values = ARENA_ARRAY(r->a, struct expected_value, n);
	ret->n_values = n;
	for (size_t i = 0; i < n; i++)
		if (read_expected(r, arena_fmt(r->a, "%s[%zu]", field, i), obj_at(list, i),
				  &ret->values[i]) < 0)
			return -r->err->code;
	return 0;
}

static int read_failure(struct reader *r, const char *field, const struct obj *list)
{
	struct rollout_step *s = r->step;
	size_t n = obj_len(list);
	if (n + s->n_failure > ROLLOUT_FAILURES_MAX)
		return error_set(r->err, E_LIMIT, "%s: more than %d checks", field,
				 ROLLOUT_FAILURES_MAX);
	for (size_t i = 0; i < n; i++) {
		struct raw_failure raw = {.grace_ns = -1};
		const char *at = arena_fmt(r->a, "%s[%zu]", field, i);
		if (decode_members(obj_at(list, i), at, failure_fields, &raw, r->a, r->err) < 0)
			return -r->err->code;
		const struct failure_check *known = raw.name ? failure_check_find(raw.name) : NULL;
		if (!known) {
			CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(STRBUF_SMALL);
			failure_names(&names);
			return error_set(r->err, E_INVALID,
					 "%s.checkName: \"%.64s\" is unknown; known are %s", at,
					 raw.name ? raw.name : "", names.buf);
		}
		s->failure[s->n_failure++] = (struct failure_check){
			known->name, raw.grace_ns < 0 ? known->grace_ns : raw.grace_ns};
	}
	return 0;
}

/* A list of comparisons, or {expectedValues, timeout, ...}. */
static int read_comparisons(struct reader *r, const char *field, const struct obj *o,
			    struct rollout_check *ret, const struct obj **ret_failure)
{
	struct raw_comparisons raw = {.timeout_ns = ret->timeout_ns,
				      .progress_ns = ROLLOUT_PROGRESS_TIMEOUT,
				      .poll_ns = ret->poll_ns};
	const char *values = field;
	if (obj_type(o) == OBJ_LIST) {
		raw.values = o;
	} else {
		if (decode_members(o, field, comparisons_fields, &raw, r->a, r->err) < 0)
			return -r->err->code;
		values = arena_fmt(r->a, "%s.expectedValues", field);
	}
	ret->timeout_ns = raw.timeout_ns;
	ret->progress_ns = raw.progress_ns;
	ret->poll_ns = raw.poll_ns;
	*ret_failure = raw.failure;
	return read_values(r, values, raw.values, ret);
}

static int read_wait(struct reader *r, const char *text, struct rollout_check *ret)
{
	struct error inner = ERROR_INIT;
	if (wait_expr_parse(r->a, text, &ret->wait, &inner) < 0)
		return error_set(r->err, E_INVALID, "%s.wait: %s", ret->field, inner.msg);
	arena_defer(r->a, release_wait, &ret->wait);
	return 0;
}

static int read_plugin(struct reader *r, const struct raw_check *raw, struct rollout_check *ret)
{
	ret->plugin = raw->plugin;
	ret->config = raw->config;
	if (r->options->any_plugin ||
	    (r->options->checks && cstr_in(raw->plugin, r->options->checks)))
		return 0;
	CLEANUP(strbuf_release) struct strbuf known = STRBUF_INIT(STRBUF_SMALL);
	for (const char *const *p = r->options->checks; p && *p; p++)
		strbuf_addf(&known, "%s%s", known.len ? ", " : "", *p);
	return error_set(r->err, E_INVALID,
			 "%s.plugin: \"%.64s\" is unknown; it is the NAME of a program check-NAME"
			 " in $ALM_PLUGIN_DIR, which has %s",
			 ret->field, raw->plugin, known.len ? known.buf : "none");
}

/* What cannot be through in time would fail for ever. */
static int read_prometheus(struct reader *r, const struct raw_check *raw, struct rollout_check *ret)
{
	char span[CLOCK_TEXT_MAX], timeout[CLOCK_TEXT_MAX];
	int64_t limit =
		ret->timeout_ns < r->step->timeout_ns ? ret->timeout_ns : r->step->timeout_ns;
	if (prometheus_parse(raw->prometheus, arena_fmt(r->a, "%s.prometheus", ret->field), r->a,
			     &ret->prometheus, r->err) < 0)
		return -r->err->code;
	duration_format(prometheus_span_ns(ret->prometheus), span);
	duration_format(limit, timeout);
	if (prometheus_span_ns(ret->prometheus) >= limit)
		return error_set(r->err, E_INVALID,
				 "%s.prometheus.count: %lld samples take at least %s, and the step "
				 "has %s; raise its timeout",
				 ret->field, (long long)ret->prometheus->count, span, timeout);
	return 0;
}

static int read_one(struct reader *r, const struct raw_check *raw, struct rollout_check *ret,
		    const struct obj **ret_failure)
{
	if (raw->plugin)
		return read_plugin(r, raw, ret);
	if (raw->wait)
		return read_wait(r, raw->wait, ret);
	if (raw->prometheus)
		return read_prometheus(r, raw, ret);
	return read_comparisons(r, arena_fmt(r->a, "%s.fieldComparisons", ret->field), raw->fields,
				ret, ret_failure);
}

static int read_check(struct reader *r, const struct obj *o, struct rollout_check *ret)
{
	struct raw_check raw = {.timeout_ns = obj_has(o, "prometheus") ? ROLLOUT_NO_TIMEOUT
								       : ROLLOUT_CHECK_TIMEOUT,
				.poll_ns = ROLLOUT_POLL_INTERVAL};
	const struct obj *failure = NULL;
	const char *field = ret->field;
	if (decode_members(o, field, check_fields, &raw, r->a, r->err) < 0)
		return -r->err->code;
	if (!!raw.fields + !!raw.wait + !!raw.plugin + !!raw.prometheus != 1)
		return error_set(r->err, E_INVALID,
				 "%s: want one of fieldComparisons, wait, prometheus and plugin",
				 field);
	if (raw.config && !raw.plugin)
		return error_set(r->err, E_INVALID, "%s.config: only a plugin has one", field);
	ret->timeout_ns = raw.timeout_ns;
	ret->poll_ns = raw.poll_ns;
	ret->type = raw.wait         ? CHECK_WAIT
		    : raw.plugin     ? CHECK_PLUGIN
		    : raw.prometheus ? CHECK_PROMETHEUS
				     : CHECK_FIELDS;
	if (read_one(r, &raw, ret, &failure) < 0)
		return -r->err->code;
	if (read_failure(r, arena_fmt(r->a, "%s.failure", field), raw.failure) < 0)
		return -r->err->code;
	return read_failure(r, arena_fmt(r->a, "%s.fieldComparisons.failure", field), failure);
}

static int read_success(struct reader *r, const struct obj *list)
{
	struct rollout_step *s = r->step;
	size_t n = obj_len(list);
	if (n > ROLLOUT_CHECKS_MAX)
		return error_set(r->err, E_LIMIT,
				 "%s.success: has %zu entries, at most %d are taken", s->field, n,
				 ROLLOUT_CHECKS_MAX);
	s->success = ARENA_ARRAY(r->a, struct rollout_check, n);
	s->n_success = n;
	for (size_t i = 0; i < n; i++) {
		s->success[i].field = arena_fmt(r->a, "%s.success[%zu]", s->field, i);
		if (read_check(r, obj_at(list, i), &s->success[i]) < 0)
			return -r->err->code;
	}
	return 0;
}

/* A list of its own replaces the table, an empty one too. */
static void default_failures(struct rollout_step *s, struct arena *a)
{
	size_t n;
	const struct failure_check *all = failure_checks(&n);
	s->failure = arena_memdup(a, all, n * sizeof(*all));
	s->n_failure = n;
}

int rollout_read_checks(struct rollout_step *step, const struct obj *success,
			const struct obj *failure, const struct rollout_options *options,
			struct arena *a, struct error *err)
{
	struct reader r = {step, options, a, err};
	step->failure = ARENA_ARRAY(a, struct failure_check, ROLLOUT_FAILURES_MAX);
	if (read_failure(&r, arena_fmt(a, "%s.failure", step->field), failure) < 0 ||
	    read_success(&r, success) < 0)
		return -err->code;
	if (!failure && !step->n_failure)
		default_failures(step, a);
	return 0;
}
