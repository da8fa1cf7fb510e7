/* intent: see intent.h. */
#include "alm/engine/intent.h"

#include "alm/client/client.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/patch/owned.h"
#include "alm/obj/patch/patch.h"

const char *intent_verb(const struct action *a)
{
	static const char *const verbs[] = {"apply", "create", "patch", "delete"};
	return verbs[a->type];
}

static const char *manager_of(const char *manager)
{
	return manager ? manager : CLIENT_FIELD_MANAGER;
}

static struct obj *digest_text(const char digest[SHA256_HEX])
{
	return obj_stringf("sha256:%s", digest);
}

/* Redacted while it has its name, as the value's place is part of the HMAC. */
static struct obj *applied_digest(struct audit *log, const struct obj *config)
{
	char digest[SHA256_HEX];
	CLEANUP(obj_unrefp) struct obj *shown = audit_redact(log, config);
	CLEANUP(obj_unrefp) struct obj *bare = owned_bare(shown);
	json_digest(bare, digest);
	return digest_text(digest);
}

static struct obj *patched_digest(struct audit *log, const struct obj *patch,
				  const struct obj *cached)
{
	struct error err;
	struct obj *o = NULL;
	char digest[SHA256_HEX];
	if (!cached || patch_merge(cached, patch, &o, &err) < 0)
		return NULL;
	audit_object_digest(log, o, digest);
	obj_unref(o);
	return digest_text(digest);
}

struct obj *intent_new(struct audit *log, const struct action *a, size_t i,
		       const struct obj *cached, bool with_digests)
{
	struct obj *o = obj_map(), *desired = NULL;
	const struct resource *r = &a->resource;
	obj_set_int(o, "i", (int64_t)i);
	obj_set_str(o, "verb", intent_verb(a));
	obj_set(o, "apiVersion", obj_stringf("%s%s%s", r->group, *r->group ? "/" : "", r->version));
	obj_set(o, "object", obj_stringf("%s/%s/%s", r->kind, a->ns ? a->ns : "", a->name));
	if (a->type == ACT_DELETE)
		obj_set_str(o, "uid", a->uid);
	if (a->manager)
		obj_set_str(o, "manager", a->manager);
	if (with_digests && a->type == ACT_APPLY)
		desired = applied_digest(log, a->body);
	else if (with_digests && a->type == ACT_PATCH)
		desired = patched_digest(log, a->body, cached);
	if (desired)
		obj_set(o, "desired", desired);
	return o;
}

static bool is_applied(struct audit *log, const struct obj *intent, const struct obj *live)
{
	char digest[SHA256_HEX];
	CLEANUP(obj_unrefp) struct obj *shown = audit_redact(log, live);
	CLEANUP(obj_unrefp) struct obj *fields =
		owned_fields(live, shown, manager_of(obj_str(intent, "manager")));
	if (!fields)
		return false;
	json_digest(fields, digest);
	CLEANUP(obj_unrefp) struct obj *found = digest_text(digest);
	return obj_equal(found, obj_get(intent, "desired"));
}

static bool is_patched(struct audit *log, const struct obj *intent, const struct obj *live)
{
	char digest[SHA256_HEX];
	audit_object_digest(log, live, digest);
	CLEANUP(obj_unrefp) struct obj *found = digest_text(digest);
	return owned_in_part(live, manager_of(obj_str(intent, "manager"))) &&
	       obj_equal(found, obj_get(intent, "desired"));
}

bool intent_is_done(struct audit *log, const struct obj *intent, const struct obj *live)
{
	const char *verb = obj_str(intent, "verb");
	if (cstr_eq(verb, "delete"))
		return !live || meta_is_deleting(live) ||
		       !cstr_eq(meta_uid(live), obj_str(intent, "uid"));
	if (!live)
		return false;
	if (cstr_eq(verb, "create"))
		return owned_in_part(live, manager_of(obj_str(intent, "manager")));
	return cstr_eq(verb, "apply") ? is_applied(log, intent, live)
				      : is_patched(log, intent, live);
}
