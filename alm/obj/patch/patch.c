/* patch: JSON merge patch (RFC 7396), both directions, and JSON patch (RFC 6902). */
#include "alm/obj/patch/patch.h"

#include <assert.h>
#include <string.h>

#include "alm/obj/json.h"

#define COPIED_BYTES_MAX \
	((size_t)3 << 20) /* of all "copy" operations, as the API server has it \
			   */
/* Elements of lists that move up or down for one that is added or removed before them. */
#define MOVED_MAX ((size_t)100 << 20)

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static struct obj *merged(const struct obj *doc, const struct obj *patch)
{
	if (obj_type(patch) == OBJ_LIST) { /* the maps in it have no nulls, either */
		struct obj *list = obj_list();
		for (size_t i = 0; i < obj_len(patch); i++)
			obj_append(list, merged(NULL, obj_at(patch, i)));
		return list;
	}
	if (obj_type(patch) != OBJ_MAP)
		return obj_copy(patch);
	struct obj *out = obj_map();
	OBJ_EACH (it, doc) {
		const struct obj *p = obj_get(patch, it.key);
		if (obj_type(p) == OBJ_ABSENT)
			obj_set(out, it.key, obj_copy(it.value));
		else if (obj_type(p) != OBJ_NULL)
			obj_set(out, it.key, merged(it.value, p));
	}
	OBJ_EACH (it, patch)
		if (obj_type(it.value) != OBJ_NULL && !obj_has(doc, it.key))
			obj_set(out, it.key, merged(NULL, it.value));
	return out;
}

/* NOLINTEND(misc-no-recursion) */

int patch_merge(const struct obj *doc, const struct obj *patch, struct obj **ret, struct error *err)
{
	if (obj_type(patch) == OBJ_ABSENT)
		return error_set(err, E_BADREQUEST, "no patch");
	*ret = merged(doc, patch);
	return 0;
}

/* RFC 6901, split at the last token: the container and its member. */
struct place {
	struct obj *parent; /* NULL: the whole document */
	char token[PATCH_TOKEN_MAX + 1];
};

static int pointer_token(struct str *rest, char out[PATCH_TOKEN_MAX + 1], struct error *err)
{
	struct str token;
	size_t n = 0;
	str_next(rest, '/', &token);
	for (size_t i = 0; i < token.len; i++) {
		char c = token.ptr[i];
		if (c == '~') {
			c = ++i < token.len ? token.ptr[i] : '\0';
			if (c != '0' && c != '1')
				return error_set(err, E_BADREQUEST,
						 "json pointer with a bad escape: %.*s",
						 STR_ARG(token));
			c = c == '0' ? '~' : '/';
		}
		if (n == PATCH_TOKEN_MAX)
			return error_set(err, E_BADREQUEST,
					 "json pointer with a token of more than %d bytes",
					 PATCH_TOKEN_MAX);
		out[n++] = c;
	}
	out[n] = '\0';
	return 0;
}

/* "0", "17"; no sign, no leading zero. */
static bool list_index(const char *token, size_t *ret)
{
	uint64_t i;
	struct str s = str_of(token);
	if ((s.len > 1 && s.ptr[0] == '0') || !str_parse_u64(s, &i) || i > SIZE_MAX)
		return false;
	*ret = (size_t)i;
	return true;
}

static struct obj *child(struct obj *o, const char *token)
{
	size_t i;
	if (obj_type(o) == OBJ_LIST)
		return list_index(token, &i) ? obj_at_mut(o, i) : NULL;
	return obj_get_mut(o, token);
}

/* As that library words it; "copy from", "move from": what is missing is what they take. */
static int missing(const char *op, const char *path, struct error *err)
{
	static const struct {
		const char *op, *name, *what;
		bool quoted;
	} words[] = {
		{"add", "add", "doc is missing path", true},
		{"remove", "remove", "doc is missing path", true},
		{"replace", "replace", "doc is missing path", false},
		{"test", "test", "is missing path", false},
		{"copy", "copy", "doc is missing destination path", false},
		{"move", "move", "doc is missing destination path", false},
		{"copy from", "copy", "doc is missing from path", false},
		{"move from", "move", "doc is missing from path", false},
	};
	size_t i = 0;
	while (i < ARRAY_LEN(words) && strcmp(words[i].op, op) != 0)
		i++;
	assert(i < ARRAY_LEN(words));
	const char *quote = words[i].quoted ? "\"" : "";
	return error_set(err, E_INVALID, "%s operation does not apply: %s: %s%s%s: missing value",
			 words[i].name, words[i].what, quote, path, quote);
}

