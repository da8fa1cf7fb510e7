/* rollout: groups and steps; what tells success and failure is read by rollout_checks.c. */
#include "alm/unit/rollout.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/decode.h"
#include "alm/obj/yaml.h"
#include "alm/unit/canary.h"
#include "alm/unit/rollout_internal.h"
#include "installers/chart/glob.h"

#define KIND          "Rollout"
#define ACTION_CANARY "Canary"
#define API_ALM       "app.coreos.com/v1alpha1"
#define API_LOCUTUS   "workflow.kubernetes.io/v1alpha1"

/* To add an action: a row, its constant in rollout.h, and what rollout_next() does with it. */
/* clang-format off */
static const struct { const char *name; enum rollout_action action; } actions[] = {
	{"CreateOrUpdate",   ACTION_CREATE_OR_UPDATE},
	{"CreateIfNotExist", ACTION_CREATE_IF_NOT_EXIST},
	{"DeleteIfExist",    ACTION_DELETE_IF_EXIST},
	{"Job",              ACTION_JOB},
	{ACTION_CANARY,      ACTION_CREATE_OR_UPDATE}, /* with a canary before */
};
/* clang-format on */

struct raw_top {
	const char *api_version, *kind;
	const struct obj *metadata, *spec;
};

#define TOP(path, type, member) {path, type, offsetof(struct raw_top, member)}
static const struct decode_field top_fields[] = {
	TOP("apiVersion", DECODE_STR, api_version),
	TOP("kind", DECODE_STR, kind),
	TOP("metadata", DECODE_MAP, metadata),
	TOP("spec", DECODE_MAP, spec),
	{0},
};

struct raw_spec {
	bool parallel;
	const char *rest;
	const struct obj *groups, *rollback;
};

#define SPEC(path, type, member) {path, type, offsetof(struct raw_spec, member)}
static const struct decode_field spec_fields[] = {
	SPEC("parallel", DECODE_BOOL, parallel),
	SPEC("rest", DECODE_STR, rest),
	SPEC("groups", DECODE_LIST, groups),
	SPEC("rollback", DECODE_MAP, rollback),
	{0},
};

static const struct decode_field rollback_fields[] = {
	{"onFailure", DECODE_STR, 0},
	{0},
};

struct raw_group {
	const char *name;
	bool parallel;
	const struct obj *steps;
};

#define GROUP(path, type, member) {path, type, offsetof(struct raw_group, member)}
static const struct decode_field group_fields[] = {
	GROUP("name", DECODE_TEXT, name),
	GROUP("parallel", DECODE_BOOL, parallel),
	GROUP("steps", DECODE_LIST, steps),
	{0},
};

struct raw_step {
	struct rollout_step step;
	const struct obj *success, *failure, *canary;
	int64_t timeout_ns; /* 0: it does not say */
};

#define STEP(path, type, member) {path, type, offsetof(struct raw_step, member)}
static const struct decode_field step_fields[] = {
	STEP("name", DECODE_TEXT, step.name),
	STEP("object", DECODE_STR, step.object),
	STEP("action", DECODE_STR, step.action_name),
	STEP("success", DECODE_LIST, success),
	STEP("failure", DECODE_LIST, failure),
	STEP("canary", DECODE_ANY, canary),
	STEP("config", DECODE_ANY, step.config),
	STEP("timeout", DECODE_SPAN, timeout_ns),
	STEP("continueOnError", DECODE_BOOL, step.continue_on_error),
	{0},
};

struct reader {
	struct arena *a;
	const struct rollout_options *options;
	struct error *err;
};

static int too_many(struct reader *r, const char *field, size_t n, size_t max)
{
	return error_set(r->err, E_LIMIT, "%s: has %zu entries, at most %zu are taken", field, n,
			 max);
}

void rollout_actions(struct strbuf *b)
{
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		strbuf_addf(b, "%s%s", i ? ", " : "", actions[i].name);
}

static int unknown_action(struct reader *r, const struct rollout_step *s)
{
	CLEANUP(strbuf_release) struct strbuf known = STRBUF_INIT(STRBUF_SMALL);
	rollout_actions(&known);
	for (const char *const *p = r->options->plugins; p && *p; p++)
		strbuf_addf(&known, ", %s", *p);
	if (!s->action_name)
		return error_set(r->err, E_INVALID, "%s.action: is missing; known are %s", s->field,
				 known.buf);
	return error_set(r->err, E_INVALID,
			 "%s.action: \"%.64s\" is unknown; known are %s, and NAME for a program"
			 " action-NAME in $ALM_PLUGIN_DIR",
			 s->field, s->action_name, known.buf);
}

static int read_action(struct reader *r, struct rollout_step *s)
{
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (cstr_eq(s->action_name, actions[i].name)) {
			s->action = actions[i].action;
			return 0;
		}
	s->action = ACTION_PLUGIN;
	if (s->action_name &&
	    (r->options->any_plugin ||
	     (r->options->plugins && cstr_in(s->action_name, r->options->plugins))))
		return 0;
	return unknown_action(r, s);
}

