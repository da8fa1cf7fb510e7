#include "alm/unit/theirs.h"

#include <string.h>

#include "alm/base/str.h"

/* A member, or an item of a list: by its number, or by its name. */
struct step {
	struct str name;
	bool is_number;
	uint64_t number;
};

/* --- paths --- */

static bool read_bracket(struct str *rest, struct step *ret)
{
	bool quoted = str_has_prefix(*rest, STR("[\""));
	size_t from = quoted ? 2 : 1;
	const char *text = rest->ptr + from;
	size_t left = rest->len - from;
	const char *end = quoted ? memmem(text, left, "\"]", 2) : memchr(text, ']', left);
	if (!end || end == text)
		return false;
	ret->name = (struct str){text, (size_t)(end - text)};
	ret->is_number = !quoted;
	*rest = str_sub(*rest, (size_t)(end - rest->ptr) + (quoted ? 2 : 1), rest->len);
	return quoted || str_parse_u64(ret->name, &ret->number);
}

/* The front of *rest. */
static bool read_step(struct str *rest, bool first, struct step *ret)
{
	*ret = (struct step){.number = 0};
	if (rest->len && rest->ptr[0] == '[')
		return read_bracket(rest, ret);
	if (!first) {
		if (!rest->len || rest->ptr[0] != '.')
			return false;
		*rest = str_sub(*rest, 1, rest->len);
	}
	size_t n = 0;
	while (n < rest->len && !strchr(".[]\"' /", rest->ptr[n]))
		n++;
	ret->name = str_sub(*rest, 0, n);
	*rest = str_sub(*rest, n, rest->len);
	return n > 0;
}

static bool read_path(const char *path, struct step steps[THEIRS_STEPS_MAX], size_t *ret_n)
{
	struct str rest = str_of(path);
	for (*ret_n = 0; rest.len; ++*ret_n)
		if (*ret_n == THEIRS_STEPS_MAX || !read_step(&rest, !*ret_n, &steps[*ret_n]))
			return false;
	return *ret_n > 0;
}

static bool is_mark(const struct step *s, size_t n)
{
	bool open = n == 3 && !s[2].is_number &&
		    (str_is(s[1].name, "labels") || str_is(s[1].name, "annotations"));
	return !open || str_has_prefix(s[2].name, STR("app.coreos.com/"));
}

int theirs_check(const char *path, struct error *err)
{
	struct step s[THEIRS_STEPS_MAX];
	size_t n;
	if (strlen(path) > THEIRS_PATH_MAX || !read_path(path, s, &n))
		return error_set(
			err, E_INVALID,
			"\"%.*s\" is no path of a field; one is spec.replicas, data[\"a.b\"] "
			"or spec.template.spec.containers[\"app\"].image",
			80, path);
	bool is_identity = str_is(s[0].name, "apiVersion") || str_is(s[0].name, "kind") ||
			   str_is(s[0].name, "status") || s[0].is_number;
	if (is_identity || (str_is(s[0].name, "metadata") && is_mark(s, n)))
		return error_set(err, E_INVALID,
				 "\"%s\": which object it is, its status and the marks of ALM "
				 "cannot be somebody else's; of metadata, one of its labels or "
				 "annotations can",
				 path);
	return 0;
}

/* --- taking --- */

/* Where a step leads in a list; its length: nowhere. */
static size_t item_of(const struct obj *list, const struct step *s)
{
	size_t n = obj_len(list);
	if (s->is_number)
		return s->number < n ? (size_t)s->number : n;
	for (size_t i = 0; i < n; i++)
		if (str_eq(obj_as_str(obj_get(obj_at(list, i), "name")), s->name))
			return i;
	return n;
}

static const struct obj *child(const struct obj *o, const struct step *s, struct arena *a)
{
	if (obj_type(o) == OBJ_LIST)
		return obj_at(o, item_of(o, s));
	if (obj_type(o) != OBJ_MAP || s->is_number)
		return NULL;
	return obj_get(o, arena_strndup(a, s->name.ptr, s->name.len));
}

/* What is live of an item of want's list. A number counts what is declared: live, items of somebody
 * else may stand before it, so it goes by its name there, unless the name is what is taken. */
