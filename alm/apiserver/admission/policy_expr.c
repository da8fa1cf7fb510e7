/* policy_expr: see policy_expr.h. */
#include "alm/apiserver/admission/policy_expr.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/schema/schema.h"

#define TEXT     "{\"type\":\"string\"}"
#define TEXTS    "{\"type\":\"array\",\"items\":" TEXT "}"
#define TEXT_MAP "{\"type\":\"object\",\"additionalProperties\":" TEXT "}"
#define NAMES(last)                                                                            \
	"{\"type\":\"object\",\"properties\":{\"group\":" TEXT ",\"version\":" TEXT ",\"" last \
	"\":" TEXT "}}"

/* AdmissionRequest of admission.k8s.io/v1 without uid and objects. */
static const char request_schema[] =
	"{\"type\":\"object\",\"properties\":{"
	"\"kind\":" NAMES("kind") ",\"resource\":" NAMES(
		"resource") ",\"subResource\":" TEXT
			    ",\"requestKind\":" NAMES("kind") ",\"requestResource\":" NAMES(
				    "resource") ",\"requestSubResource\":" TEXT ",\"name\":" TEXT
						",\"namespace\":" TEXT ",\"operation\":" TEXT
						",\"userInfo\":{\"type\":\"object\",\"properties\":"
						"{\"username\":" TEXT ",\"uid\":" TEXT
						",\"groups\":" TEXTS
						",\"extra\":{\"type\":\"object\","
						"\"additionalProperties\":" TEXTS "}}}"
						",\"dryRun\":{\"type\":\"boolean\"}"
						",\"options\":{\"x-kubernetes-preserve-unknown-"
						"fields\":true}}}";

static const char space_schema[] =
	"{\"type\":\"object\",\"properties\":{\"apiVersion\":" TEXT ",\"kind\":" TEXT
	",\"metadata\":{\"type\":\"object\",\"properties\":{\"name\":" TEXT
	",\"generateName\":" TEXT ",\"namespace\":" TEXT ",\"labels\":" TEXT_MAP
	",\"annotations\":" TEXT_MAP ",\"UID\":" TEXT
	",\"creationTimestamp\":{\"type\":\"string\",\"format\":\"date-time\"}"
	",\"deletionGracePeriodSeconds\":{\"type\":\"integer\"}"
	",\"deletionTimestamp\":{\"type\":\"string\",\"format\":\"date-time\"}"
	",\"generation\":{\"type\":\"integer\"},\"resourceVersion\":" TEXT ",\"finalizers\":" TEXTS
	"}}"
	",\"spec\":{\"type\":\"object\",\"properties\":{\"finalizers\":" TEXTS "}}"
	",\"status\":{\"type\":\"object\",\"properties\":{\"phase\":" TEXT "}}}}";

static void free_schema(void *p)
{
	schema_free(p);
}

static struct cel_type declared(const char *text, struct arena *a)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct schema *s = NULL;
	struct error err = ERROR_INIT;
	if (json_parse(str_of(text), &o, &err) < 0 || schema_compile(o, &s, &err) < 0)
		return (struct cel_type){.kind = CEL_DYN};
	arena_defer(a, free_schema, s);
	return cel_type_of(s, a);
}

void policy_scope_init(struct policy_scope *s, const struct obj *policy, struct arena *a)
{
	static const struct cel_type dyn = {.kind = CEL_DYN};
	bool has_params = obj_path(policy, "spec.paramKind");
	s->a = a;
	s->items[NAME_OBJECT] = (struct cel_var){.name = "object", .type = dyn};
	s->items[NAME_OLD] = (struct cel_var){.name = "oldObject", .type = dyn};
	s->items[NAME_REQUEST] =
		(struct cel_var){.name = "request", .type = declared(request_schema, a)};
	s->items[NAME_SPACE] =
		(struct cel_var){.name = "namespaceObject", .type = declared(space_schema, a)};
	s->items[NAME_AUTHORIZER] =
		(struct cel_var){.name = "authorizer", .type = {.kind = CEL_AUTHORIZER}};
	s->items[NAME_ABOUT] = (struct cel_var){.of = "authorizer",
						.name = "requestResource",
						.type = {.kind = CEL_RESOURCE_CHECK}};
	/* a word that no expression can write is not there */
	s->items[NAME_PARAMS] = (struct cel_var){.name = has_params ? "params" : "", .type = dyn};
	bool has_variables =
		obj_len(obj_path(policy, "spec.variables")) || obj_path(policy, "spec.mutations");
	s->items[NAME_NONE] =
		(struct cel_var){.of = has_variables ? "variables" : NULL, .name = ""};
	s->n = NAME_VARIABLE;
}

void policy_scope_add(struct policy_scope *s, const char *name, struct cel_type type)
{
	if (s->n < ARRAY_LEN(s->items))
		s->items[s->n++] = (struct cel_var){.of = "variables", .name = name, .type = type};
}

struct cel_vars policy_scope_of(const struct policy_scope *s, enum policy_use use)
{
	return (struct cel_vars){.items = s->items,
				 .n = use == USE_CONDITION ? NAME_NONE : s->n,
				 .messages = use == USE_APPLY || use == USE_PATCH};
}

static bool is_right(enum policy_use use, const struct cel_type *t)
{
	switch (use) {
	case USE_VARIABLE:
		return true;
	case USE_CONDITION:
	case USE_VALIDATION:
		return t->kind == CEL_BOOL;
	case USE_MESSAGE:
		return t->kind == CEL_STRING;
	case USE_ANNOTATION:
		return t->kind == CEL_STRING || t->kind == CEL_NULL;
	case USE_APPLY:
		return t->kind == CEL_MESSAGE && strcmp(t->name, "Object") == 0;
	case USE_PATCH:
		return t->kind == CEL_LIST && t->inner && t->inner->kind == CEL_MESSAGE &&
		       strcmp(t->inner->name, "JSONPatch") == 0;
	}
	return false;
}

/* NULL: the type is right. */
static const char *wrong_type(enum policy_use use, const struct cel_type *t, struct arena *a)
{
	static const char *const wanted[] = {
		[USE_CONDITION] = "bool", [USE_VALIDATION] = "bool",
		[USE_MESSAGE] = "string", [USE_ANNOTATION] = "one of [string null_type]",
		[USE_APPLY] = "Object",   [USE_PATCH] = "list(JSONPatch)",
	};
	bool whole = use == USE_APPLY || use == USE_PATCH;
	const char *is = t->kind == CEL_NULL && whole ? "null_type"
			 : whole                      ? cel_type_text(t, a)
						      : cel_kind_name(t->kind);
	return is_right(use, t) ? NULL
				: arena_fmt(a, "must evaluate to %s but got %s", wanted[use], is);
}

void policy_expr_compile(const char *text, enum policy_use use, const struct policy_scope *s,
			 struct policy_expr *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_MAX * 4);
	const struct cel_vars vars = policy_scope_of(s, use);
	*ret = (struct policy_expr){.text = arena_strdup(s->a, text), .type = {.kind = CEL_DYN}};
	struct cel_program *p = cel_parse(ret->text, s->a, &b);
	if (p)
		cel_check_with(p, &vars, s->a, &b, &ret->type);
	ret->broken = b.len ? arena_fmt(s->a, "compilation failed: %s", b.buf)
			    : wrong_type(use, &ret->type, s->a);
	ret->program = ret->broken ? NULL : p;
	if (ret->broken)
		ret->type = (struct cel_type){.kind = CEL_DYN};
}
