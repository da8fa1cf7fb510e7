#include "alm/unit/check_prometheus.h"

#include <math.h>
#include <string.h>

#include "alm/base/visible.h"
#include "alm/obj/decode.h"
#include "alm/obj/json.h"
#include "alm/obj/json_foreign.h"
#include "catalog/weburl.h"

#define SERVICE          "service://"
#define VALUE_TEXT_MAX   160 /* bytes that are told of a sample, or of what went wrong */
#define QUERY_TEXT_MAX   120
#define CONDITION_MAX    200
#define TEXT_MAX         700 /* of one check in a message */
#define NUMBER_TEXT_MAX  64
#define INFINITE         1.7976931348623157e308 /* compares as infinity does with what is finite */
#define INTERVAL_DEFAULT (10 * NS_PER_S)
#define COUNT_DEFAULT    3
#define SUCCESS          "success"
#define FAILURE          "failure"
#define INCONCLUSIVE     "inconclusive"
#define NO_DATA          "no data"

/* --- what is asked --- */

struct raw {
	const char *address, *query, *success, *failure, *no_data;
	const struct obj *count, *failure_limit, *secret;
	int64_t interval_ns;
	bool dry_run, insecure;
};

#define RAW(path, type, member) {path, type, offsetof(struct raw, member)}
static const struct decode_field fields[] = {
	RAW("address", DECODE_STR, address),
	RAW("query", DECODE_STR, query),
	RAW("successCondition", DECODE_STR, success),
	RAW("failureCondition", DECODE_STR, failure),
	RAW("interval", DECODE_SPAN, interval_ns),
	RAW("count", DECODE_ANY, count),
	RAW("failureLimit", DECODE_ANY, failure_limit),
	RAW("noData", DECODE_STR, no_data),
	RAW("dryRun", DECODE_BOOL, dry_run),
	RAW("insecure", DECODE_BOOL, insecure),
	RAW("tokenSecretRef", DECODE_MAP, secret),
	{0},
};

static const struct decode_field secret_fields[] = {
	{"name", DECODE_STR, 0},
	{0},
};

struct reader {
	const char *field;
	struct arena *a;
	struct error *err;
};

static void free_query(void *p)
{
	jsonql_free(p);
}

static int wrong(struct reader *r, const char *member, const char *what)
{
	return error_set(r->err, E_INVALID, "%s.%s: %s", r->field, member, what);
}

static bool is_label(struct str s)
{
	bool ok = s.len > 0 && s.len <= 63;
	for (size_t i = 0; i < s.len && ok; i++)
		ok = char_is_digit(s.ptr[i]) || (s.ptr[i] >= 'a' && s.ptr[i] <= 'z') ||
		     (s.ptr[i] == '-' && i && i + 1 < s.len);
	return ok;
}

/* "NS/NAME:PORT"; the port a number or a name. */
static int read_service(struct reader *r, struct str rest, struct prometheus *ret)
{
	struct str ns, name, port;
	if (!str_cut(rest, '/', &ns, &rest) || !str_cut(rest, ':', &name, &port) || !is_label(ns) ||
	    !is_label(name) || !is_label(port))
		return wrong(r, "address",
			     "want service://NAMESPACE/NAME:PORT, the port a number or a name");
	ret->ns = arena_strndup(r->a, ns.ptr, ns.len);
	ret->service = arena_strndup(r->a, rest.ptr, rest.len);
	return 0;
}

static int read_url(struct reader *r, struct str text, bool insecure)
{
	struct error inner = ERROR_INIT;
	struct weburl url;
	bool plain = str_has_prefix(text, STR("http://"));
	struct str as = plain ? str_of(arena_fmt(r->a, "https://%.*s",
						 STR_ARG(str_skip(text, strlen("http://")))))
			      : text;
	if (!plain && !str_has_prefix(text, STR("https://")))
		return wrong(r, "address",
			     "want service://NAMESPACE/NAME:PORT or https://HOST[:PORT][/PATH]");
	if (weburl_parse(as, "https", r->a, &url, &inner) < 0)
		return wrong(r, "address", inner.msg);
	if (url.query)
		return wrong(r, "address", "has a query; the query field has it");
	if (plain && !insecure)
		return wrong(r, "address",
			     "http:// is readable and changeable on its way; use https://, or say "
			     "insecure: true");
	return 0;
}

