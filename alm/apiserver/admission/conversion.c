/* conversion: see conversion.h. */
#include "alm/apiserver/admission/conversion.h"

#include "alm/apiserver/admission/review.h"
#include "alm/apiserver/object_meta.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define GROUP "apiextensions.k8s.io"
#define KIND  "ConversionReview"

static const char *text(const struct obj *o, const char *key)
{
	const char *s = obj_as_string(obj_get(o, key));
	return s ? s : "";
}

const char *conversion_version(const struct obj *conversion)
{
	const struct obj *list = obj_path(conversion, "webhook.conversionReviewVersions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), "v1"))
			return "v1";
		else if (cstr_eq(obj_as_string(obj_at(list, i)), "v1beta1"))
			return "v1beta1";
	return NULL;
}

/* --- what is sent --- */

void conversion_print_request(const char *api_version, const struct obj *objects, struct strbuf *b)
{
	strbuf_addf(b, ",\"desiredAPIVersion\":\"%s\",\"objects\":", api_version);
	json_print(objects, b);
}

void conversion_print(const char *version, const char *uid, struct str request, struct strbuf *b)
{
	strbuf_addf(b,
		    "{\"kind\":\"" KIND "\",\"apiVersion\":\"" GROUP
		    "/%s\",\"request\":{\"uid\":\"%s\"",
		    version, uid);
	strbuf_addstr(b, request);
	strbuf_adds(b, "}}");
}

/* --- what is answered --- */

static int check_result(const struct obj *response, struct error *err)
{
	const struct obj *result = obj_get(response, "result");
	if (cstr_eq(text(result, "status"), "Success"))
		return 0;
	if (*text(result, "message"))
		return error_set(err, E_INVALID, "failed: %s", text(result, "message"));
	return error_set(err, E_INVALID, "failed: response.result.status was '%s', not 'Success'",
			 text(result, "status"));
}

static int read_review(const char *version, const char *uid, struct str body, struct arena *a,
		       const struct obj **ret, struct error *err)
{
	const char *why = NULL;
	const struct obj *o = review_parse(body, a, &why);
	bool is_v1 = cstr_eq(version, "v1"), bare = false;
	if (o)
		why = review_kind_fault(o, GROUP, version, KIND, a, &bare);
	if (why && (is_v1 || !bare))
		return error_set(err, E_INVALID, "failed: %s", why);
	const struct obj *response = obj_get(o, "response");
	if (obj_type(response) != OBJ_MAP)
		return error_set(err, E_INVALID, "failed: no response provided");
	if (is_v1 && !cstr_eq(text(response, "uid"), uid))
		return error_set(err, E_INVALID, "failed: expected response.uid=\"%s\", got \"%s\"",
				 uid, text(response, "uid"));
	*ret = response;
	return check_result(response, err);
}

int conversion_read(const char *version, const char *uid, int status, struct str body, size_t n,
		    struct arena *a, const struct obj **ret, struct error *err)
{
	const struct obj *response = NULL;
	const char *fault = review_http_fault(status, a);
	if (fault)
		return error_set(err, E_IO, "failed: %s", fault);
	if (!body.len)
		return error_set(err, E_INVALID,
				 "failed: 0-length response with status code: %d and content type: "
				 "application/json",
				 status);
	if (read_review(version, uid, body, a, &response, err) < 0)
		return -err->code;
	*ret = obj_get(response, "convertedObjects");
	if (obj_len(*ret) != n)
		return error_set(err, E_INVALID, "returned %zu objects, expected %zu",
				 obj_len(*ret), n);
	return 0;
}

/* --- one object --- */

static int check_same(const struct obj *o, const struct obj *converted, struct error *err)
{
	static const struct {
		const char *path, *name;
	} fields[] = {
		{"metadata.name", "name"},
		{"metadata.namespace", "namespace"},
		{"metadata.uid", "UID"},
	};
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const char *want = obj_str(o, fields[i].path);
		const char *have = obj_str(converted, fields[i].path);
		if (!cstr_eq(want ? want : "", have ? have : ""))
			return error_set(err, E_INVALID,
					 "returned invalid object: must have the same %s: %s != %s",
					 fields[i].name, want ? want : "", have ? have : "");
	}
	return 0;
}

