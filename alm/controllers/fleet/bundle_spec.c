#include "alm/controllers/fleet/bundle_spec.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/fleet/bundle_history.h"
#include "alm/controllers/fleet/bundle_ignore.h"
#include "alm/controllers/fleet/bundle_instances.h"
#include "alm/obj/meta.h"
#include "alm/source/git_url.h"
#include "alm/unit/stray.h"

#define INTERVAL_NS     (30 * NS_PER_S)
#define INTERVAL_NS_MIN NS_PER_S
#define MAX_DELETES     10
#define URL_MAX         2048
#define GRACE_NS        NS_PER_MIN
#define GRACE_NS_MAX    (720 * NS_PER_HOUR)
#define LACKING_MAX     10 /* entries of spec.prune that a message names */
#define REJECTED_NS     (30 * NS_PER_S)
#define REJECTED_NSMAX  (10 * NS_PER_MIN)

static int invalid(const char *field, const char *what, struct error *err)
{
	return error_set(err, E_INVALID, "%s: %s", field, what);
}

/* --- source --- */

/* A name of git that no shell, no option and no other ref can be made of. */
static bool is_branch(const char *s)
{
	size_t n = strlen(s);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] <= ' ' || s[i] == 0x7f || strchr("~^:?*[\\", s[i]))
			return false;
	return n && n <= 250 && s[0] != '-' && s[0] != '/' && s[n - 1] != '/' && s[n - 1] != '.' &&
	       !strstr(s, "..") && !strstr(s, "@{") && !strstr(s, "//");
}

static bool is_plain(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f)
			return false;
	return true;
}

static int check_ssh(const struct bundle_spec *b, struct arena *a, struct error *err)
{
	struct git_ssh_url u;
	if (git_url_ssh(b->url, a, &u, err) < 0)
		return error_wrap(err, "spec.source.git.url");
	return b->secret ? 0
			 : invalid("spec.source.git.secretRef",
				   "ssh takes a Secret with a private key and known_hosts", err);
}

static int check_url(const char *url, bool is_ssh, struct error *err)
{
	static const char field[] = "spec.source.git.url";
	if (strlen(url) > URL_MAX || !is_plain(url))
		return invalid(field, "it is too long, or has blanks", err);
	if (is_ssh)
		return 0;
	if (cstr_has_prefix(url, "file:///"))
		return strstr(url, "/../") || cstr_has_suffix(url, "/..")
			       ? invalid(field, "\"..\" is not followed", err)
			       : 0;
	if (!cstr_has_prefix(url, "https://"))
		return invalid(
			field,
			"https://HOST/PATH, ssh://USER@HOST/PATH or USER@HOST:PATH is wanted, or "
			"file:///PATH below a --catalog-root; http:// would show the password to "
			"anybody",
			err);
	const char *slash = strchr(url + strlen("https://"), '/'), *at = strchr(url, '@');
	if (!slash || slash == url + strlen("https://"))
		return invalid(field, "https://HOST/PATH is wanted", err);
	return at && at < slash ? invalid(field,
					  "it has a user or a password; put them into a Secret and "
					  "name that in spec.source.git.secretRef",
					  err)
				: 0;
}

/* "apps/web", without "." and "..". */
static int read_path(const char *text, struct arena *a, const char **ret, struct error *err)
{
	struct str rest = str_of(text), part;
	while (rest.len && rest.ptr[rest.len - 1] == '/')
		rest.len--;
	*ret = arena_strndup(a, rest.ptr ? rest.ptr : "", rest.len);
	if (str_is(rest, "."))
		*ret = "";
	rest = str_of(*ret);
	while (rest.len && str_next(&rest, '/', &part))
		if (!part.len || str_is(part, ".") || str_is(part, "..") || !is_plain(*ret))
			return invalid("spec.source.git.path",
				       "a folder in the repository is wanted, as apps/web", err);
	return 0;
}

/* As git prints it in full, so no option and no other name can be made of it. */
static bool is_commit(const char *s)
{
	size_t n = strlen(s);
	return (n == 40 || n == 64) && strspn(s, "0123456789abcdef") == n;
}

/* Of the one cluster that there is: the hub itself, in its group of the same name. */
static int check_pin(const struct obj *pin, size_t i, struct error *err)
{
	const char *cluster = obj_str(pin, "cluster"), *group = obj_str(pin, "group");
	const char *commit = obj_str(pin, "commit"), *of = cluster ? cluster : group;
	if (!of || (cluster && group) || !commit || !is_commit(commit))
		return error_set(err, E_INVALID,
				 "spec.pins[%zu]: {cluster or group, commit} is wanted, the commit "
				 "by its whole name, as git rev-parse HEAD prints it",
				 i);
	return cstr_eq(of, BUNDLE_CLUSTER)
		       ? 0
		       : error_set(
				 err, E_INVALID,
				 "spec.pins[%zu].%s: \"%.60s\": there is no cluster but this one, "
				 "which is \"" BUNDLE_CLUSTER
				 "\" in a group of that name; others are not built yet",
				 i, cluster ? "cluster" : "group", of);
}