static int resolve(struct obj *doc, const char *op, const char *path, struct place *ret,
		   struct error *err)
{
	struct str rest = str_of(path);
	ret->parent = NULL;
	if (!rest.len)
		return 0;
	if (rest.len > PATCH_POINTER_MAX)
		return error_set(err, E_BADREQUEST, "json pointer of more than %d bytes",
				 PATCH_POINTER_MAX);
	if (rest.ptr[0] != '/')
		return error_set(err, E_BADREQUEST, "json pointer must start with /: %.64s", path);
	rest = str_skip(rest, 1);
	ret->parent = doc;
	for (size_t depth = 0; depth < OBJ_DEPTH_MAX; depth++) {
		if (pointer_token(&rest, ret->token, err) < 0)
			return -err->code;
		if (!rest.ptr)
			return 0;
		ret->parent = child(ret->parent, ret->token);
		if (!ret->parent)
			return missing(op, path, err);
	}
	return error_set(err, E_INVALID, "json pointer deeper than %d", OBJ_DEPTH_MAX);
}

static const struct obj *value_at(struct obj *doc, const struct place *p)
{
	return p->parent ? child(p->parent, p->token) : doc;
}

struct json_patch {
	struct obj *doc; /* owned */
	size_t copied, moved;
	struct error *err;
};

/* Before element i of list is added or removed. */
static int charge_move(struct json_patch *j, const struct obj *list, size_t i)
{
	j->moved += obj_len(list) - i;
	if (j->moved > MOVED_MAX)
		return error_set(j->err, E_TOOLARGE,
				 "json patch moves list elements more than %zu times", MOVED_MAX);
	return 0;
}

static int add(struct json_patch *j, const char *op, const char *path, struct obj *value)
{
	CLEANUP(obj_unrefp) struct obj *v = value;
	struct place p;
	if (resolve(j->doc, op, path, &p, j->err) < 0)
		return -j->err->code;
	if (!p.parent) {
		obj_unref(j->doc);
		j->doc = STEAL(v);
		return 0;
	}
	size_t i = obj_len(p.parent);
	if (obj_type(p.parent) == OBJ_MAP) {
		obj_set(p.parent, p.token, STEAL(v));
		return 0;
	}
	if (obj_type(p.parent) != OBJ_LIST ||
	    (strcmp(p.token, "-") != 0 && !list_index(p.token, &i)) || i > obj_len(p.parent))
		return missing(op, path, j->err);
	if (charge_move(j, p.parent, i) < 0)
		return -j->err->code;
	obj_insert_at(p.parent, i, STEAL(v));
	return 0;
}

static int take(struct json_patch *j, const char *op, const char *path, struct obj **ret)
{
	struct place p;
	size_t i;
	if (resolve(j->doc, op, path, &p, j->err) < 0)
		return -j->err->code;
	const struct obj *found = value_at(j->doc, &p);
	if (!found || !p.parent)
		return missing(op, path, j->err);
	bool in_list = obj_type(p.parent) == OBJ_LIST && list_index(p.token, &i);
	if (in_list && charge_move(j, p.parent, i) < 0)
		return -j->err->code;
	*ret = obj_ref(found);
	if (in_list)
		obj_del_at(p.parent, i);
	else
		obj_del(p.parent, p.token);
	return 0;
}

static int replace(struct json_patch *j, const char *path, struct obj *value)
{
	CLEANUP(obj_unrefp) struct obj *v = value;
	struct place p;
	size_t i;
	if (resolve(j->doc, "replace", path, &p, j->err) < 0)
		return -j->err->code;
	if (!p.parent)
		return add(j, "replace", path, STEAL(v));
	if (!value_at(j->doc, &p) && obj_type(p.parent) != OBJ_MAP)
		return missing("replace", path, j->err);
	if (obj_type(p.parent) == OBJ_LIST && list_index(p.token, &i))
		obj_set_at(p.parent, i, STEAL(v));
	else
		obj_set(p.parent, p.token, STEAL(v));
	return 0;
}

