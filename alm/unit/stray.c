#include "alm/unit/stray.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/map.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/unit/unit.h"
#include "crds/marks.h"

/* --- what is nobody's stray --- */

/* Made by Kubernetes itself, and made again where somebody deletes it. group NULL: any; name NULL: all of
 * the kind. */
static const struct {
	const char *group, *kind, *ns, *name;
} made[] = {
	{"", "ConfigMap", NULL, "kube-root-ca.crt"},
	{"", "ServiceAccount", NULL, "default"},
	{"", "Service", "default", "kubernetes"}, /* the API server's own address */
	{NULL, "Event", NULL, NULL},              /* also of events.k8s.io */
	{"", "Endpoints", NULL, NULL},
	{"discovery.k8s.io", "EndpointSlice", NULL, NULL},
	{"coordination.k8s.io", NULL, NULL, NULL}, /* Leases, and who wants one */
	{"storage.k8s.io", "CSIStorageCapacity", NULL, NULL},
};

/* What a Bundle deletes by (spec.serviceAccountName) may be among them: it could put nothing back. */
static const struct {
	const char *group, *kind;
} rights[] = {
	{"", "ServiceAccount"},
	{"rbac.authorization.k8s.io", "Role"},
	{"rbac.authorization.k8s.io", "RoleBinding"},
	{"authorization.openshift.io", "Role"}, /* which shows those of the former */
	{"authorization.openshift.io", "RoleBinding"},
};

static bool fits(const char *want, const char *is)
{
	return !want || cstr_eq(want, is);
}

static bool is_made_by_kubernetes(const struct obj *o)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 12);
	struct gvk g = {"", "", ""};
	gvk_of(o, a, &g);
	for (size_t i = 0; i < ARRAY_LEN(made); i++)
		if (fits(made[i].group, g.group) && fits(made[i].kind, g.kind) &&
		    fits(made[i].ns, meta_namespace(o)) && fits(made[i].name, meta_name(o)))
			return true;
	/* the token of an account, and the mirror of a Pod that a node's own file is */
	return meta_annotation(o, "kubernetes.io/service-account.name") ||
	       meta_annotation(o, "kubernetes.io/config.mirror");
}

static bool gives_rights(const struct obj *o)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 12);
	struct gvk g = {"", "", ""};
	gvk_of(o, a, &g);
	for (size_t i = 0; i < ARRAY_LEN(rights); i++)
		if (cstr_eq(rights[i].group, g.group) && cstr_eq(rights[i].kind, g.kind))
			return true;
	return false;
}

static bool is_of_helm(const struct obj *o)
{
	return meta_annotation(o, "meta.helm.sh/release-name") ||
	       (cstr_eq(meta_label(o, "owner"), "helm") &&
		cstr_has_prefix(meta_name(o), "sh.helm.release."));
}

static bool is_marked(const struct obj *o)
{
	return meta_label(o, LABEL_APP) || meta_label(o, LABEL_STRATEGY) ||
	       meta_label(o, LABEL_BUNDLE) || meta_annotation(o, ANNOTATION_OWNER_ID);
}

static bool lists(const struct obj *list, const char *text)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), text))
			return true;
	return false;
}

const char *stray_spares(const struct obj *o, const struct obj *namespaces)
{
	const char *ns = meta_namespace(o);
	if (!ns || !*ns || !lists(namespaces, ns))
		return "it is in none of the namespaces";
	if (meta_owner_count(o))
		return "it has an owner";
	if (unit_is_kept(o) || cstr_eq(meta_annotation(o, ANNOTATION_PRUNE), "disabled"))
		return "it is kept in any case";
	if (is_made_by_kubernetes(o))
		return "Kubernetes makes it";
	if (gives_rights(o))
		return "rights hang on it";
	if (is_of_helm(o))
		return "it is of a Helm release";
	/* whose mark it is, stray_list() knows */
	return NULL;
}

/* --- rows --- */

static void copy_text(struct obj *to, const struct obj *from, const char *field)
{
	const char *text = obj_str(from, field);
	if (text)
		obj_set_str(to, field, text);
}

/* Who wrote it first, as far as its fields still say so; what controllers wrote of its status aside. */
static const char *first_manager(const struct obj *meta)
{
	const struct obj *entries = obj_get(meta, "managedFields"), *first = NULL;
	for (size_t i = 0; i < obj_len(entries); i++) {
		const struct obj *e = obj_at(entries, i);
		const char *time = obj_str(e, "time"), *before = obj_str(first, "time");
		bool earlier = !first || (time && before && strcmp(time, before) < 0);
		if (!obj_str(e, "subresource") && earlier)
			first = e;
	}
	const char *name = obj_str(first, "manager");
	return name ? name : "";
}