/* That of the cluster counts before that of its group, and both before spec.source.git.commit. */
static int read_pins(const struct obj *o, struct arena *a, struct bundle_spec *b, struct error *err)
{
	const struct obj *list = obj_path(o, "spec.pins");
	bool has_cluster = false, has_group = false;
	if (list && obj_type(list) != OBJ_LIST)
		return invalid("spec.pins", "a list of {cluster or group, commit} is wanted", err);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *pin = obj_at(list, i);
		bool is_cluster = obj_has(pin, "cluster");
		if (check_pin(pin, i, err) < 0)
			return -err->code;
		if (is_cluster ? has_cluster : has_group)
			return error_set(err, E_INVALID, "spec.pins[%zu]: it is pinned twice", i);
		if (is_cluster || !has_cluster) {
			b->commit = obj_str(pin, "commit");
			b->held_by = arena_fmt(a, "spec.pins[%zu].commit", i);
		}
		has_cluster = has_cluster || is_cluster;
		has_group = has_group || !is_cluster;
	}
	return 0;
}

static int read_source(const struct obj *o, struct arena *a, struct bundle_spec *b,
		       struct error *err)
{
	const char *path = obj_str(o, "spec.source.git.path");
	b->url = obj_str(o, "spec.source.git.url");
	b->branch = obj_str(o, "spec.source.git.branch");
	b->branch = b->branch ? b->branch : "main";
	b->secret = obj_str(o, "spec.source.git.secretRef.name");
	b->hook_secret = obj_str(o, "spec.source.git.hookSecretRef.name");
	b->keys = obj_str(o, "spec.source.git.verify.keysRef.name");
	b->commit = obj_str(o, "spec.source.git.commit");
	b->refuses_rewrites = cstr_eq(obj_str(o, "spec.source.git.rewrites"), "Refuse");
	if (!b->url)
		return invalid("spec.source.git.url", "it is missing", err);
	bool is_ssh = git_url_is_ssh(b->url);
	if (check_url(b->url, is_ssh, err) < 0 || (is_ssh && check_ssh(b, a, err) < 0))
		return -err->code;
	if (obj_path(o, "spec.source.git.verify") && !(b->keys && *b->keys))
		return invalid("spec.source.git.verify.keysRef.name", "want a ConfigMap", err);
	if (!is_branch(b->branch))
		return invalid("spec.source.git.branch", "this is no name of a branch", err);
	if (obj_path(o, "spec.source.git.commit") && !(b->commit && is_commit(b->commit)))
		return invalid("spec.source.git.commit",
			       "want the whole name, as git rev-parse HEAD prints it", err);
	b->held_by = b->commit ? BUNDLE_PIN : NULL;
	return read_pins(o, a, b, err) < 0 ? -err->code
					   : read_path(path ? path : "", a, &b->path, err);
}

/* --- the rest --- */

static int read_interval(const struct obj *o, struct bundle_spec *b, struct error *err)
{
	const char *text = obj_str(o, "spec.trigger.interval");
	struct error why = ERROR_INIT;
	b->interval_ns = INTERVAL_NS;
	if (text && duration_parse(str_of(text), &b->interval_ns, &why) < 0)
		return invalid("spec.trigger.interval", why.msg, err);
	if (b->interval_ns < INTERVAL_NS_MIN)
		return invalid("spec.trigger.interval", "at least 1s", err);
	return 0;
}

static int read_grace(const struct obj *o, struct bundle_spec *b, struct error *err)
{
	static const char field[] = "spec.prune.grace";
	const char *text = obj_str(o, field);
	struct error why = ERROR_INIT;
	b->grace_ns = GRACE_NS;
	if (!obj_path(o, field))
		return 0;
	if (!b->sweeps)
		return invalid(field,
			       "only mode Namespace waits before it deletes; remove it, or set "
			       "spec.prune.mode: Namespace",
			       err);
	if (!text)
		return invalid(field, "a duration is wanted, as 60s", err);
	if (duration_parse(str_of(text), &b->grace_ns, &why) < 0)
		return invalid(field, why.msg, err);
	return b->grace_ns < 0 || b->grace_ns > GRACE_NS_MAX ? invalid(field, "0s to 720h", err)
							     : 0;
}