static int read_address(struct reader *r, const struct raw *raw, struct prometheus *ret)
{
	struct str s = str_of(raw->address);
	if (!s.len)
		return wrong(r, "address",
			     "is missing; want service://NAMESPACE/NAME:PORT or https://HOST");
	if (s.len > PROMETHEUS_ADDRESS_MAX)
		return wrong(r, "address", "is longer than 1024 bytes");
	while (s.len && s.ptr[s.len - 1] == '/')
		s.len--;
	ret->address = arena_strndup(r->a, s.ptr, s.len);
	if (str_has_prefix(s, STR(SERVICE))) {
		if (raw->secret)
			return wrong(r, "tokenSecretRef",
				     "the API server passes no token on; only https:// has one");
		return read_service(r, str_skip(s, strlen(SERVICE)), ret);
	}
	if (raw->secret && !str_has_prefix(s, STR("https://")))
		return wrong(r, "tokenSecretRef", "a token is sent over https:// only");
	return read_url(r, s, raw->insecure);
}

static int read_condition(struct reader *r, const char *member, const char *text,
			  struct jsonql **ret)
{
	struct error inner = ERROR_INIT;
	if (!text)
		return 0;
	if (jsonql_parse(str_of(text), ret, &inner) < 0)
		return wrong(r, member, inner.msg);
	arena_defer(r->a, free_query, *ret);
	return 0;
}

static int read_count(struct reader *r, const char *member, const struct obj *o, int64_t min,
		      int64_t *ret)
{
	if (!o)
		return 0;
	if (!obj_is_number(o) || !obj_as_i64(o, ret) || *ret < min || *ret > PROMETHEUS_COUNT_MAX)
		return error_set(r->err, E_INVALID, "%s.%s: want a whole number from %d to %d",
				 r->field, member, (int)min, PROMETHEUS_COUNT_MAX);
	return 0;
}

static int read_no_data(struct reader *r, const char *text, struct prometheus *ret)
{
	static const char *const words[] = {
		[NO_DATA_HOLD] = "Hold", [NO_DATA_FAIL] = "Fail", [NO_DATA_PASS] = "Pass"};
	for (size_t i = 0; text && i < ARRAY_LEN(words); i++)
		if (!strcmp(text, words[i])) {
			ret->no_data = (enum prometheus_no_data)i;
			return 0;
		}
	return text ? wrong(r, "noData", "want one of Hold, Fail and Pass") : 0;
}

static int read_rest(struct reader *r, const struct raw *raw, struct prometheus *ret)
{
	if (!ret->query || !*ret->query)
		return wrong(r, "query", "is missing; want an expression of PromQL");
	if (strlen(ret->query) > PROMETHEUS_QUERY_MAX)
		return wrong(r, "query", "is longer than 4096 bytes");
	if (!raw->success && !raw->failure)
		return wrong(r, "successCondition",
			     "is missing, as is failureCondition; want JSONQL like result < 0.01");
	if (raw->interval_ns < PROMETHEUS_INTERVAL_MIN)
		return wrong(r, "interval", "want at least 1s");
	if (raw->secret &&
	    (decode_members(raw->secret, arena_fmt(r->a, "%s.tokenSecretRef", r->field),
			    secret_fields, &ret->secret, r->a, r->err) < 0))
		return -r->err->code;
	if (raw->secret && (!ret->secret || !*ret->secret))
		return wrong(r, "tokenSecretRef.name", "is missing");
	if (read_condition(r, "successCondition", raw->success, &ret->success) < 0 ||
	    read_condition(r, "failureCondition", raw->failure, &ret->failure) < 0 ||
	    read_count(r, "count", raw->count, 1, &ret->count) < 0 ||
	    read_count(r, "failureLimit", raw->failure_limit, 0, &ret->failure_limit) < 0)
		return -r->err->code;
	return read_no_data(r, raw->no_data, ret);
}

int prometheus_parse(const struct obj *o, const char *field, struct arena *a,
		     struct prometheus **ret, struct error *err)
{
	struct reader r = {field, a, err};
	struct raw raw = {.interval_ns = INTERVAL_DEFAULT};
	struct prometheus *p = ARENA_NEW(a, struct prometheus);
	if (decode_members(o, field, fields, &raw, a, err) < 0)
		return -err->code;
	*p = (struct prometheus){.query = raw.query,
				 .success_text = raw.success,
				 .failure_text = raw.failure,
				 .interval_ns = raw.interval_ns,
				 .count = COUNT_DEFAULT,
				 .dry_run = raw.dry_run};
	if (read_address(&r, &raw, p) < 0 || read_rest(&r, &raw, p) < 0)
		return -err->code;
	*ret = p;
	return 0;
}

int64_t prometheus_span_ns(const struct prometheus *p)
{
	return clock_ns(p->count - 1, p->interval_ns);
}

/* --- an answer --- */

static void no_answer(struct prometheus_sample *ret, const char *why)
{
	*ret = (struct prometheus_sample){.text = why, .failed = true};
}

