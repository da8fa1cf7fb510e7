/* kinds: the table of served kinds. Rows are few (hundreds), so look-ups go over one sorted array.
 */
#include "alm/apiserver/kinds/kinds.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "alm/apiserver/docs/columns.h"
#include "alm/base/map.h"

struct row {
	struct kind *kind;
	void (*free_kind)(struct kind *kind); /* NULL: a row of the constant table */
};

struct kinds {
	struct row *rows;
	size_t n, cap;
	const struct kind **sorted; /* NULL: to be made again */
	struct map *by_plural;      /* "group/version/plural" -> struct kind, borrowed */
	struct kind *builtin;       /* copies, with their columns filled in */
	uint64_t generation;
	void (*on_remove)(void *arg, const struct kind *kind);
	void *on_remove_arg;
};

static char *plural_key(const char *group, const char *version, const char *plural, char *buf,
			size_t n)
{
	struct str parts[] = {str_of(group), STR("/"), str_of(version), STR("/"), str_of(plural)};
	size_t len = 0;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (!parts[i].ptr || parts[i].len >= n - len)
			return NULL; /* longer than any name can be */
		memcpy(buf + len, parts[i].ptr, parts[i].len);
		len += parts[i].len;
	}
	buf[len] = '\0';
	return buf;
}

#define KEY_MAX (3 * GVK_NAME_MAX + 3)

static void changed(struct kinds *k)
{
	xfree((void *)k->sorted);
	k->sorted = NULL;
	k->generation++;
}

static void add_row(struct kinds *k, struct kind *kind, void (*free_kind)(struct kind *))
{
	char key[KEY_MAX];
	ARRAY_GROW(k->rows, k->cap, k->n + 1);
	k->rows[k->n++] = (struct row){kind, free_kind};
	if (plural_key(kind->group, kind->version, kind->plural, key, sizeof(key)))
		map_set(k->by_plural, key, kind);
	changed(k);
}

struct kinds *kinds_new(void)
{
	return kinds_new_of(NULL);
}

struct kinds *kinds_new_of(const char *group)
{
	struct kinds *k = xcalloc(1, sizeof(*k));
	size_t n;
	const struct kind *builtin = kinds_builtin(&n);
	k->by_plural = map_new(NULL);
	k->builtin = xcalloc(n, sizeof(*k->builtin));
	for (size_t i = 0; i < n; i++) {
		if (group && !cstr_eq(builtin[i].group, group))
			continue;
		struct columns c = columns_of(builtin[i].group, builtin[i].kind);
		k->builtin[i] = builtin[i];
		k->builtin[i].columns = c.items;
		k->builtin[i].n_columns = c.n;
		add_row(k, &k->builtin[i], NULL);
	}
	return k;
}

void kinds_free(struct kinds *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->n; i++)
		if (k->rows[i].free_kind)
			k->rows[i].free_kind(k->rows[i].kind);
	map_free(k->by_plural);
	xfree((void *)k->sorted);
	xfree(k->builtin);
	xfree(k->rows);
	xfree(k);
}

static bool is_builtin(const struct kinds *k, const char *group, const char *plural)
{
	for (size_t i = 0; i < k->n; i++)
		if (!k->rows[i].free_kind && cstr_eq(k->rows[i].kind->group, group) &&
		    cstr_eq(k->rows[i].kind->plural, plural))
			return true;
	return false;
}

bool kinds_add(struct kinds *k, struct kind *kind, void (*free_kind)(struct kind *))
{
	assert(free_kind);
	if (is_builtin(k, kind->group, kind->plural)) {
		free_kind(kind);
		return false;
	}
	add_row(k, kind, free_kind);
	return true;
}

void kinds_on_remove(struct kinds *k, void (*fn)(void *arg, const struct kind *kind), void *arg)
{
	k->on_remove = fn;
	k->on_remove_arg = arg;
}

static void unlist(struct kinds *k, const struct kind *kind)
{
	char key[KEY_MAX];
	if (plural_key(kind->group, kind->version, kind->plural, key, sizeof(key)) &&
	    map_get(k->by_plural, key) == kind)
		map_del(k->by_plural, key);
}

