/* event_check: see event_check.h. Causes name the fields as the server's internal form does, whatever was written. */
#include "alm/apiserver/kinds/event_check.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/obj/meta.h"

#define MESSAGE_MAX 1024
#define WORD_MAX    128

struct event {
	struct field_errors *e;
	const struct obj *o;
	bool modern;
};

/* The member in the one form or the other. */
static const char *in_form(const struct event *v, const char *legacy, const char *modern)
{
	return v->modern ? modern : legacy;
}

static void check_word(const struct event *v, const char *field, const char *text, size_t most,
		       bool required)
{
	if (required && !*text)
		check_required(v->e, field, NULL);
	if (strlen(text) > most)
		check_invalid_text(v->e, field, "",
				   arena_fmt(v->e->arena, "can have at most %zu characters", most));
}

static void check_reporter(const struct event *v)
{
	const char *reporter = in_form(v, "reportingComponent", "reportingController");
	const char *name = check_text(v->o, reporter);
	if (!*name)
		check_required(v->e, reporter, NULL);
	check_qualified(v->e, reporter, name);
	check_word(v, "reportingInstance", check_text(v->o, "reportingInstance"), WORD_MAX, true);
	check_word(v, "action", check_text(v->o, "action"), WORD_MAX, true);
	check_word(v, "reason", check_text(v->o, "reason"), WORD_MAX, true);
	check_word(v, "message", check_text(v->o, in_form(v, "message", "note")), MESSAGE_MAX,
		   false);
}

static void check_namespace(const struct event *v, bool timed)
{
	const char *of =
		check_text(v->o, in_form(v, "involvedObject.namespace", "regarding.namespace"));
	const char *ns = meta_namespace(v->o);
	bool fits = cstr_eq(ns, "default");
	if (timed)
		fits = *of || fits || cstr_eq(ns, "kube-system");
	else if (*of)
		fits = cstr_eq(of, ns);
	if (!fits)
		check_invalid_text(v->e, "involvedObject.namespace", of,
				   "does not match event.namespace");
}

static void check_series(const struct event *v)
{
	const struct obj *series = obj_get(v->o, "series");
	if (!series)
		return;
	if (obj_i64(series, "count", 0) < 2)
		check_invalid_text(v->e, "series.count", "", "should be at least 2");
	if (check_is_empty(series, "lastObservedTime"))
		check_required(v->e, "series.lastObservedTime", NULL);
}

/* What v1 has beside it is not written. */
static void check_modern(const struct event *v)
{
	static const char *const unset[][2] = {{"firstTimestamp", "deprecatedFirstTimestamp"},
					       {"lastTimestamp", "deprecatedLastTimestamp"},
					       {"count", "deprecatedCount"},
					       {"source", "deprecatedSource"}};
	const char *type = check_text(v->o, "type");
	check_series(v);
	if (check_is_empty(v->o, "eventTime"))
		check_required(v->e, "eventTime", NULL);
	if (strcmp(type, "Normal") != 0 && strcmp(type, "Warning") != 0)
		check_invalid_text(v->e, "type", "",
				   arena_fmt(v->e->arena, "has invalid value: %s", type));
	for (size_t i = 0; i < ARRAY_LEN(unset); i++) {
		const struct obj *is = obj_get(v->o, unset[i][1]);
		int64_t n = 1;
		if (is && obj_type(is) != OBJ_NULL && !(obj_type(is) == OBJ_MAP && !obj_len(is)) &&
		    !(obj_as_i64(is, &n) && n == 0))
			check_invalid_text(v->e, unset[i][0], "", "needs to be unset");
	}
}

/* A struct of which nothing is said is as one that is missing. */
static bool same(const struct obj *a, const struct obj *b)
{
	a = obj_type(a) == OBJ_MAP && !obj_len(a) ? NULL : a;
	b = obj_type(b) == OBJ_MAP && !obj_len(b) ? NULL : b;
	return (!a && !b) || (a && b && obj_equal(a, b));
}

static void check_same(const struct event *v, const struct obj *before)
{
	static const char *const fields[][2] = {{"involvedObject", "regarding"},
						{"reason", "reason"},
						{"message", "note"},
						{"source", "deprecatedSource"},
						{"firstTimestamp", "deprecatedFirstTimestamp"},
						{"lastTimestamp", "deprecatedLastTimestamp"},
						{"count", "deprecatedCount"},
						{"reason", "reason"}, /* sic */
						{"type", "type"},
						{"eventTime", "eventTime"},
						{"action", "action"},
						{"related", "related"},
						{"reportingController", "reportingController"},
						{"reportingInstance", "reportingInstance"}};
	if (!same(obj_get(v->o, "series"), obj_get(before, "series")))
		check_series(v);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct obj *is = obj_get(v->o, fields[i][1]);
		bool is_text = is || obj_type(obj_get(before, fields[i][1])) == OBJ_STRING;
		const struct obj *was = obj_get(before, fields[i][1]);
		bool comes = strcmp(fields[i][0], "related") == 0 && !is != !was; /* a pointer */
		if (same(is, was) && !comes)
			continue;
		if (!is && is_text && !strstr(fields[i][0], "Time"))
			check_invalid_text(v->e, fields[i][0], "", "field is immutable");
		else
			check_invalid(v->e, fields[i][0], is, "field is immutable");
	}
}

void check_event(struct field_errors *e, const struct obj *o, const struct obj *before, bool modern)
{
	const struct event v = {e, o, modern};
	bool timed = !check_is_empty(o, "eventTime");
	check_namespace(&v, timed);
	if (timed)
		check_reporter(&v);
	if (modern && before)
		check_same(&v, before);
	else if (modern)
		check_modern(&v);
}