/* A pattern that is none is known now, not when it meets a key. */
static int read_object(struct reader *r, struct rollout_step *s)
{
	bool matches;
	if (!s->object || !*s->object)
		return error_set(r->err, E_INVALID,
				 "%s.object: is missing; name an object by its key, or several by"
				 " a pattern like crds/*",
				 s->field);
	if (strlen(s->object) > ROLLOUT_OBJECT_MAX)
		return error_set(r->err, E_LIMIT, "%s.object: is longer than %d bytes", s->field,
				 ROLLOUT_OBJECT_MAX);
	if (glob_match(str_of(s->object), STR(""), &matches) < 0)
		return error_set(r->err, E_INVALID,
				 "%s.object: \"%.64s\" is no pattern; \\[ is the character [",
				 s->field, s->object);
	return 0;
}

static int read_canary(struct reader *r, struct rollout_step *s, const struct obj *canary)
{
	bool wanted = !strcmp(s->action_name, ACTION_CANARY);
	const char *field = arena_fmt(r->a, "%s.canary", s->field);
	if (wanted != (canary != NULL))
		return error_set(r->err, E_INVALID,
				 wanted ? "%s: is missing; want {steps: [{weight: 25, pause: 5m}]}"
					: "%s: only the action " ACTION_CANARY " has one",
				 field);
	if (!canary)
		return 0;
	if (r->options->no_canary)
		return error_set(
			r->err, E_INVALID,
			"%s: the objects of an AppType are rolled out without a canary; use "
			"the action CreateOrUpdate",
			field);
	return canary_parse(canary, field, r->a, &s->canary, r->err);
}

/* Ten minutes for each of its steps and the last apply, beside what they wait and measure. */
static int fit_canary(struct reader *r, struct rollout_step *s, int64_t timeout_ns)
{
	int64_t figures = 0, steps = (int64_t)s->canary->n + 1;
	for (size_t i = 0; i < s->n_success; i++)
		if (s->success[i].type == CHECK_PROMETHEUS &&
		    prometheus_span_ns(s->success[i].prometheus) > figures)
			figures = prometheus_span_ns(s->success[i].prometheus);
	int64_t least = s->canary->pause_ns + clock_ns(steps, figures);
	int64_t all = least + clock_ns(steps, ROLLOUT_STEP_TIMEOUT);
	char text[CLOCK_TEXT_MAX];
	duration_format(least, text);
	s->timeout_ns = timeout_ns                 ? timeout_ns
			: all < ROLLOUT_NO_TIMEOUT ? all
						   : ROLLOUT_NO_TIMEOUT;
	if (least >= s->timeout_ns)
		return error_set(r->err, E_INVALID,
				 "%s.timeout: pauses and figures of the canary take at least %s",
				 s->field, text);
	return 0;
}

static int read_step(struct reader *r, const struct obj *o, const char *field,
		     struct rollout_step *ret)
{
	struct raw_step raw = {.step = {.field = field}};
	if (decode_members(o, field, step_fields, &raw, r->a, r->err) < 0)
		return -r->err->code;
	*ret = raw.step;
	ret->timeout_ns = raw.timeout_ns ? raw.timeout_ns : ROLLOUT_STEP_TIMEOUT;
	if (read_action(r, ret) < 0 || read_object(r, ret) < 0 ||
	    read_canary(r, ret, raw.canary) < 0)
		return -r->err->code;
	if (!ret->name || !*ret->name)
		ret->name = ret->object;
	/* a stored one was taken as it is */
	if (ret->config && ret->action != ACTION_PLUGIN && !r->options->any_plugin)
		return error_set(r->err, E_INVALID,
				 "%s.config: %s reads none; only the action of a plugin does",
				 field, ret->action_name);
	if (rollout_read_checks(ret, raw.success, raw.failure, r->options, r->a, r->err) < 0)
		return -r->err->code;
	return ret->canary ? fit_canary(r, ret, raw.timeout_ns) : 0;
}

static int read_group(struct reader *r, const struct obj *o, size_t i, struct rollout_group *ret)
{
	struct raw_group raw = {0};
	const char *field = arena_fmt(r->a, "spec.groups[%zu]", i);
	if (decode_members(o, field, group_fields, &raw, r->a, r->err) < 0)
		return -r->err->code;
	size_t n = obj_len(raw.steps);
	if (!n)
		return error_set(r->err, E_INVALID, "%s.steps: has no step", field);
	if (n > ROLLOUT_STEPS_MAX)
		return too_many(r, arena_fmt(r->a, "%s.steps", field), n, ROLLOUT_STEPS_MAX);
	bool named = raw.name && *raw.name;
	*ret = (struct rollout_group){named ? raw.name : arena_fmt(r->a, "group-%zu", i + 1),
				      raw.parallel, ARENA_ARRAY(r->a, struct rollout_step, n), n};
	for (size_t s = 0; s < n; s++)
		if (read_step(r, obj_at(raw.steps, s), arena_fmt(r->a, "%s.steps[%zu]", field, s),
			      &ret->steps[s]) < 0)
			return -r->err->code;
	return 0;
}