static const struct obj *item_live(const struct obj *want, const struct obj *live,
				   const struct step *s, size_t n)
{
	const struct obj *name = obj_get(obj_at(want, item_of(want, s)), "name");
	if (obj_type(live) != OBJ_LIST)
		return NULL;
	if (!s->is_number || obj_type(name) != OBJ_STRING)
		return obj_at(live, item_of(live, s));
	const struct step by_name = {.name = obj_as_str(name)};
	const struct obj *there = obj_at(live, item_of(live, &by_name));
	bool is_name = n == 1 || (n == 2 && str_is(s[1].name, "name"));
	return there || !is_name ? there : obj_at(live, item_of(live, s));
}

/* live NULL: it is taken out. */
static void put(struct obj *o, const struct step *s, const struct obj *live, struct arena *a)
{
	if (obj_type(o) == OBJ_LIST) {
		obj_set_at(o, item_of(o, s), obj_ref(live));
		return;
	}
	const char *key = arena_strndup(a, s->name.ptr, s->name.len);
	if (live)
		obj_set(o, key, obj_ref(live));
	else
		obj_del(o, key);
}

/* NOLINTBEGIN(misc-no-recursion): at most THEIRS_STEPS_MAX deep */
static void take(struct obj *want, const struct obj *live, const struct step *s, size_t n,
		 struct arena *a)
{
	bool is_item = obj_type(want) == OBJ_LIST;
	if (!child(want, s, a))
		return;
	const struct obj *there = is_item ? item_live(want, live, s, n) : child(live, s, a);
	if (!there && is_item)
		return; /* the item is made now: as declared */
	if (n == 1) {
		put(want, s, there, a);
		return;
	}
	struct obj *below = is_item ? obj_at_mut(want, item_of(want, s))
				    : obj_get_mut(want, arena_strndup(a, s->name.ptr, s->name.len));
	take(below, there, s + 1, n - 1, a);
	if (!there && obj_type(below) == OBJ_MAP && !obj_len(below))
		put(want, s, NULL, a); /* it was there for that field alone */
}
/* NOLINTEND(misc-no-recursion) */

const struct obj *theirs_take(const struct obj *want, const struct obj *live,
			      const struct obj *paths, struct arena *a)
{
	struct step s[THEIRS_STEPS_MAX];
	size_t n;
	if (!live || !obj_len(paths))
		return want;
	struct obj *copy = obj_keep(a, obj_copy(want));
	for (size_t i = 0; i < obj_len(paths); i++) {
		const char *path = obj_as_string(obj_at(paths, i));
		if (path && read_path(path, s, &n))
			take(copy, live, s, n, a);
	}
	return copy;
}

/* --- telling --- */

bool theirs_begins(const char *path, const char *member)
{
	struct str rest = str_of(path);
	struct step s;
	return read_step(&rest, true, &s) && !s.is_number && str_is(s.name, member);
}

/* In a list of live: do both lead to the same item? Else: is it the same member? */
static bool is_same(const struct obj *want, const struct obj *live, const struct step *rule,
		    size_t n, const struct step *field)
{
	if (obj_type(live) == OBJ_LIST) {
		const struct obj *item = obj_at(live, item_of(live, field));
		return item && item == item_live(want, live, rule, n);
	}
	return rule->is_number == field->is_number &&
	       (rule->is_number ? rule->number == field->number : str_eq(rule->name, field->name));
}

static bool leads_to(const struct step *rule, size_t n, const struct obj *want,
		     const struct obj *live, const char *field, struct arena *a)
{
	struct str rest = str_of(field);
	for (size_t i = 0; i < n; i++) {
		struct step f;
		if (!read_step(&rest, !i, &f) || !is_same(want, live, &rule[i], n - i, &f))
			return false;
		want = child(want, &rule[i], a);
		live = child(live, &f, a);
	}
	return true;
}

bool theirs_has(const struct obj *paths, const struct obj *want, const struct obj *live,
		const char *field, struct arena *a)
{
	struct step s[THEIRS_STEPS_MAX];
	size_t n;
	for (size_t i = 0; i < obj_len(paths); i++) {
		const char *path = obj_as_string(obj_at(paths, i));
		if (path && read_path(path, s, &n) && leads_to(s, n, want, live, field, a))
			return true;
	}
	return false;
}
