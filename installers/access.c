#include "installers/access.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/str.h"
#include "alm/obj/meta.h"

#define CRD_GROUP "apiextensions.k8s.io"

static bool is_kind(const struct obj *o, const char *kind)
{
	return cstr_eq(meta_kind(o), kind) && cstr_has_prefix(meta_api_version(o), ACCESS_RBAC "/");
}

static bool is_role(const struct obj *o)
{
	return is_kind(o, "Role") || is_kind(o, "ClusterRole");
}

static bool is_binding(const struct obj *o)
{
	return is_kind(o, "RoleBinding") || is_kind(o, "ClusterRoleBinding");
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

/* --- the list --- */

/* What the account is given of its custom resources (controllers/account.c). A chart may name any
 * other subresource in its Roles, and that is asked for. */
static bool is_given_part(const char *sub)
{
	return !*sub || cstr_eq(sub, "/status") || cstr_eq(sub, "/scale") ||
	       cstr_eq(sub, "/finalizers");
}

/* Is it about custom resources that come with the account? */
static bool is_own(const struct access *x, const struct access_rule *r)
{
	size_t n = strcspn(r->resource, "/");
	if (!is_given_part(r->resource + n))
		return false;
	for (const char *const *own = x->in->own; own && *own && !r->url; own++)
		if (!strncmp(*own, r->resource, n) && (*own)[n] == '.' &&
		    cstr_eq(*own + n + 1, r->group))
			return true;
	return false;
}

static bool is_reading(const char *verb)
{
	return cstr_eq(verb, "get") || cstr_eq(verb, "list") || cstr_eq(verb, "watch");
}

/* What ALM lets its own account do only after a look: that it holds them is not enough to hand them
 * on. */
static bool is_withheld(const struct access *x, const struct access_rule *r)
{
	if (!x->in->withholds || !r->role || r->waives || r->url || is_reading(r->verb))
		return false;
	if (cstr_eq(r->group, CRD_GROUP))
		return cstr_has_prefix(r->resource, "customresourcedefinitions");
	return cstr_eq(r->group, ACCESS_RBAC) && cstr_has_prefix(r->resource, "clusterrole");
}

static void append(struct access *x, struct access_rule r)
{
	if (x->n > ACCESS_RULES_MAX)
		return;
	ARENA_GROW(x->a, x->items, x->cap, x->n, 8);
	x->items[x->n++] = r;
}

static void add(struct access *x, struct access_rule r)
{
	if (!r.subject && is_own(x, &r))
		return;
	append(x, r);
	if (!is_withheld(x, &r))
		return;
	r.verb = arena_fmt(x->a, ACCESS_DELEGATE "%s", r.verb);
	append(x, r);
}

static int text_cmp(const char *a, const char *b)
{
	return strcmp(or_empty(a), or_empty(b));
}

/* By what it is about, so that equal questions are neighbours; a right to any name before those to
 * one. */
static int right_cmp(const struct access_rule *a, const struct access_rule *b)
{
	int c = text_cmp(a->ns, b->ns);
	c = c ? c : text_cmp(a->url, b->url);
	c = c ? c : text_cmp(a->group, b->group);
	c = c ? c : text_cmp(a->resource, b->resource);
	c = c ? c : text_cmp(a->verb, b->verb);
	return c ? c : text_cmp(a->name, b->name);
}

static int rule_cmp(const void *a, const void *b)
{
	const struct access_rule *x = a, *y = b;
	int c = right_cmp(x, y);
	c = c ? c : text_cmp(x->role, y->role);
	c = c ? c : text_cmp(x->subject, y->subject);
	return c ? c : (int)x->waives - (int)y->waives;
}

static int finish(struct access *x, struct error *err)
{
	size_t n = 0;
	if (x->n > ACCESS_RULES_MAX)
		return error_set(err, E_LIMIT, "the chart takes more than %d rights",
				 ACCESS_RULES_MAX);
	if (x->n)
		qsort(x->items, x->n, sizeof(*x->items), rule_cmp);
	for (size_t i = 0; i < x->n; i++)
		if (!n || rule_cmp(&x->items[n - 1], &x->items[i]) != 0)
			x->items[n++] = x->items[i];
	x->n = n;
	return 0;
}

/* --- writing --- */

static void add_life(struct access *x, const struct access_object *o)
{
	static const char *const verbs[][4] = {
		[ACCESS_OBJECT] = {"create", "patch", "delete", NULL},
		[ACCESS_KEPT] = {"create", "patch", NULL},
		[ACCESS_DEFINITION] = {"create", "patch", NULL},
		[ACCESS_HOOK] = {"create", "delete", NULL},
	};
	struct access_rule r = {
		.group = or_empty(o->group), .resource = o->plural, .ns = or_empty(o->ns)};
	for (const char *const *verb = verbs[o->life]; o->plural && *verb; verb++) {
		r.verb = *verb;
		/* a rule with a name does not allow a create: that has none yet */
		r.name = cstr_eq(*verb, "create") ? "" : or_empty(meta_name(o->object));
		add(x, r);
	}
}

/* Revisions come and go, so no name. */
static void add_record(struct access *x)
{
	static const char *const verbs[] = {"create", "patch", "delete"};
	for (size_t i = 0; x->in->ns && i < ARRAY_LEN(verbs); i++)
		add(x, (struct access_rule){.verb = verbs[i],
					    .group = "",
					    .resource = "secrets",
					    .ns = x->in->ns,
					    .name = ""});
}

/* --- handing rights on --- */

static const char *text_at(const struct obj *list, size_t i)
{
	return or_empty(obj_as_string(obj_at(list, i)));
}

/* The rights of one verb of a role's rule. r has verb, ns and role. */
static void add_verb(struct access *x, const struct obj *rule, struct access_rule r)
{
	const struct obj *groups = obj_get(rule, "apiGroups"),
			 *names = obj_get(rule, "resourceNames");
	const struct obj *resources = obj_get(rule, "resources"),
			 *urls = obj_get(rule, "nonResourceURLs");
	size_t n_names = obj_len(names) ? obj_len(names) : 1;
	for (size_t g = 0; g < obj_len(groups); g++)
		for (size_t i = 0; i < obj_len(resources); i++)
			for (size_t n = 0; n < n_names; n++) {
				r.group = text_at(groups, g);
				r.resource = text_at(resources, i);
				r.name = text_at(names, n);
				add(x, r);
			}
	for (size_t i = 0; i < obj_len(urls); i++) {
		r.group = r.resource = r.name = "";
		r.url = text_at(urls, i);
		add(x, r);
	}
}

/* Every right that the role gives in ns. What it gathers by labels is not known: all are needed, as
 * the server demands. */
static void add_rights(struct access *x, const struct obj *role, const char *ns, const char *giver)
{
	const struct obj *rules = obj_get(role, "rules");
	struct access_rule r = {.ns = ns, .role = giver};
	if (obj_has(role, "aggregationRule")) {
		r.verb = r.group = r.resource = "*";
		r.name = "";
		add(x, r);
	}
	for (size_t i = 0; i < obj_len(rules); i++) {
		const struct obj *verbs = obj_get(obj_at(rules, i), "verbs");
		for (size_t v = 0; v < obj_len(verbs); v++) {
			r.verb = text_at(verbs, v);
			add_verb(x, obj_at(rules, i), r);
		}
	}
}

static const char *giver_of(const struct access *x, const struct access_object *o)
{
	return arena_fmt(x->a, "%s/%s%s%s", meta_kind(o->object), or_empty(o->ns), o->ns ? "/" : "",
			 or_empty(meta_name(o->object)));
}

static void add_role(struct access *x, const struct access_object *o)
{
	const char *giver = giver_of(x, o);
	add_rights(x, o->object, or_empty(o->ns), giver);
	add(x, (struct access_rule){.verb = "escalate",
				    .group = ACCESS_RBAC,
				    .resource = o->ns ? "roles" : "clusterroles",
				    .ns = or_empty(o->ns),
				    .name = or_empty(meta_name(o->object)),
				    .role = giver,
				    .waives = true});
}

/* The role that a binding names, if it is rendered, too. */
static const struct obj *rendered_role(const struct access *x, const struct access_object *binding)
{
	const char *kind = obj_str(binding->object, "roleRef.kind"),
		   *name = obj_str(binding->object, "roleRef.name");
	for (size_t i = 0; i < x->in->n; i++) {
		const struct access_object *o = &x->in->objects[i];
		if (is_role(o->object) && cstr_eq(meta_kind(o->object), kind) &&
		    cstr_eq(meta_name(o->object), name) && (!o->ns || cstr_eq(o->ns, binding->ns)))
			return o->object;
	}
	return NULL;
}

static void add_binding(struct access *x, const struct access_object *o)
{
	const struct obj *role = rendered_role(x, o);
	bool cluster = cstr_eq(obj_str(o->object, "roleRef.kind"), "ClusterRole");
	struct access_rule bind = {.verb = "bind",
				   .group = ACCESS_RBAC,
				   .resource = cluster ? "clusterroles" : "roles",
				   .ns = or_empty(o->ns),
				   .name = or_empty(obj_str(o->object, "roleRef.name")),
				   .role = giver_of(x, o),
				   .waives = role != NULL};
	if (role)
		add_rights(x, role, or_empty(o->ns), bind.role);
	else if (o->ns || !x->in->withholds) /* what a role of others gives is not seen here */
		bind.proof = o->object;
	add(x, bind);
}

int access_rules(const struct access_input *in, struct arena *a, struct access *ret,
		 struct error *err)
{
	struct access x = {.a = a, .in = in};
	add_record(&x);
	for (size_t i = 0; i < in->n; i++) {
		const struct access_object *o = &in->objects[i];
		add_life(&x, o);
		if (is_role(o->object))
			add_role(&x, o);
		if (is_binding(o->object))
			add_binding(&x, o);
	}
	if (finish(&x, err) < 0)
		return -err->code;
	*ret = x;
	return 0;
}

/* --- what an upgrade adds --- */

static bool is_rendered_account(const struct access *x, const struct obj *subject)
{
	if (!cstr_eq(obj_str(subject, "kind"), "ServiceAccount"))
		return false;
	for (size_t i = 0; i < x->in->n; i++) {
		const struct access_object *o = &x->in->objects[i];
		if (cstr_eq(meta_kind(o->object), "ServiceAccount") &&
		    cstr_eq(meta_name(o->object), obj_str(subject, "name")) &&
		    cstr_eq(o->ns, obj_str(subject, "namespace")))
			return true;
	}
	return false;
}

static const char *subject_text(const struct access *x, const struct obj *s)
{
	const char *ns = obj_str(s, "namespace");
	return arena_fmt(x->a, "%s %s%s%s", or_empty(obj_str(s, "kind")), or_empty(ns),
			 ns ? "/" : "", or_empty(obj_str(s, "name")));
}

/* A rendered role for the chart's own account is told by what it gives. */
static void add_subjects(struct access *x, const struct access_object *o)
{
	const struct obj *subjects = obj_get(o->object, "subjects");
	const struct obj *role = rendered_role(x, o);
	for (size_t i = 0; i < obj_len(subjects); i++) {
		if (role && is_rendered_account(x, obj_at(subjects, i)))
			continue;
		add(x,
		    (struct access_rule){.verb = "bind",
					 .group = ACCESS_RBAC,
					 .resource = or_empty(obj_str(o->object, "roleRef.kind")),
					 .ns = or_empty(o->ns),
					 .name = or_empty(obj_str(o->object, "roleRef.name")),
					 .subject = subject_text(x, obj_at(subjects, i))});
	}
}

int access_grants(const struct access_input *in, struct arena *a, struct access *ret,
		  struct error *err)
{
	struct access x = {.a = a, .in = in};
	for (size_t i = 0; i < in->n; i++) {
		const struct access_object *o = &in->objects[i];
		if (is_role(o->object))
			add_rights(&x, o->object, or_empty(o->ns), NULL);
		if (is_binding(o->object))
			add_subjects(&x, o);
	}
	if (finish(&x, err) < 0)
		return -err->code;
	*ret = x;
	return 0;
}

static bool word_covers(const char *old, const char *new)
{
	return cstr_eq(old, "*") || cstr_eq(old, new);
}

static bool covers(const struct access_rule *old, const struct access_rule *new)
{
	if (!cstr_eq(old->subject, new->subject) || (*old->ns && !cstr_eq(old->ns, new->ns)))
		return false;
	if (new->subject)
		return cstr_eq(old->resource, new->resource) && cstr_eq(old->name, new->name);
	if (old->url || new->url)
		return old->url && new->url &&word_covers(old->verb, new->verb) &&
		       word_covers(old->url, new->url);
	return word_covers(old->verb, new->verb) && word_covers(old->group, new->group) &&
	       word_covers(old->resource, new->resource) &&
	       (!*old->name || cstr_eq(old->name, new->name));
}

static bool is_covered(const struct access *x, const struct access_rule *r)
{
	for (size_t i = 0; x && i < x->n; i++)
		if (covers(&x->items[i], r))
			return true;
	return false;
}

static const char *resource_text(const struct access_rule *r, struct arena *a)
{
	const char *name = *r->name ? arena_fmt(a, " %s", r->name) : "";
	size_t n = strcspn(r->resource, "/");
	if (r->url)
		return r->url;
	return arena_fmt(a, "%.*s%s%s%s%s", (int)n, r->resource, *r->group ? "." : "", r->group,
			 r->resource + n, name);
}

static const char *scope_text(const struct access_rule *r, struct arena *a)
{
	if (r->url)
		return "";
	return *r->ns ? arena_fmt(a, " in %s", r->ns) : " at cluster scope";
}

static const char *verbs_text(const struct access_rule *r, const char *verbs, struct arena *a)
{
	if (r->subject)
		return arena_fmt(a, "%s %s for %s%s", r->resource, r->name, r->subject,
				 scope_text(r, a));
	return arena_fmt(a, "%s %s%s", verbs, resource_text(r, a), scope_text(r, a));
}

const char *access_text(const struct access_rule *r, struct arena *a)
{
	return verbs_text(r, r->verb, a);
}

bool access_is_same_thing(const struct access_rule *a, const struct access_rule *b)
{
	return cstr_eq(a->ns, b->ns) && cstr_eq(a->group, b->group) &&
	       cstr_eq(a->resource, b->resource) && cstr_eq(a->name, b->name) &&
	       cstr_eq(a->url, b->url) && cstr_eq(a->subject, b->subject);
}

const char *const *access_added(const struct access *now, const struct access *before,
				struct arena *a, size_t *ret_n)
{
	const char **texts = ARENA_ARRAY(a, const char *, now->n + 1);
	bool *told = ARENA_ARRAY(a, bool, now->n + 1);
	size_t n = 0;
	for (size_t i = 0; i < now->n; i++) {
		const struct access_rule *r = &now->items[i];
		const char *verbs = r->verb;
		if (told[i] || is_covered(before, r))
			continue;
		for (size_t k = i + 1; k < now->n; k++)
			if (access_is_same_thing(r, &now->items[k]) &&
			    !is_covered(before, &now->items[k])) {
				told[k] = true;
				verbs = arena_fmt(a, "%s,%s", verbs, now->items[k].verb);
			}
		texts[n++] = verbs_text(r, verbs, a);
	}
	*ret_n = n;
	return texts;
}

/* --- the server's say --- */

struct obj *access_questions(const struct access *x)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < x->n; i++) {
		const struct access_rule *r = &x->items[i];
		struct obj *o = obj_map();
		const char *slash = strchr(r->resource, '/');
		obj_set_str(o, "verb", r->verb);
		if (r->url) {
			obj_set_str(o, "path", r->url);
		} else {
			size_t n = strcspn(r->resource, "/");
			obj_set_str(o, "group", r->group);
			obj_set(o, "resource", obj_stringn(str_n(r->resource, n)));
			obj_set_str(o, "subresource", slash ? slash + 1 : "");
			obj_set_str(o, "namespace", r->ns);
			obj_set_str(o, "name", r->name);
		}
		if (r->proof)
			obj_set(o, "proof", obj_ref(r->proof));
		obj_append(list, o);
	}
	return list;
}

/* Index of what waives the rights of this role; n: nothing. */
static size_t waiver_of(const struct access *x, const char *role)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->items[i].waives && cstr_eq(x->items[i].role, role))
			return i;
	return x->n;
}

size_t access_missing(const struct access *x, const bool *denied, bool *ret_missing)
{
	size_t n = 0;
	for (size_t i = 0; i < x->n; i++) {
		const struct access_rule *r = &x->items[i];
		size_t waiver = r->role ? waiver_of(x, r->role) : x->n;
		bool waived = waiver < x->n && !denied[waiver];
		ret_missing[i] = denied[i] && !r->waives && !waived;
		n += ret_missing[i];
	}
	return n;
}
