#include "alm/unit/check_health.h"

#include "alm/base/visible.h"
#include "alm/obj/decode.h"
#include "alm/obj/meta.h"

#define RULE(path, type, member) {path, type, offsetof(struct health_rule, member)}
static const struct decode_field rule_fields[] = {
	RULE("kind", DECODE_STR, kind),
	RULE("apiVersion", DECODE_STR, api_version),
	RULE("failed", DECODE_STR, failed_text),
	RULE("inProgress", DECODE_STR, in_progress_text),
	RULE("current", DECODE_STR, current_text),
	{0},
};

static void free_query(void *p)
{
	jsonql_free(p);
}

static int read_query(const char *field, const char *name, const char *text, struct arena *a,
		      struct jsonql **ret, struct error *err)
{
	struct error inner = ERROR_INIT;
	if (!text)
		return 0;
	if (jsonql_parse(str_of(text), ret, &inner) < 0)
		return error_set(err, E_INVALID, "%s.%s: %s", field, name, inner.msg);
	arena_defer(a, free_query, *ret);
	return 0;
}

static int read_rule(const struct obj *o, const char *field, struct arena *a,
		     struct health_rule *ret, struct error *err)
{
	if (decode_members(o, field, rule_fields, ret, a, err) < 0)
		return -err->code;
	if (!ret->kind)
		return error_set(err, E_INVALID, "%s.kind: is missing", field);
	if (!ret->current_text)
		return error_set(
			err, E_INVALID,
			"%s.current: is missing; want a JSONQL expression like status.phase"
			" = 'Ready'",
			field);
	if (read_query(field, "failed", ret->failed_text, a, &ret->failed, err) < 0 ||
	    read_query(field, "inProgress", ret->in_progress_text, a, &ret->in_progress, err) < 0)
		return -err->code;
	return read_query(field, "current", ret->current_text, a, &ret->current, err);
}

int health_parse(const struct obj *list, const char *field, struct arena *a, struct health **ret,
		 struct error *err)
{
	size_t n = obj_len(list);
	struct health *h = ARENA_NEW(a, struct health);
	if (obj_type(list) != OBJ_LIST)
		return error_set(err, E_INVALID, "%s: found %s, wanted array", field,
				 obj_type_name(obj_type(list)));
	if (n > HEALTH_RULES_MAX)
		return error_set(err, E_LIMIT, "%s: has %zu entries, at most %d are taken", field,
				 n, HEALTH_RULES_MAX);
	(void)obj_keep(a, obj_ref(list));
	*h = (struct health){ARENA_ARRAY(a, struct health_rule, n), n};
	for (size_t i = 0; i < n; i++)
		if (read_rule(obj_at(list, i), arena_fmt(a, "%s[%zu]", field, i), a, &h->rules[i],
			      err) < 0)
			return -err->code;
	*ret = h;
	return 0;
}

static const struct health_rule *rule_of(const struct health *h, const struct obj *live)
{
	for (size_t i = 0; h && i < h->n; i++)
		if (cstr_eq(h->rules[i].kind, meta_kind(live)) &&
		    (!h->rules[i].api_version ||
		     cstr_eq(h->rules[i].api_version, meta_api_version(live))))
			return &h->rules[i];
	return NULL;
}

/* "health: status.phase = 'Ready' does not hold (status.phase='Pending')" */
static const char *why(const char *text, bool holds, const struct jsonql *q, const struct obj *live,
		       struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf values = STRBUF_INIT(STRBUF_SMALL);
	if (!cstr_eq(meta_kind(live), "Secret"))
		jsonql_values(q, live, &values);
	visible_addf(&b, "health: %s %s", text, holds ? "holds" : "does not hold");
	if (values.len) {
		strbuf_adds(&b, " (");
		visible_add(&b, str_clip(strbuf_str(&values), 256));
		strbuf_addc(&b, ')');
	}
	return arena_strdup(a, b.buf);
}

enum health_state health_look(const struct health *h, const struct obj *live, int64_t now_ns,
			      struct arena *a, const char **ret_why)
{
	const struct health_rule *r = rule_of(h, live);
	*ret_why = NULL;
	if (!r)
		return HEALTH_UNKNOWN;
	int64_t generation = meta_generation(live);
	if (obj_i64(live, "status.observedGeneration", generation) < generation) {
		*ret_why = "the new generation is not observed yet";
		return HEALTH_IN_PROGRESS;
	}
	if (r->failed && jsonql_eval(r->failed, live, now_ns, NULL)) {
		*ret_why = why(r->failed_text, true, r->failed, live, a);
		return HEALTH_FAILED;
	}
	if (r->in_progress && jsonql_eval(r->in_progress, live, now_ns, NULL)) {
		*ret_why = why(r->in_progress_text, true, r->in_progress, live, a);
		return HEALTH_IN_PROGRESS;
	}
	if (jsonql_eval(r->current, live, now_ns, NULL))
		return HEALTH_CURRENT;
	*ret_why = why(r->current_text, false, r->current, live, a);
	return HEALTH_IN_PROGRESS;
}
