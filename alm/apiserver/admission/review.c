/* review: see review.h. */
#include "alm/apiserver/admission/review.h"

#include "alm/base/hash.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define GROUP           "admission.k8s.io"
#define PATCH_BYTES_MAX REVIEW_BYTES_MAX

/* --- what is sent --- */

static void add(struct strbuf *b, const char *key, const struct obj *o)
{
	strbuf_addf(b, ",\"%s\":", key);
	if (o)
		json_print(o, b);
	else
		strbuf_adds(b, "null");
}

void review_print_request(const struct review *r, struct strbuf *b)
{
	OBJ_EACH (it, r->request)
		add(b, it.key, it.value);
	add(b, "object", r->object);
	add(b, "oldObject", r->old);
}

void review_print(const char *version, const char *uid, struct str request, struct strbuf *b)
{
	strbuf_addf(b,
		    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"" GROUP
		    "/%s\",\"request\":{\"uid\":\"%s\"",
		    version, uid);
	strbuf_addstr(b, request);
	strbuf_adds(b, "}}");
}

/* --- what is answered --- */

const char *review_http_fault(int status, struct arena *a)
{
	static const struct {
		int status;
		const char *text;
	} words[] = {
		{400, "the server rejected our request for an unknown reason"},
		{401, "the server has asked for the client to provide credentials"},
		{403, "unknown"},
		{404, "the server could not find the requested resource"},
		{405, "the server does not allow this method on the requested resource"},
		{406, "the server was unable to respond with a content type that the client "
		      "supports"},
		{413, "the request is too large"},
		{415, "the media type is not supported"},
		{422, "the server rejected our request due to an error in our request"},
		{429, "the server has received too many requests and has asked us to try again "
		      "later"},
		{503, "the server is currently unable to handle the request"},
		{504, "the server was unable to return a response in the time allotted, but may "
		      "still be processing the request"},
	};
	if (status >= 200 && status <= 206)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (words[i].status == status)
			return words[i].text;
	if (status >= 500)
		return "an error on the server (\"unknown\") has prevented the request from "
		       "succeeding";
	return arena_fmt(a,
			 "the server responded with the status code %d but did not return more "
			 "information",
			 status);
}

static int invalid(struct error *err, const char *why)
{
	return error_set(err, E_INVALID, "received invalid webhook response: %s", why);
}

static int failed(struct error *err, const char *why)
{
	return error_set(err, E_INVALID, "failed to call webhook: %s", why);
}

/* A body without apiVersion or kind is taken for a review, and told that it says so not. */
const char *review_kind_fault(const struct obj *o, const char *group, const char *version,
			      const char *want, struct arena *a, bool *ret_bare)
{
	const char *g = "", *v = "", *kind = meta_kind(o), *api = meta_api_version(o);
	*ret_bare = !api || !*api || !kind || !*kind;
	if (api)
		gvk_split_api_version(api, a, &g, &v);
	if (cstr_eq(g, group) && cstr_eq(v, version) && cstr_eq(kind, want))
		return NULL;
	if (*ret_bare)
		return arena_fmt(a,
				 "expected webhook response of %s/%s, Kind=%s, got %s/%s, Kind=%s",
				 group, version, want, g, v, kind ? kind : "");
	if (cstr_eq(g, group) && cstr_eq(kind, want))
		return arena_fmt(a, "converting (%s.%s) to (%s.%s): unknown conversion", v, want,
				 version, want);
	return arena_fmt(a,
			 "no kind \"%s\" is registered for version \"%s\" in scheme "
			 "\"pkg/runtime/scheme.go:111\"",
			 kind, api);
}

static int check_kind(const struct obj *o, const char *version, struct arena *a, struct error *err)
{
	bool bare;
	const char *fault = review_kind_fault(o, GROUP, version, "AdmissionReview", a, &bare);
	if (!fault || (bare && cstr_eq(version, "v1beta1"))) /* as the first webhooks answered */
		return 0;
	return bare ? invalid(err, fault) : failed(err, fault);
}

const char *review_go_name(enum obj_type type)
{
	return type == OBJ_INT ? "number" : type == OBJ_BOOL ? "bool" : obj_type_name(type);
}

/* Of the first byte that is no base64. */
static size_t base64_fault(struct str s)
{
	size_t i = 0;
	while (i < s.len && (char_is_alnum(s.ptr[i]) || s.ptr[i] == '+' || s.ptr[i] == '/'))
		i++;
	return i;
}

