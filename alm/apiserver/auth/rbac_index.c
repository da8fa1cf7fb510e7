/* rbac_index: see rbac_index.h. */
#include "alm/apiserver/auth/rbac_index.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/meta.h"

#define KEY_BYTES_MAX ((size_t)4 << 20)
#define EVERYBODY     "*"

/* "NAMESPACE/user/NAME": the subject is only found by it, subject_of() in rbac.c compares. */
static char *key_of(const char *ns, const char *kind, const char *name)
{
	struct strbuf b = STRBUF_INIT(KEY_BYTES_MAX);
	strbuf_addf(&b, "%s/%s/%s", ns, kind, name);
	return strbuf_detach(&b);
}

static char *account_key(const char *binding_ns, const char *ns, const char *name)
{
	struct strbuf b = STRBUF_INIT(KEY_BYTES_MAX);
	strbuf_addf(&b, "%s/user/system:serviceaccount:%s:%s", binding_ns, ns ? ns : "", name);
	return strbuf_detach(&b);
}

/* NULL: binds nobody. */
static char *subject_key(const struct obj *subject, const char *binding_ns)
{
	const char *kind = obj_str(subject, "kind"), *name = obj_str(subject, "name");
	const char *ns = obj_str(subject, "namespace");
	if (!kind || !name)
		return NULL;
	if (cstr_eq(kind, "Group"))
		return key_of(binding_ns, "group", name);
	if (cstr_eq(kind, "User"))
		return key_of(binding_ns, "user", name);
	if (!cstr_eq(kind, "ServiceAccount"))
		return NULL;
	if (!obj_has(subject, "namespace"))
		ns = binding_ns;
	return account_key(binding_ns, ns, name);
}

static bool has_key(const struct head_keys *k, const char *key)
{
	for (size_t i = 0; i < k->n; i++)
		if (!strcmp(k->items[i], key))
			return true;
	return false;
}

static void keys_of_binding(const struct obj *o, struct head_keys *ret)
{
	const struct obj *subjects = obj_get(o, "subjects");
	const char *ns = meta_namespace(o) ? meta_namespace(o) : "";
	if (obj_len(subjects) > RBAC_INDEX_SUBJECTS) {
		head_keys_add(ret, key_of(ns, EVERYBODY, ""));
		return;
	}
	for (size_t i = 0; i < obj_len(subjects); i++) {
		CLEANUP(xfreep) char *key = subject_key(obj_at(subjects, i), ns);
		if (key && !has_key(ret, key))
			head_keys_add(ret, STEAL(key));
	}
}

void rbac_index_new(struct store *s)
{
	resource_index(store_resource(s, RBAC_GROUP, "clusterrolebindings"), keys_of_binding);
	resource_index(store_resource(s, RBAC_GROUP, "rolebindings"), keys_of_binding);
}

struct found {
	struct head **items;
	size_t n, cap;
};

static void find(struct found *f, const struct store_table *r, const char *ns, const char *kind,
		 const char *name)
{
	size_t n;
	CLEANUP(xfreep) char *key = key_of(ns, kind, name);
	void *const *heads = resource_by_key(r, key, &n);
	ARRAY_GROW(f->items, f->cap, f->n + n);
	for (size_t i = 0; i < n; i++)
		f->items[f->n++] = heads[i];
}

static int by_name(const void *a, const void *b)
{
	const struct head *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

void rbac_index_each(struct store *s, const char *ns, const struct user_info *u,
		     bool (*fn)(void *arg, const struct obj *o), void *arg)
{
	struct store_table *r =
		store_resource(s, RBAC_GROUP, ns[0] ? "rolebindings" : "clusterrolebindings");
	struct found f = {0};
	find(&f, r, ns, EVERYBODY, "");
	find(&f, r, ns, "user", u->name);
	for (size_t i = 0; i < u->n_groups; i++)
		find(&f, r, ns, "group", u->groups[i]);
	if (f.n)
		qsort(f.items, f.n, sizeof(*f.items), by_name);
	for (size_t i = 0; i < f.n; i++) {
		struct head *h = f.items[i];
		bool again = i && h == f.items[i - 1]; /* by another of its subjects */
		const struct obj *o = again || strcmp(h->ns, ns) != 0 ? NULL : head_obj_hot(h);
		if (o && fn(arg, o))
			break;
	}
	xfree(f.items);
}