/* Prometheus writes numbers as strings: "0.5", "1e+06", "NaN", "+Inf". */
static bool read_number(struct str s, double *ret)
{
	if (str_is(s, "NaN")) {
		*ret = (double)NAN;
		return true;
	}
	if (str_is(s, "+Inf") || str_is(s, "Inf") || str_is(s, "-Inf")) {
		*ret = s.ptr[0] == '-' ? -INFINITE : INFINITE;
		return true;
	}
	return s.len && s.len <= NUMBER_TEXT_MAX && str_parse_double(s, ret) && isfinite(*ret);
}

/* [time, "number"] */
static bool read_value(const struct obj *pair, double *ret)
{
	return obj_type(pair) == OBJ_LIST && obj_len(pair) == 2 && obj_is_number(obj_at(pair, 0)) &&
	       read_number(obj_as_str(obj_at(pair, 1)), ret);
}

static const char *text_of(const struct obj *o, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	json_print(o, &b);
	struct str s = str_clip(strbuf_str(&b), VALUE_TEXT_MAX);
	return arena_fmt(a, "%.*s%s", STR_ARG(s), b.len > VALUE_TEXT_MAX ? "..." : "");
}

/* n numbers; one of them that is none is no data. */
static void take_numbers(const double *numbers, size_t n, struct arena *a,
			 struct prometheus_sample *ret)
{
	struct obj *list = obj_keep(a, obj_list());
	for (size_t i = 0; i < n; i++) {
		if (isnan(numbers[i])) {
			*ret = (struct prometheus_sample){.text = "NaN"};
			return;
		}
		obj_append(list, obj_double(numbers[i]));
	}
	const struct obj *result = n == 1 ? obj_at(list, 0) : list;
	*ret = (struct prometheus_sample){.result = n ? result : NULL,
					  .text = n ? text_of(result, a) : "no series"};
}

static void read_vector(const struct obj *series, struct arena *a, struct prometheus_sample *ret)
{
	double numbers[PROMETHEUS_SERIES_MAX];
	size_t n = obj_len(series);
	if (obj_type(series) != OBJ_LIST) {
		no_answer(ret, "the answer has no list data.result");
		return;
	}
	if (n > PROMETHEUS_SERIES_MAX) {
		no_answer(ret, arena_fmt(a, "the query gives %zu series, at most %d are taken", n,
					 PROMETHEUS_SERIES_MAX));
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (!read_value(obj_get(obj_at(series, i), "value"), &numbers[i])) {
			no_answer(ret, arena_fmt(a, "series %zu of the answer has no number", i));
			return;
		}
	take_numbers(numbers, n, a, ret);
}

static void read_data(const struct obj *data, struct arena *a, struct prometheus_sample *ret)
{
	const char *type = obj_str(data, "resultType");
	double number;
	if (cstr_eq(type, "vector")) {
		read_vector(obj_get(data, "result"), a, ret);
	} else if (cstr_eq(type, "scalar")) {
		if (read_value(obj_get(data, "result"), &number))
			take_numbers(&number, 1, a, ret);
		else
			no_answer(ret, "the scalar of the answer is no number");
	} else {
		no_answer(ret, arena_fmt(a, "the query gives a %.32s, want numbers of one time",
					 type ? visible_text(a, type) : "result without a type"));
	}
}

void prometheus_read(struct str body, struct arena *a, struct prometheus_sample *ret)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	if (body.len > PROMETHEUS_ANSWER_MAX) {
		no_answer(ret, "the answer is longer than 1 MiB");
		return;
	}
	if (json_foreign_parse(body, &o, &err) < 0) {
		no_answer(ret, "the answer is no JSON of Prometheus");
		return;
	}
	obj_keep(a, o);
	if (cstr_eq(obj_str(o, "status"), "success")) {
		read_data(obj_get(o, "data"), a, ret);
		return;
	}
	const char *said = obj_str(o, "error");
	no_answer(ret,
		  said ? arena_fmt(a, "%.*s",
				   STR_ARG(str_clip(str_of(visible_text(a, said)), VALUE_TEXT_MAX)))
		       : "the answer is not one of Prometheus: its status is not success");
}

/* --- what it means --- */

static const char *judge(const struct prometheus *p, const struct prometheus_sample *s,
			 int64_t now_ns)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	obj_set(o, "result", obj_ref(s->result));
	if (p->failure && jsonql_eval(p->failure, o, now_ns, NULL))
		return FAILURE;
	if (!p->success || jsonql_eval(p->success, o, now_ns, NULL))
		return SUCCESS;
	return p->failure ? INCONCLUSIVE : FAILURE;
}

/* Without data; NULL: it counts as no sample. */
static const char *judge_no_data(const struct prometheus *p)
{
	if (p->dry_run)
		return NO_DATA;
	return p->no_data == NO_DATA_FAIL ? FAILURE : p->no_data == NO_DATA_PASS ? SUCCESS : NULL;
}