static int copy(struct json_patch *j, const char *from, const char *path)
{
	struct place p;
	if (resolve(j->doc, "copy from", from, &p, j->err) < 0)
		return -j->err->code;
	const struct obj *found = value_at(j->doc, &p);
	if (!found && obj_type(p.parent) == OBJ_MAP)
		return add(j, "copy", path, obj_null());
	if (!found)
		return missing("copy from", from, j->err);
	CLEANUP(xfreep) char *text = json_text(found);
	j->copied += strlen(text);
	if (j->copied > COPIED_BYTES_MAX)
		return error_set(j->err, E_TOOLARGE, "copy operations of more than %zu bytes",
				 COPIED_BYTES_MAX);
	return add(j, "copy", path, obj_copy(found));
}

static int move(struct json_patch *j, const char *from, const char *path)
{
	struct obj *v = NULL;
	if (strcmp(from, path) == 0)
		return 0;
	if (cstr_has_prefix(path, from) && path[strlen(from)] == '/')
		return error_set(j->err, E_INVALID, "move operation into its own child: %s", path);
	if (take(j, "move from", from, &v) < 0)
		return -j->err->code;
	return add(j, "move", path, v);
}

static int test(struct json_patch *j, const char *path, const struct obj *want)
{
	struct place p;
	if (resolve(j->doc, "test", path, &p, j->err) < 0)
		return -j->err->code;
	const struct obj *found = value_at(j->doc, &p);
	if (!found && obj_type(p.parent) == OBJ_MAP && obj_type(want) == OBJ_NULL)
		return 0;
	if (found && obj_equal(found, want))
		return 0;
	(void)error_set(j->err, E_INVALID, "testing value %s failed: test failed", path);
	j->err->reason = REASON_TEST_FAILED;
	return -E_INVALID;
}

/* NULL if there is none, or one that names no key: keys hold no U+0000. */
static const char *pointer_of(const struct obj *operation, const char *name)
{
	const struct obj *o = obj_get(operation, name);
	return str_find_char(obj_as_str(o), '\0') < 0 ? obj_as_string(o) : NULL;
}

static int apply_one(struct json_patch *j, const struct obj *operation)
{
	const char *op = obj_as_string(obj_get(operation, "op"));
	const char *path = pointer_of(operation, "path");
	const char *from = pointer_of(operation, "from");
	const struct obj *value = obj_get(operation, "value");
	struct obj *gone = NULL;
	if (!op || !path)
		return error_set(j->err, E_INVALID, "json patch operation without op or path");
	if (strcmp(op, "remove") == 0) {
		int r = take(j, op, path, &gone);
		obj_unref(gone);
		return r;
	}
	if (strcmp(op, "move") == 0 || strcmp(op, "copy") == 0) {
		if (!from)
			return error_set(j->err, E_INVALID, "%s operation without from", op);
		return op[0] == 'm' ? move(j, from, path) : copy(j, from, path);
	}
	if (strcmp(op, "add") != 0 && strcmp(op, "replace") != 0 && strcmp(op, "test") != 0)
		return error_set(j->err, E_INVALID, "Unexpected kind: %.32s", op);
	CLEANUP(obj_unrefp) struct obj *null = value ? NULL : obj_null();
	value = value ? value : null;
	if (op[0] == 't')
		return test(j, path, value);
	return op[0] == 'a' ? add(j, op, path, obj_copy(value)) : replace(j, path, obj_copy(value));
}

int patch_json(const struct obj *doc, const struct obj *operations, struct obj **ret,
	       struct error *err)
{
	if (obj_type(operations) != OBJ_LIST)
		return error_set(err, E_BADREQUEST, "json patch: found %s, wanted array",
				 obj_type_name(obj_type(operations)));
	if (obj_len(operations) > PATCH_OPERATIONS_MAX)
		return error_set(err, E_TOOLARGE,
				 "The allowed maximum operations in a JSON patch is %d, got %zu",
				 PATCH_OPERATIONS_MAX, obj_len(operations));
	struct json_patch j = {.doc = obj_copy(doc), .err = err};
	int r = 0;
	for (size_t i = 0; i < obj_len(operations) && r == 0; i++)
		r = apply_one(&j, obj_at(operations, i));
	if (r == 0 && obj_depth(j.doc) > OBJ_DEPTH_MAX)
		r = error_set(err, E_INVALID, "json patch: the result is deeper than %d",
			      OBJ_DEPTH_MAX);
	if (r < 0) {
		obj_unref(j.doc);
		return r;
	}
	*ret = j.doc;
	return 0;
}
