/* path: the calls of obj.h that take "spec.upgrade.mode". */
#include <assert.h>
#include <string.h>

#include "alm/obj/obj.h"

#define NAME_MAX_BYTES 512 /* of one step; an annotation key has at most 317 */

struct step {
	char name[NAME_MAX_BYTES];
	bool is_index;
	uint64_t index;
};

static bool step_name(struct step *s, struct str name)
{
	if (name.len >= sizeof(s->name))
		return false;
	if (name.len)
		memcpy(s->name, name.ptr, name.len);
	s->name[name.len] = '\0';
	s->is_index = false;
	return true;
}

/* "[0]" or "['a.b']" at the front of *rest. */
static bool step_bracket(struct str *rest, struct step *ret)
{
	struct str s = str_skip(*rest, 1);
	ptrdiff_t end;
	if (s.len && (s.ptr[0] == '\'' || s.ptr[0] == '"')) {
		char close[2] = {s.ptr[0], ']'};
		s = str_skip(s, 1);
		end = str_find(s, str_n(close, 2));
		if (end < 0 || !step_name(ret, str_sub(s, 0, (size_t)end)))
			return false;
		*rest = str_skip(s, (size_t)end + 2);
		return true;
	}
	end = str_find_char(s, ']');
	if (end < 0 || !str_parse_u64(str_sub(s, 0, (size_t)end), &ret->index))
		return false;
	ret->is_index = true;
	*rest = str_skip(s, (size_t)end + 1);
	return true;
}

/* The next step; false at the end and for a malformed rest (which stays non-empty). */
static bool step_next(struct str *rest, struct step *ret)
{
	if (!rest->len)
		return false;
	if (rest->ptr[0] == '[')
		return step_bracket(rest, ret);
	struct str s = rest->ptr[0] == '.' ? str_skip(*rest, 1) : *rest;
	size_t n = 0;
	while (n < s.len && s.ptr[n] != '.' && s.ptr[n] != '[')
		n++;
	if (!n || !step_name(ret, str_sub(s, 0, n)))
		return false;
	*rest = str_skip(s, n);
	return true;
}

const struct obj *obj_path(const struct obj *o, const char *path)
{
	struct str rest = str_of(path);
	struct step s;
	while (o && step_next(&rest, &s))
		o = s.is_index ? obj_at(o, s.index) : obj_get(o, s.name);
	return rest.len ? NULL : o;
}

const char *obj_str(const struct obj *o, const char *path)
{
	return obj_as_string(obj_path(o, path));
}

int64_t obj_i64(const struct obj *o, const char *path, int64_t fallback)
{
	int64_t v = fallback;
	obj_as_i64(obj_path(o, path), &v);
	return v;
}

bool obj_flag(const struct obj *o, const char *path, bool fallback)
{
	const struct obj *v = obj_path(o, path);
	return obj_type(v) == OBJ_BOOL ? obj_is_true(v) : fallback;
}

static struct obj *step_into(struct obj *o, const struct step *s)
{
	return s->is_index ? obj_at_mut(o, s->index) : obj_get_mut(o, s->name);
}

void obj_set_path(struct obj *o, const char *path, struct obj *value)
{
	struct str rest = str_of(path);
	struct step s;
	bool ok = step_next(&rest, &s);
	while (ok && rest.len) {
		struct obj *child = step_into(o, &s);
		/* What is in the way gives way: it came from outside, the path did not. */
		enum obj_type want =
			rest.ptr[0] == '[' && char_is_digit(rest.ptr[1]) ? OBJ_LIST : OBJ_MAP;
		if (!s.is_index && obj_type(child) != want) {
			obj_set(o, s.name, want == OBJ_MAP ? obj_map() : obj_list());
			child = obj_get_mut(o, s.name);
		}
		o = child;
		ok = step_next(&rest, &s);
	}
	assert(ok && o); /* a path is a constant of the program */
	if (s.is_index)
		obj_set_at(o, s.index, value);
	else
		obj_set(o, s.name, value);
}

void obj_del_path(struct obj *o, const char *path)
{
	struct str rest = str_of(path);
	struct step s;
	while (o && step_next(&rest, &s)) {
		if (rest.len) {
			o = step_into(o, &s);
			continue;
		}
		if (!s.is_index)
			obj_del(o, s.name);
		else if (s.index < obj_len(o) && obj_type(o) == OBJ_LIST)
			obj_del_at(o, s.index);
		return;
	}
}