/* word: what is written, NULL for nothing; *ret_i stays as it is then. */
static int read_word(struct reader *r, const char *field, const char *word,
		     const char *const *words, size_t *ret_i)
{
	if (!word)
		return 0;
	for (size_t i = 0; words[i]; i++)
		if (!strcmp(words[i], word)) {
			*ret_i = i;
			return 0;
		}
	CLEANUP(strbuf_release) struct strbuf known = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; words[i]; i++)
		strbuf_addf(&known, "%s%s", i ? ", " : "", words[i]);
	return error_set(r->err, E_INVALID, "%s: \"%.64s\" is none of %s", field, word, known.buf);
}

static int read_spec(struct reader *r, const struct obj *o, bool locutus, struct rollout *ret)
{
	static const char *const rests[] = {"Before", "After", "Ignore", NULL};
	static const char *const rollbacks[] = {"Previous", "None", NULL};
	struct raw_spec raw = {0};
	const char *on_failure = NULL;
	size_t rest = locutus ? REST_IGNORE : REST_BEFORE;
	size_t rollback = locutus ? ROLLBACK_NONE : ROLLBACK_PREVIOUS;
	if (decode_members(o, "spec", spec_fields, &raw, r->a, r->err) < 0)
		return -r->err->code;
	if (raw.rollback && decode_members(raw.rollback, "spec.rollback", rollback_fields,
					   &on_failure, r->a, r->err) < 0)
		return -r->err->code;
	if (read_word(r, "spec.rest", raw.rest, rests, &rest) < 0 ||
	    read_word(r, "spec.rollback.onFailure", on_failure, rollbacks, &rollback) < 0)
		return -r->err->code;
	ret->parallel = raw.parallel;
	ret->rest = (enum rollout_rest)rest;
	ret->rollback = (enum rollout_rollback)rollback;
	ret->n = obj_len(raw.groups);
	if (!ret->n)
		return error_set(r->err, E_INVALID, "spec.groups: has no group");
	if (ret->n > ROLLOUT_GROUPS_MAX)
		return too_many(r, "spec.groups", ret->n, ROLLOUT_GROUPS_MAX);
	ret->groups = ARENA_ARRAY(r->a, struct rollout_group, ret->n);
	for (size_t i = 0; i < ret->n; i++)
		if (read_group(r, obj_at(raw.groups, i), i, &ret->groups[i]) < 0)
			return -r->err->code;
	return 0;
}

static int read_top(struct reader *r, const struct obj *o, struct rollout *ret)
{
	struct raw_top top = {0};
	if (obj_type(o) != OBJ_MAP)
		return error_set(r->err, E_INVALID, "found %s, wanted a %s of %s",
				 obj_type_name(obj_type(o)), KIND, API_ALM);
	if (decode_fields(o, top_fields, &top, r->a, r->err) < 0)
		return -r->err->code;
	if (!cstr_eq(top.kind, KIND))
		return error_set(r->err, E_INVALID, "kind: found \"%.64s\", wanted " KIND,
				 top.kind ? top.kind : "");
	bool locutus = cstr_eq(top.api_version, API_LOCUTUS);
	if (!locutus && !cstr_eq(top.api_version, API_ALM))
		return error_set(r->err, E_INVALID,
				 "apiVersion: found \"%.64s\", wanted " API_ALM " or " API_LOCUTUS,
				 top.api_version ? top.api_version : "");
	if (!top.spec)
		return error_set(r->err, E_INVALID, "spec: is missing; it has groups of steps");
	const char *name = obj_str(top.metadata, "name");
	ret->name = name ? name : "";
	return read_spec(r, top.spec, locutus, ret);
}

static int named(const struct rollout_options *options, struct error *err)
{
	return options->file ? error_wrap(err, "%s", options->file) : -err->code;
}

int rollout_parse(const struct obj *o, const struct rollout_options *options, struct arena *a,
		  struct rollout **ret, struct error *err)
{
	struct reader r = {a, options, err};
	struct rollout *rollout = ARENA_NEW(a, struct rollout);
	rollout->file = options->file ? arena_strdup(a, options->file) : NULL;
	if (read_top(&r, obj_keep(a, obj_ref(o)), rollout) < 0)
		return named(options, err);
	*ret = rollout;
	return 0;
}

int rollout_read(struct str text, const struct rollout_options *options, struct arena *a,
		 struct rollout **ret, struct error *err)
{
	struct obj *o = NULL;
	if (text.len > ROLLOUT_BYTES_MAX) {
		error_set(err, E_LIMIT, "has %zu bytes, a rollout at most %zu", text.len,
			  ROLLOUT_BYTES_MAX);
		return named(options, err);
	}
	if (yaml_parse_one_max(text, ROLLOUT_NODES_MAX, &o, err) < 0)
		return named(options, err);
	return rollout_parse(obj_keep(a, o), options, a, ret, err);
}

bool rollout_step_takes(const struct rollout_step *s, const char *key)
{
	bool matches = false;
	size_t n = strlen(s->object);
	if (!strncmp(key, s->object, n) && (!key[n] || key[n] == '!'))
		return true;
	return glob_match(str_of(s->object), str_of(key), &matches) >= 0 && matches;
}