static int read_patch(const struct obj *response, struct arena *a, struct review_answer *ret,
		      struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PATCH_BYTES_MAX);
	struct error inner = ERROR_INIT;
	struct obj *o = NULL;
	struct str text = obj_as_str(obj_get(response, "patch"));
	const char *type = obj_str(response, "patchType");
	if (!base64_decode(text, &b))
		return failed(err, arena_fmt(a, "illegal base64 data at input byte %zu",
					     base64_fault(text)));
	if (json_parse(strbuf_str(&b), &o, &inner) < 0)
		return error_set(err, E_INVALID,
				 "received undecodable patch in webhook response: %s", inner.msg);
	obj_keep(a, o);
	if (obj_type(o) != OBJ_LIST)
		return error_set(err, E_INVALID,
				 "received undecodable patch in webhook response: json: cannot "
				 "unmarshal %s into Go value of type jsonpatch.Patch",
				 review_go_name(obj_type(o)));
	if (obj_len(o) && type && !cstr_eq(type, "JSONPatch"))
		return error_set(err, E_INVALID, "unsupported patch type \"%s\"", type);
	ret->patch = obj_len(o) ? o : NULL;
	return 0;
}

/* patch and patchType come together, in v1beta1 the type may be left out; of a validating webhook
 * neither. */
static int check_patch(const struct obj *response, const char *version, bool mutating,
		       struct error *err)
{
	bool has = obj_as_str(obj_get(response, "patch")).len > 0;
	bool typed = obj_is_set(obj_get(response, "patchType"));
	if (cstr_eq(version, "v1beta1"))
		return 0;
	if (!mutating && has)
		return invalid(err, "validating webhook may not return response.patch");
	if (!mutating && typed)
		return invalid(err, "validating webhook may not return response.patchType");
	if (has && !typed)
		return invalid(err, "webhook returned response.patch but not response.patchType");
	if (!has && typed)
		return invalid(err, "webhook returned response.patchType but not response.patch");
	return 0;
}

/* Another type than it has in Go. */
static int check_types(const struct obj *response, struct error *err)
{
	static const struct {
		const char *key;
		enum obj_type type;
		const char *go;
	} members[] = {
		{"uid", OBJ_STRING, "types.UID"},
		{"allowed", OBJ_BOOL, "bool"},
		{"status", OBJ_MAP, "v1.Status"},
		{"patch", OBJ_STRING, "[]uint8"},
		{"patchType", OBJ_STRING, "v1.PatchType"},
		{"auditAnnotations", OBJ_MAP, "map[string]string"},
		{"warnings", OBJ_LIST, "[]string"},
	};
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		enum obj_type is = obj_type(obj_get(response, members[i].key));
		if (is > OBJ_NULL && is != members[i].type)
			return error_set(
				err, E_INVALID,
				"failed to call webhook: json: cannot unmarshal %s into Go struct "
				"field AdmissionResponse.response.%s of type %s",
				review_go_name(is), members[i].key, members[i].go);
	}
	return 0;
}

static const struct obj *set_member(const struct obj *o, const char *key)
{
	const struct obj *v = obj_get(o, key);
	return obj_is_set(v) ? v : NULL;
}

/* As Go says it of what is no object; text that is no JSON is a string to its YAML. */
static const char *no_object(enum obj_type type, struct arena *a)
{
	return arena_fmt(a,
			 "couldn't get version/kind; json parse error: json: cannot unmarshal %s "
			 "into Go value of type struct { APIVersion string "
			 "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
			 "\"json:\\\"kind,omitempty\\\"\" }",
			 type == OBJ_ABSENT ? "string" : review_go_name(type));
}

const struct obj *review_parse(struct str body, struct arena *a, const char **why)
{
	struct error inner = ERROR_INIT;
	struct obj *o = NULL;
	if (json_parse(body, &o, &inner) < 0) {
		*why = no_object(OBJ_ABSENT, a);
		return NULL;
	}
	obj_keep(a, o);
	if (obj_type(o) == OBJ_MAP)
		return o;
	*why = no_object(obj_type(o), a);
	return NULL;
}

int review_read(const char *version, const char *uid, int status, struct str body, bool mutating,
		struct arena *a, struct review_answer *ret, struct error *err)
{
	const char *fault = review_http_fault(status, a);
	if (fault)
		return failed(err, fault);
	if (!body.len)
		return failed(err, arena_fmt(a,
					     "0-length response with status code: %d and content "
					     "type: application/json",
					     status));
	const struct obj *o = review_parse(body, a, &fault);
	if (!o)
		return failed(err, fault);
	const struct obj *response = set_member(o, "response");
	if (response && obj_type(response) != OBJ_MAP)
		return invalid(err, "response is no object");
	if (check_types(response, err) < 0)
		return -err->code;
	if (!response)
		return invalid(err, "webhook response was absent");
	const char *said = obj_str(response, "uid");
	if (check_kind(o, version, a, err) < 0)
		return -err->code;
	if (cstr_eq(version, "v1") && !cstr_eq(said, uid))
		return invalid(err, arena_fmt(a, "expected response.uid=\"%s\", got \"%s\"", uid,
					      said ? said : ""));
	*ret = (struct review_answer){
		.allowed = obj_flag(response, "allowed", false),
		.status = set_member(response, "status"),
		.warnings = set_member(response, "warnings"),
		.annotations = set_member(response, "auditAnnotations"),
	};
	if (check_patch(response, version, mutating, err) < 0)
		return -err->code;
	return mutating && obj_as_str(obj_get(response, "patch")).len
		       ? read_patch(response, a, ret, err)
		       : 0;
}
