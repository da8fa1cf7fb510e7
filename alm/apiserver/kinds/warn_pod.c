/* warn_pod: what is told of Pods and templates of them; see warn_parts.h. */
#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_notes.h"
#include "alm/apiserver/kinds/warn_parts.h"
#include "alm/base/arena.h"
#include "alm/obj/meta.h"

/* What a port or an environment is compared with: those before it. Beyond it, nothing is told. */
#define COMPARED_MAX 64

static const char *const of_bytes[] = {"memory", "ephemeral-storage"};

struct told {
	struct field_errors *w;
	const char *prefix;
	const struct obj *meta, *spec;
};

static const char *at_spec(const struct told *t, const char *path)
{
	return arena_fmt(t->w->arena, "%sspec.%s", t->prefix, path);
}

/* --- where it runs --- */

static const char null_selector[] = "a null labelSelector results in matching no pod";

static void warn_of_terms(const struct told *t)
{
	static const char required[] = "affinity.nodeAffinity."
				       "requiredDuringSchedulingIgnoredDuringExecution."
				       "nodeSelectorTerms";
	static const char preferred[] = "affinity.nodeAffinity."
					"preferredDuringSchedulingIgnoredDuringExecution";
	const struct obj *list = obj_path(t->spec, required);
	for (size_t i = 0; i < obj_len(list); i++)
		warn_of_term(t->w, check_at(t->w, at_spec(t, required), i), obj_at(list, i), false);
	list = obj_path(t->spec, preferred);
	for (size_t i = 0; i < obj_len(list); i++)
		warn_of_term(t->w,
			     arena_fmt(t->w->arena, "%s[%zu].preference", at_spec(t, preferred), i),
			     obj_get(obj_at(list, i), "preference"), true);
}

static void warn_of_place(const struct told *t)
{
	const struct obj *list = obj_get(t->spec, "topologySpreadConstraints");
	OBJ_EACH (it, obj_get(t->spec, "nodeSelector")) {
		const char *why = warn_of_label(it.key);
		if (why)
			warn_add(t->w,
				 arena_fmt(t->w->arena, "%s[%s]", at_spec(t, "nodeSelector"),
					   it.key),
				 why);
	}
	warn_of_terms(t);
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *key = check_text(obj_at(list, i), "topologyKey");
		const char *why = warn_of_label(key);
		const char *at = check_at(t->w, at_spec(t, "topologySpreadConstraints"), i);
		if (why)
			field_errors_add(t->w, FIELD_INVALID, check_below(t->w, at, "topologyKey"),
					 "%s is %s", key, why);
		if (!obj_has(obj_at(list, i), "labelSelector"))
			warn_add(t->w, check_below(t->w, at, "labelSelector"), null_selector);
	}
}

static void warn_of_affinity(const struct told *t)
{
	static const struct {
		const char *list, *below, *selector;
	} all[] = {
		{"requiredDuringSchedulingIgnoredDuringExecution", "labelSelector",
		 "labelSelector"},
		{"preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm.labelSelector",
		 "podAffinityTerm.labelSelector"},
	};
	static const char *const of[] = {"podAffinity", "podAntiAffinity"};
	for (size_t k = 0; k < ARRAY_LEN(of) * ARRAY_LEN(all); k++) {
		const char *path =
			arena_fmt(t->w->arena, "affinity.%s.%s", of[k / 2], all[k % 2].list);
		const struct obj *list = obj_path(t->spec, path);
		for (size_t i = 0; i < obj_len(list); i++)
			if (!obj_path(obj_at(list, i), all[k % 2].selector))
				warn_add(t->w,
					 check_below(t->w, check_at(t->w, at_spec(t, path), i),
						     all[k % 2].below),
					 null_selector);
	}
}

/* --- what stands beside containers --- */

static void warn_of_annotations(const struct told *t)
{
	static const char *const gone[][2] = {
		{"scheduler.alpha.kubernetes.io/critical-pod",
		 "non-functional in v1.16+; use the \"priorityClassName\" field instead"},
		{"security.alpha.kubernetes.io/sysctls",
		 "non-functional in v1.11+; use the \"sysctls\" field instead"},
		{"security.alpha.kubernetes.io/unsafe-sysctls",
		 "non-functional in v1.11+; use the \"sysctls\" field instead"},
	};
	for (size_t i = 0; i < ARRAY_LEN(gone); i++)
		if (obj_has(t->meta, gone[i][0]))
			warn_add(t->w,
				 arena_fmt(t->w->arena, "%smetadata.annotations[%s]", t->prefix,
					   gone[i][0]),
				 gone[i][1]);
}