static int64_t held_ns(const struct obj *state, int64_t now_ns)
{
	int64_t asked = obj_i64(state, "nextNs", now_ns) + PROMETHEUS_UNASKED_NS;
	int64_t until = now_ns < asked ? now_ns : asked;
	int64_t since = obj_i64(state, "heldSinceNs", until), held = obj_i64(state, "heldNs", 0);
	return held + (until > since ? until - since : 0);
}

static void end_hold(struct obj *state, int64_t now_ns)
{
	if (!obj_has(state, "heldSinceNs"))
		return;
	obj_set_int(state, "heldNs", held_ns(state, now_ns));
	obj_del(state, "heldSinceNs");
}

static void add_value(struct obj *state, const char *text)
{
	struct obj *all = obj_list();
	const struct obj *old = obj_get(state, "values");
	size_t n = obj_len(old);
	for (size_t i = n >= PROMETHEUS_VALUES_TOLD ? n - PROMETHEUS_VALUES_TOLD + 1 : 0; i < n;
	     i++)
		obj_append(all, obj_ref(obj_at(old, i)));
	obj_append(all, obj_stringn(str_clip(str_of(text), VALUE_TEXT_MAX)));
	obj_set(state, "values", all);
}

void prometheus_take(const struct prometheus *p, const struct prometheus_sample *sample,
		     int64_t now_ns, struct obj *state)
{
	int64_t errors = sample->failed ? obj_i64(state, "errors", 0) + 1 : 0;
	const char *verdict = sample->result ? judge(p, sample, now_ns) : judge_no_data(p);
	obj_set_int(state, "errors", errors);
	if (sample->result)
		obj_del(state, "why");
	else
		obj_set(state, "why", obj_stringn(str_clip(str_of(sample->text), VALUE_TEXT_MAX)));
	if (sample->failed && errors < PROMETHEUS_ERRORS && !p->dry_run)
		return; /* asked again */
	if (!verdict) {
		obj_set_str(state, "last", NO_DATA);
		if (!obj_has(state, "heldSinceNs"))
			obj_set_int(state, "heldSinceNs", now_ns);
		return;
	}
	end_hold(state, now_ns);
	obj_set_str(state, "last", verdict);
	obj_set_int(state, "taken", obj_i64(state, "taken", 0) + 1);
	if (cstr_eq(verdict, FAILURE))
		obj_set_int(state, "failed", obj_i64(state, "failed", 0) + 1);
	add_value(state, sample->result ? sample->text : NO_DATA);
}

int64_t prometheus_all_held_ns(const struct obj *metrics, int64_t now_ns)
{
	int64_t held = 0;
	OBJ_EACH (it, metrics) {
		int64_t one = held_ns(it.value, now_ns);
		held = one > held ? one : held;
	}
	return held;
}

static const char *tell(const struct prometheus *p, const struct obj *state, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	int64_t failed = obj_i64(state, "failed", 0);
	const struct obj *values = obj_get(state, "values");
	const char *why = obj_str(state, "why"), *text = p->success_text;
	strbuf_adds(&b, "query ");
	visible_add(&b, str_clip(str_of(p->query), QUERY_TEXT_MAX));
	strbuf_addf(&b, ": %lld of %lld samples", (long long)obj_i64(state, "taken", 0),
		    (long long)p->count);
	if (failed)
		strbuf_addf(&b, ", %lld failed (%lld may)", (long long)failed,
			    (long long)p->failure_limit);
	for (size_t i = 0; i < obj_len(values) && b.len < TEXT_MAX; i++)
		strbuf_addf(&b, "%s%s", i ? ", " : ", measured ", obj_as_string(obj_at(values, i)));
	strbuf_adds(&b, text ? "; wanted " : "; failed by ");
	visible_add(&b, str_clip(str_of(text ? text : p->failure_text), CONDITION_MAX));
	if (why)
		visible_addf(&b, "; now: %s", why);
	if (p->dry_run)
		strbuf_adds(&b, "; dryRun: it decides nothing");
	return arena_strdup(a, b.buf);
}

enum prometheus_end prometheus_look(const struct prometheus *p, const struct obj *state,
				    struct arena *a, const char **ret_text)
{
	bool enough = obj_i64(state, "taken", 0) >= p->count;
	*ret_text = tell(p, state, a);
	if (p->dry_run)
		return enough ? PROMETHEUS_PASSED : PROMETHEUS_GOES_ON;
	if (obj_i64(state, "failed", 0) > p->failure_limit)
		return PROMETHEUS_FAILED;
	if (obj_has(state, "heldSinceNs")) {
		*ret_text = arena_fmt(a, "AnalysisHeld: no data: %s", *ret_text);
		return PROMETHEUS_HELD;
	}
	return enough && cstr_eq(obj_str(state, "last"), SUCCESS) ? PROMETHEUS_PASSED
								  : PROMETHEUS_GOES_ON;
}