/* Who names no namespace, or one that the cluster lives in, has not meant that all in it goes. */
static int check_swept(const struct bundle_spec *b, struct error *err)
{
	static const char field[] = "spec.prune.namespaces";
	if (!b->sweeps)
		return 0;
	if (!obj_len(b->namespaces))
		return invalid(field,
			       "mode Namespace deletes what is in them and not declared: name at "
			       "least one, or set spec.prune.mode: Owned",
			       err);
	for (size_t i = 0; i < obj_len(b->namespaces); i++) {
		const char *ns = obj_as_string(obj_at(b->namespaces, i));
		if (!ns || !*ns || stray_is_reserved(ns))
			return error_set(err, E_INVALID,
					 "%s: mode Namespace deletes what is not declared, and %s "
					 "is of the cluster or of ALM itself; remove it, or set "
					 "spec.prune.mode: Owned",
					 field, ns && *ns ? ns : "\"\"");
	}
	return 0;
}

static int read_account(const struct obj *o, struct arena *a, struct bundle_spec *b,
			struct error *err)
{
	const char *text = obj_str(o, "spec.serviceAccountName");
	struct str ns, name;
	if (!text)
		return 0;
	if (!str_cut(str_of(text), '/', &ns, &name) || !ns.len || !name.len || !is_plain(text) ||
	    str_find_char(name, '/') >= 0 || str_find_char(str_of(text), ':') >= 0)
		return invalid("spec.serviceAccountName", "NAMESPACE/NAME is wanted", err);
	b->account = arena_fmt(a, "system:serviceaccount:%.*s:%.*s", STR_ARG(ns), STR_ARG(name));
	return 0;
}

static int read_name(const struct obj *o, struct bundle_spec *b, struct error *err)
{
	b->name = meta_name(o);
	size_t n = strlen(b->name);
	if (n > BUNDLE_NAME_MAX || strchr(b->name, '.'))
		return error_set(err, E_INVALID,
				 "metadata.name: at most %d of a-z, 0-9 and -: the names of its "
				 "inventories begin with it",
				 BUNDLE_NAME_MAX);
	return 0;
}

/* What a Bundle is to have and has not yet: the schema names it, else a server would drop it from what a
 * client sends that does not ask for strict validation, and who wrote it would believe in it. */
static int check_unbuilt(const struct obj *o, struct error *err)
{
	static const char *const unbuilt[] = {
		"spec.clusters",
		"spec.stages",
		"spec.timeouts",
		"spec.values",
	};
	for (size_t i = 0; i < ARRAY_LEN(unbuilt); i++)
		if (obj_path(o, unbuilt[i]))
			return invalid(
				unbuilt[i],
				"this is not built yet: nothing is applied while it is there; "
				"remove it, and do not count on it",
				err);
	return 0;
}

int bundle_spec_read(const struct obj *o, struct arena *a, struct bundle_spec *b, struct error *err)
{
	const char *adopt = obj_str(o, "spec.adopt"), *ns = obj_str(o, "spec.namespace");
	*b = (struct bundle_spec){.ns = ns ? ns : "default",
				  .max_deletes = obj_i64(o, "spec.prune.maxDeletes", MAX_DELETES),
				  .namespaces = obj_path(o, "spec.prune.namespaces"),
				  .cluster_kinds = obj_path(o, "spec.prune.clusterKinds"),
				  .ignore = obj_path(o, "spec.ignore"),
				  .takes = cstr_eq(adopt, "Any"),
				  .adopts = cstr_eq(adopt, "Any") || cstr_eq(adopt, "Unowned"),
				  .keeps = !cstr_eq(obj_str(o, "spec.drift"), "Report"),
				  .orphans = cstr_eq(obj_str(o, "spec.deletion"), "Orphan"),
				  .spares = cstr_eq(obj_str(o, "spec.prune.mode"), "None"),
				  .paused = obj_flag(o, "spec.paused", false),
				  .rollout = obj_str(o, "spec.rolloutRef.name"),
				  .sweeps = cstr_eq(obj_str(o, "spec.prune.mode"), "Namespace"),
				  .orphans_approved = obj_str(o, "spec.approvals.prune.orphans")};
	if (obj_path(o, "spec.rolloutRef") && !(b->rollout && *b->rollout))
		return invalid("spec.rolloutRef.name", "want a Rollout", err);
	if (read_account(o, a, b, err) < 0 || read_name(o, b, err) < 0 ||
	    read_source(o, a, b, err) < 0 || read_interval(o, b, err) < 0)
		return -err->code;
	if (b->max_deletes < 0)
		return invalid("spec.prune.maxDeletes", "0 or more", err);
	if (read_grace(o, b, err) < 0 || bundle_ignore_check(o, err) < 0 ||
	    check_swept(b, err) < 0 || bundle_renderer_read(o, a, &b->renderer, err) < 0 ||
	    bundle_instances_read(o, a, &b->instances, err) < 0)
		return -err->code;
	return check_unbuilt(o, err);
}