static void warn_of_volumes(const struct told *t)
{
	static const char *const gone[][3] = {
		{"photonPersistentDisk", "photonPersistentDisk",
		 "deprecated in v1.11, non-functional in v1.16+"},
		{"gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
		{"scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
		{"flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"},
		{"storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
		{"quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"},
		{"glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
		{"cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
		{"rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"},
	};
	const struct obj *list = obj_get(t->spec, "volumes");
	for (size_t i = 0; i < obj_len(list); i++)
		for (size_t k = 0; k < ARRAY_LEN(gone); k++)
			if (obj_has(obj_at(list, i), gone[k][0]))
				warn_add(t->w,
					 check_below(t->w, check_at(t->w, at_spec(t, "volumes"), i),
						     gone[k][1]),
					 gone[k][2]);
}

/* Claims of a part of a byte. */
static void warn_of_claims(const struct told *t)
{
	static const char made[] = "ephemeral.volumeClaimTemplate.spec.resources.requests";
	const struct obj *list = obj_get(t->spec, "volumes");
	for (size_t i = 0; i < obj_len(list); i++)
		warn_of_fraction(t->w,
				 check_below(t->w, check_at(t->w, at_spec(t, "volumes"), i), made),
				 obj_path(obj_at(list, i), made), "storage");
}

/* An item that says the same as one before it. */
static void warn_of_again(const struct told *t, const char *list_of, const char *key)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	const struct obj *list = obj_get(t->spec, list_of);
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *is = check_text(obj_at(list, i), key);
		if (check_again(seen, is))
			field_errors_add(
				t->w, FIELD_INVALID,
				check_below(t->w, check_at(t->w, at_spec(t, list_of), i), key),
				"duplicate %s \"%s\"", key, is);
	}
}

static void warn_of_secrets(const struct told *t)
{
	static const char of[] = "imagePullSecrets";
	const struct obj *list = obj_get(t->spec, of);
	warn_of_again(t, of, "name");
	for (size_t i = 0; i < obj_len(list); i++)
		if (check_is_empty(obj_at(list, i), "name"))
			warn_add(t->w, check_below(t->w, check_at(t->w, at_spec(t, of), i), "name"),
				 "invalid empty name \"\"");
}

/* --- containers --- */

/* NULL: the end. In their order: those that come first, the others, those for people who look. */
static const struct obj *container_at(const struct told *t, size_t n, const char **ret_path)
{
	static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct obj *list = obj_get(t->spec, lists[k]);
		if (n < obj_len(list)) {
			*ret_path = check_at(t->w, at_spec(t, lists[k]), n);
			return obj_at(list, n);
		}
		n -= obj_len(list);
	}
	return NULL;
}

static void warn_of_amounts(struct field_errors *w, const char *path, const struct obj *c)
{
	static const char *const lists[] = {"limits", "requests"};
	for (size_t k = 0; k < ARRAY_LEN(of_bytes) * ARRAY_LEN(lists); k++)
		warn_of_fraction(w, arena_fmt(w->arena, "%s.resources.%s", path, lists[k % 2]),
				 obj_get(obj_get(c, "resources"), lists[k % 2]), of_bytes[k / 2]);
}

static const char seccomp_field[] =
	"non-functional in v1.27+; use the \"seccompProfile\" field instead";

static void warn_of_note(const struct told *t, const char *key, const char *why)
{
	warn_add(t->w, arena_fmt(t->w->arena, "%smetadata.annotations[%s]", t->prefix, key), why);
}

/* Profiles that annotations say and fields do not. Of AppArmor a Pod is told when it gets the field. */
static void warn_of_profiles(const struct told *t, const struct obj *c)
{
	const char *name = check_text(c, "name");
	const char *seccomp = arena_fmt(t->w->arena, POD_NOTE_SECCOMP "%s", name);
	const char *armor = arena_fmt(t->w->arena, POD_NOTE_APPARMOR "%s", name);
	if (!obj_len(t->meta))
		return;
	if (obj_has(t->meta, seccomp) && !obj_path(c, "securityContext.seccompProfile"))
		warn_of_note(t, seccomp, seccomp_field);
	if (*t->prefix && obj_has(t->meta, armor) &&
	    !obj_path(c, "securityContext.appArmorProfile") &&
	    !pod_notes_says(obj_get(t->meta, armor),
			    obj_path(t->spec, "securityContext.appArmorProfile")))
		warn_of_note(t, armor,
			     "deprecated since v1.30; use the \"appArmorProfile\" field instead");
}

/* One that is there already is only replaced for good if it says so. */
static void warn_of_env(struct field_errors *w, const char *path, const struct obj *c)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	const struct obj *list = obj_get(c, "env");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *one = obj_at(list, i);
		const char *name = check_text(one, "name"), *value = check_text(one, "value");
		const char *ref = arena_fmt(w->arena, "$(%s)", name);
		if (!check_again(seen, name))
			continue;
		if (obj_has(one, "valueFrom") || cstr_eq(value, ref) || !strstr(value, ref))
			field_errors_add(w, FIELD_INVALID,
					 check_at(w, check_below(w, path, "env"), i),
					 "hides previous definition of \"%s\", which may be "
					 "dropped when using apply",
					 name);
	}
}