void kinds_remove_crd(struct kinds *k, const char *crd_name)
{
	size_t kept = 0, n_gone = 0;
	CLEANUP(xfreep) struct row *gone = xcalloc(k->n, sizeof(*gone));
	for (size_t i = 0; i < k->n; i++) {
		struct row r = k->rows[i];
		if (!r.free_kind || !cstr_eq(r.kind->crd_name, crd_name)) {
			k->rows[kept++] = r;
			continue;
		}
		unlist(k, r.kind);
		gone[n_gone++] = r;
	}
	k->n = kept;
	if (n_gone)
		changed(k);
	/* The table is whole again: the listener may look a kind up. */
	for (size_t i = 0; i < n_gone; i++) {
		if (k->on_remove)
			k->on_remove(k->on_remove_arg, gone[i].kind);
		gone[i].free_kind(gone[i].kind);
	}
}

uint64_t kinds_generation(const struct kinds *k)
{
	return k->generation;
}

const struct kind *kinds_find(const struct kinds *k, const char *group, const char *version,
			      const char *plural)
{
	char key[KEY_MAX];
	return plural_key(group, version, plural, key, sizeof(key)) ? map_get(k->by_plural, key)
								    : NULL;
}

const struct kind *kinds_find_kind(const struct kinds *k, const char *group, const char *version,
				   const char *kind)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct kind *row = k->rows[i].kind;
		if (cstr_eq(row->kind, kind) && cstr_eq(row->group, group) &&
		    cstr_eq(row->version, version))
			return row;
	}
	return NULL;
}

const struct kind *kinds_storage(const struct kinds *k, const char *group, const char *plural)
{
	const char *storage_group = group;
	for (size_t i = 0; i < k->n; i++) {
		const struct kind *row = k->rows[i].kind;
		if (cstr_eq(row->group, group) && cstr_eq(row->plural, plural) &&
		    row->storage_group)
			storage_group = row->storage_group;
	}
	for (size_t i = 0; i < k->n; i++) {
		const struct kind *row = k->rows[i].kind;
		if (cstr_eq(row->group, storage_group) && cstr_eq(row->plural, plural) &&
		    row->flags & KIND_STORAGE)
			return row;
	}
	return NULL;
}

const struct kind *kinds_any(const struct kinds *k, const char *group, const char *plural)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct kind *row = k->rows[i].kind;
		if (cstr_eq(row->group, group) && cstr_eq(row->plural, plural))
			return row;
	}
	return NULL;
}

bool kinds_has_group(const struct kinds *k, const char *group)
{
	for (size_t i = 0; i < k->n; i++)
		if (cstr_eq(k->rows[i].kind->group, group))
			return true;
	return false;
}

bool kinds_has_group_version(const struct kinds *k, const char *group, const char *version)
{
	for (size_t i = 0; i < k->n; i++)
		if (cstr_eq(k->rows[i].kind->group, group) &&
		    cstr_eq(k->rows[i].kind->version, version))
			return true;
	return false;
}

static int row_cmp(const void *a, const void *b)
{
	const struct kind *x = *(const struct kind *const *)a, *y = *(const struct kind *const *)b;
	int r = strcmp(x->group, y->group);
	if (!r)
		r = kube_version_cmp(x->version, y->version);
	if (!r)
		r = strcmp(x->plural, y->plural);
	return r ? r : strcmp(x->kind, y->kind);
}

const struct kind *const *kinds_all(struct kinds *k, size_t *ret_n)
{
	*ret_n = k->n;
	if (!k->sorted) {
		k->sorted = (const struct kind **)xcalloc(k->n, sizeof(*k->sorted));
		for (size_t i = 0; i < k->n; i++)
			k->sorted[i] = k->rows[i].kind;
		qsort((void *)k->sorted, k->n, sizeof(*k->sorted), row_cmp);
	}
	return k->sorted;
}

const char *kind_api_version(const struct kind *k, struct arena *a)
{
	return k->group[0] ? arena_fmt(a, "%s/%s", k->group, k->version) : k->version;
}

const struct schema *kind_form_schema(const struct kind *k, const char *version)
{
	for (size_t i = 0; i < k->n_forms; i++)
		if (cstr_eq(k->forms[i].version, version))
			return k->forms[i].schema;
	return NULL;
}

bool kind_fits_namespace(const struct kind *k, const char *ns)
{
	return ((k->flags & KIND_NAMESPACED) != 0) == (*ns != '\0');
}

bool kind_has_subresource(const struct kind *k, const char *name)
{
	return *name == '\0' || (cstr_eq(name, "status") && (k->flags & KIND_STATUS)) ||
	       (cstr_eq(name, "scale") && (k->flags & KIND_SCALE)) || kind_subresource(k, name);
}