int64_t bundle_rejected_pause(unsigned times)
{
	int64_t ns = REJECTED_NS;
	for (unsigned i = 1; i < times && ns < REJECTED_NSMAX; i++)
		ns *= 2;
	return ns < REJECTED_NSMAX ? ns : REJECTED_NSMAX;
}

/* --- namespaces --- */

static bool lists(const struct obj *list, const char *text)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), text))
			return true;
	return false;
}

/* The entry of spec.prune that an object needs: its Namespace, or its kind. */
struct entry {
	bool is_kind;
	const char *text;
};

static struct entry entry_of(const struct bundle_spec *b, const struct obj *o, bool namespaced)
{
	const char *ns = meta_namespace(o);
	if (namespaced)
		return (struct entry){false, ns ? ns : b->ns};
	if (cstr_eq(meta_kind(o), "Namespace") && cstr_eq(meta_api_version(o), "v1"))
		return (struct entry){false, meta_name(o)};
	return (struct entry){true, meta_kind(o)};
}

static bool has_entry(const struct bundle_spec *b, const struct entry *e)
{
	return lists(e->is_kind ? b->cluster_kinds : b->namespaces, e->text);
}

/* Is it right if its kind is namespaced and wrong if not, or the other way round? */
static bool is_open(const struct bundle_spec *b, const struct obj *o)
{
	const struct entry inside = entry_of(b, o, true), outside = entry_of(b, o, false);
	return has_entry(b, &inside) != has_entry(b, &outside);
}

static int tell_unsure(const struct bundle_spec *b, const struct flat *f,
		       const struct flat_object *x, struct flaws *unsure, struct error *err)
{
	const char *kind = meta_kind(x->object);
	bool as_namespaced = lists(b->namespaces, b->ns);
	const char *text = arena_fmt(
		f->a,
		"%s: %s %s names no namespace, and only a cluster knows whether %s has one: it is "
		"taken if the kind is %s, and refused otherwise unless spec.prune.%s has %s",
		x->key, kind, meta_name(x->object), kind,
		as_namespaced ? "namespaced" : "cluster-scoped",
		as_namespaced ? "clusterKinds" : "namespaces", as_namespaced ? kind : b->ns);
	return flaws_add(unsure, text, err);
}

/* The entries that the two lists lack, each once; what a message has no room for is not named. */
struct lacking {
	struct entry entries[LACKING_MAX];
	size_t n;
};

static void lacking_add(struct lacking *l, struct entry e)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->entries[i].is_kind == e.is_kind && cstr_eq(l->entries[i].text, e.text))
			return;
	if (l->n < LACKING_MAX)
		l->entries[l->n++] = e;
}

static const char *lacking_list(const struct lacking *l, bool kinds, struct arena *a)
{
	const char *list = "";
	for (size_t i = 0; i < l->n; i++)
		if (l->entries[i].is_kind == kinds)
			list = arena_fmt(a, "%s%s%s", list, *list ? ", " : "", l->entries[i].text);
	if (!*list)
		return "";
	return arena_fmt(a, "%s [%s]", kinds ? "clusterKinds" : "namespaces", list);
}

static int tell_lacking(const struct flat *f, const struct lacking *l,
			const struct flat_object *first, size_t n, struct error *err)
{
	const char *ns = lacking_list(l, false, f->a), *kinds = lacking_list(l, true, f->a);
	return error_because(err, E_INVALID, REASON_NAMESPACE_NOT_ALLOWED,
			     "%s: %s %s is outside of spec.prune%s; what it has no entry for: "
			     "%s%s%s",
			     first->key, meta_kind(first->object), meta_name(first->object),
			     n > 1 ? arena_fmt(f->a, ", and so are %zu more", n - 1) : "", ns,
			     *ns && *kinds ? " and " : "", kinds);
}

int bundle_check_namespaces(const struct bundle_spec *b, const struct flat *f,
			    const struct bundle_scopes *scopes, struct error *err)
{
	const struct flat_object *first = NULL;
	struct lacking l = {.n = 0};
	size_t n = 0;
	for (size_t i = 0; b->namespaces && i < f->n; i++) {
		const struct flat_object *x = &f->objects[i];
		int scope = bundle_scope_of(f, x->object, scopes);
		if (scope < 0 && scopes->unsure && is_open(b, x->object)) {
			if (tell_unsure(b, f, x, scopes->unsure, err) < 0)
				return -err->code;
			continue;
		}
		struct entry e = entry_of(b, x->object, scope > 0);
		if (has_entry(b, &e))
			continue;
		first = first ? first : x;
		lacking_add(&l, e);
		n++;
	}
	return first ? tell_lacking(f, &l, first, n, err) : 0;
}