/* Annotations are long, and of no use here. */
struct obj *stray_row(const struct obj *o)
{
	static const char *const copied[] = {"name", "namespace", "uid", "resourceVersion",
					     "deletionTimestamp"};
	static const char *const labels[] = {LABEL_APP, LABEL_STRATEGY, LABEL_BUNDLE};
	const struct obj *meta = obj_get(o, "metadata");
	struct obj *row = obj_map(), *m = obj_map();
	copy_text(row, o, "apiVersion");
	copy_text(row, o, "kind");
	for (size_t i = 0; i < ARRAY_LEN(copied); i++)
		copy_text(m, meta, copied[i]);
	if (obj_get(meta, "finalizers"))
		obj_set(m, "finalizers", obj_ref(obj_get(meta, "finalizers")));
	obj_set(row, "metadata", m);
	for (size_t i = 0; i < ARRAY_LEN(labels); i++)
		if (meta_label(o, labels[i]))
			meta_set_label(row, labels[i], meta_label(o, labels[i]));
	if (meta_annotation(o, ANNOTATION_OWNER_ID))
		meta_set_annotation(row, ANNOTATION_OWNER_ID,
				    meta_annotation(o, ANNOTATION_OWNER_ID));
	obj_set_str(row, "by", first_manager(meta));
	return row;
}

/* --- the list --- */

static const char *id_of(const struct obj *row, struct arena *a)
{
	const struct inventory_line l = {.api_version = meta_api_version(row),
					 .kind = meta_kind(row),
					 .ns = meta_namespace(row),
					 .name = meta_name(row)};
	return inventory_id(&l, a);
}

static bool is_whole(const struct obj *row)
{
	return meta_api_version(row) && meta_kind(row) && meta_name(row) && meta_namespace(row) &&
	       meta_uid(row) && meta_resource_version(row);
}

static int compare(const void *pa, const void *pb)
{
	const struct stray *x = pa, *y = pb;
	int r = strcmp(meta_namespace(x->row), meta_namespace(y->row));
	r = r ? r : strcmp(meta_kind(x->row), meta_kind(y->row));
	r = r ? r : strcmp(meta_name(x->row), meta_name(y->row));
	return r ? r : strcmp(x->id, y->id);
}

/* Of whatever group and version: a server may show an object in two of them, with another uid in each, and
 * whoever deletes the one deletes the other. */
static const char *name_of(const char *kind, const char *ns, const char *name, struct arena *a)
{
	return arena_fmt(a, "%s/%s/%s", kind, ns ? ns : "", name);
}

/* Names, and uids: neither can be taken for the other, as a uid has no slash. */
static struct map *names_of(const struct inventory *lines, struct arena *a)
{
	struct map *m = map_new(NULL);
	for (size_t i = 0; i < lines->n; i++) {
		const struct inventory_line *l = &lines->lines[i];
		map_set(m, name_of(l->kind, l->ns, l->name, a), NULL);
		if (lines->lines[i].uid)
			map_set(m, lines->lines[i].uid, NULL);
	}
	return m;
}

struct stray *stray_list(const struct obj *rows, const struct inventory *lines,
			 const char *owner_id, struct arena *a, size_t *ret_n, size_t *ret_total)
{
	CLEANUP(map_freep) struct map *known = names_of(lines, a);
	size_t n = 0, n_rows = obj_len(rows);
	struct stray *list = ARENA_ARRAY(a, struct stray, n_rows + 1);
	for (size_t i = 0; i < n_rows; i++) {
		const struct obj *row = obj_at(rows, i);
		bool ours = cstr_eq(meta_annotation(row, ANNOTATION_OWNER_ID), owner_id) &&
			    !meta_label(row, LABEL_APP) && !meta_label(row, LABEL_STRATEGY);
		if (!is_whole(row) || (is_marked(row) && !ours))
			continue;
		if (map_has(known,
			    name_of(meta_kind(row), meta_namespace(row), meta_name(row), a)) ||
		    map_has(known, meta_uid(row)))
			continue;
		map_set(known, meta_uid(row), NULL); /* once, as whatever kind */
		list[n++] = (struct stray){row, id_of(row, a), meta_is_deleting(row)};
	}
	qsort(list, n, sizeof(*list), compare);
	*ret_total = n;
	*ret_n = n < STRAYS_MAX ? n : STRAYS_MAX;
	return list;
}

void stray_digest(const struct stray *list, size_t n, char ret[SHA256_HEX])
{
	CLEANUP(sha256_freep) struct sha256 *h = sha256_new();
	unsigned char sum[SHA256_BYTES];
	for (size_t i = 0; i < n; i++) {
		const char *uid = meta_uid(list[i].row);
		if (!list[i].deleting)
			sha256_add(h, uid, strlen(uid) + 1);
	}
	sha256_final(h, sum);
	hex_encode(sum, sizeof(sum), ret);
}

bool stray_is_reserved(const char *ns)
{
	return cstr_eq(ns, SYSTEM_NAMESPACE) || cstr_has_prefix(ns, CLUSTER_NAMESPACES) ||
	       cstr_has_prefix(ns, "kube-");
}