struct port {
	const char *path;
	int64_t container, host;
	const char *protocol, *ip, *name;
};

static void warn_of_pair(struct field_errors *w, const struct port *a, const struct port *b)
{
	bool same_ip = cstr_eq(a->ip, b->ip);
	const char *how = same_ip && a->host == b->host                ? "duplicate"
			  : !a->host || !b->host                       ? "overlapping"
			  : a->host == b->host && (!*a->ip || !*b->ip) ? "dangerously ambiguous"
								       : NULL;
	if (how && a->container == b->container && cstr_eq(a->protocol, b->protocol))
		field_errors_add(w, FIELD_INVALID, a->path, "%s port definition with %s", how,
				 b->path);
}

static size_t read_ports(const struct told *t, struct port ports[COMPARED_MAX])
{
	const char *path = NULL;
	const struct obj *c;
	size_t n = 0;
	for (size_t k = 0; (c = container_at(t, k, &path)); k++) {
		const struct obj *list = obj_get(c, "ports");
		for (size_t i = 0; i < obj_len(list) && n < COMPARED_MAX; i++) {
			const struct obj *o = obj_at(list, i);
			ports[n++] = (struct port){
				.path = check_at(t->w, check_below(t->w, path, "ports"), i),
				.container = obj_i64(o, "containerPort", 0),
				.host = obj_i64(o, "hostPort", 0),
				.protocol = check_text(o, "protocol"),
				.ip = check_text(o, "hostIP"),
				.name = check_text(o, "name"),
			};
		}
	}
	return n;
}

static void warn_of_ports(const struct told *t)
{
	struct port *ports = arena_alloc(t->w->arena, COMPARED_MAX * sizeof(*ports));
	size_t n = read_ports(t, ports);
	for (size_t i = 0; i < n; i++) {
		const struct port *p = &ports[i];
		if (*p->ip && !p->host)
			field_errors_add(t->w, FIELD_INVALID, p->path,
					 "hostIP set without hostPort: {Name:%s HostPort:0 "
					 "ContainerPort:%lld Protocol:%s HostIP:%s}",
					 p->name, (long long)p->container, p->protocol, p->ip);
		for (size_t k = 0; k < i; k++)
			warn_of_pair(t->w, p, &ports[k]);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; *ports[i].name && k < i; k++)
			if (cstr_eq(ports[i].name, ports[k].name)) {
				field_errors_add(t->w, FIELD_INVALID, ports[i].path,
						 "duplicate port name \"%s\" with %s, services and "
						 "probes that select ports by name will use %s",
						 ports[i].name, ports[k].path, ports[k].path);
				break;
			}
}

void warn_of_pod(struct field_errors *w, const char *prefix, const struct obj *pod)
{
	const struct told t = {w, prefix, obj_path(pod, "metadata.annotations"),
			       obj_get(pod, "spec")};
	const char *path = NULL;
	const struct obj *c;
	if (obj_type(t.spec) != OBJ_MAP)
		return;
	warn_of_place(&t);
	warn_of_annotations(&t);
	warn_of_volumes(&t);
	warn_of_claims(&t);
	warn_of_paths(w, obj_get(t.spec, "volumes"));
	warn_of_again(&t, "hostAliases", "ip");
	warn_of_secrets(&t);
	for (size_t i = 0; i < ARRAY_LEN(of_bytes); i++)
		warn_of_fraction(w, at_spec(&t, "overhead"), obj_get(t.spec, "overhead"),
				 of_bytes[i]);
	if (obj_has(t.meta, POD_NOTE_SECCOMPS) &&
	    !obj_path(t.spec, "securityContext.seccompProfile"))
		warn_of_note(&t, POD_NOTE_SECCOMPS, seccomp_field);
	for (size_t i = 0; (c = container_at(&t, i, &path)); i++) {
		warn_of_profiles(&t, c);
		warn_of_amounts(w, path, c);
		warn_of_env(w, path, c);
	}
	warn_of_ports(&t);
	if (obj_i64(t.spec, "terminationGracePeriodSeconds", 0) < 0)
		warn_add(w, at_spec(&t, "terminationGracePeriodSeconds"),
			 "must be >= 0; negative values are invalid and will be treated as 1");
	warn_of_affinity(&t);
}