/* As Go's formats name it. */
static const char *go_type(const struct obj *o)
{
	switch (obj_type(o)) {
	case OBJ_BOOL:
		return "bool";
	case OBJ_INT:
		return "int64";
	case OBJ_DOUBLE:
		return "float64";
	case OBJ_STRING:
		return "string";
	case OBJ_LIST:
		return "[]interface {}";
	case OBJ_MAP:
		return "map[string]interface {}";
	case OBJ_ABSENT:
	case OBJ_NULL:
		break;
	}
	return "<nil>";
}

/* Labels or annotations: those of the answer. */
static int take_texts(struct obj *meta, const struct obj *said, const char *key, struct error *err)
{
	const struct obj *texts = obj_get(said, key);
	if (!obj_is_set(texts)) {
		obj_del(meta, key);
		return 0;
	}
	if (obj_type(texts) != OBJ_MAP)
		return error_set(err, E_INVALID,
				 "returned invalid metadata: invalid metadata.%s of type %s in "
				 "converted object",
				 key, go_type(texts));
	OBJ_EACH (it, texts)
		if (obj_type(it.value) != OBJ_STRING)
			return error_set(err, E_INVALID,
					 "returned invalid metadata: metadata.%s[%s] must be a "
					 "string, but is %s in converted object",
					 key, it.key, go_type(it.value));
	if (obj_len(texts))
		obj_set(meta, key, obj_ref(texts));
	else
		obj_del(meta, key);
	return 0;
}

static int check_labels(const struct obj *labels, struct arena *a, struct error *err)
{
	struct field_errors e;
	field_errors_init(&e, a);
	object_meta_check_labels(labels, &e);
	if (e.n == 0)
		return 0;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 12);
	field_errors_text(&e, &b);
	return error_set(err, E_INVALID, "returned invalid metadata: %s", b.buf);
}

/* As Go reads what is no object. */
static int check_object(const struct obj *o, struct error *err)
{
	if (!obj_is_set(o))
		return error_set(err, E_CORRUPT, "unexpected end of JSON input");
	if (obj_type(o) != OBJ_MAP)
		return error_set(err, E_CORRUPT,
				 "json: cannot unmarshal %s into Go value of type "
				 "map[string]interface {}",
				 review_go_name(obj_type(o)));
	if (*text(o, "kind"))
		return 0;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 22);
	json_print(o, &b);
	return error_set(err, E_CORRUPT, "Object 'Kind' is missing in '%s'", b.buf);
}

int conversion_take(const struct obj *o, const struct obj *converted, const char *api_version,
		    struct arena *a, struct obj **ret, struct error *err)
{
	const char *api = text(converted, "apiVersion"), *kind = text(converted, "kind");
	if (check_object(converted, err) < 0)
		return -err->code;
	if (!cstr_eq(api, api_version))
		return error_set(err, E_INVALID,
				 "returned invalid object at index 0: invalid groupVersion "
				 "(expected %s, received %s)",
				 api_version, api);
	if (!cstr_eq(kind, meta_kind(o)))
		return error_set(err, E_INVALID,
				 "returned invalid object at index 0: invalid kind (expected %s, "
				 "received %s)",
				 meta_kind(o), kind);
	if (check_same(o, converted, err) < 0)
		return -err->code;
	const struct obj *said = obj_get(converted, "metadata");
	struct obj *out = obj_keep(a, obj_copy_shallow(converted));
	struct obj *meta = obj_copy_map(obj_get(o, "metadata"));
	obj_set(out, "metadata", meta);
	if (take_texts(meta, said, "labels", err) < 0 ||
	    take_texts(meta, said, "annotations", err) < 0 ||
	    check_labels(obj_get(meta, "labels"), a, err) < 0)
		return -err->code;
	*ret = out;
	return 0;
}
