#include "alm/unit/inventory.h"

#include <string.h>

#include "alm/base/map.h"
#include "alm/base/str.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

enum { API_VERSION, KIND, NS, NAME, UID, DIGEST, KEY, FIELDS };

static const char *field(struct str s, struct arena *a)
{
	return arena_strndup(a, s.ptr, s.len);
}

static bool parse_line(struct str line, size_t piece, struct arena *a, struct inventory_line *ret)
{
	struct str f[FIELDS], rest = line;
	for (int i = 0; i < KEY; i++)
		if (!str_cut(rest, ' ', &f[i], &rest) || !f[i].len)
			return false;
	f[KEY] = rest;
	*ret = (struct inventory_line){.api_version = field(f[API_VERSION], a),
				       .kind = field(f[KIND], a),
				       .ns = str_is(f[NS], "-") ? NULL : field(f[NS], a),
				       .name = field(f[NAME], a),
				       .uid = str_is(f[UID], "-") ? NULL : field(f[UID], a),
				       .digest = field(f[DIGEST], a),
				       .key = field(f[KEY], a),
				       .piece = piece};
	return true;
}

int inventory_parse(struct str text, size_t piece, struct arena *a, struct inventory *ret,
		    struct error *err)
{
	size_t n = 0;
	for (size_t i = 0; i < text.len; i++)
		n += text.ptr[i] == '\n';
	*ret = (struct inventory){.lines = ARENA_ARRAY(a, struct inventory_line, n + 1)};
	while (text.len) {
		struct str line;
		(void)str_cut(text, '\n', &line, &text);
		if (!parse_line(line, piece, a, &ret->lines[ret->n++]))
			return error_set(err, E_CORRUPT, "line %zu of the inventory is none: %.60s",
					 ret->n, field(str_clip(line, 60), a));
	}
	return 0;
}

bool inventory_is_incomplete(const struct obj *first)
{
	return cstr_eq(meta_annotation(first, ANNOTATION_INCOMPLETE), "true");
}

const char *inventory_id(const struct inventory_line *l, struct arena *a)
{
	struct str group, version;
	bool core = !str_cut(str_of(l->api_version), '/', &group, &version);
	return arena_fmt(a, "%s%s%.*s/%s/%s", l->kind, core ? "" : ".", core ? 0 : (int)group.len,
			 group.ptr, l->ns ? l->ns : "", l->name);
}

size_t inventory_add_missing(struct inventory *to, const struct inventory *i,
			     const struct inventory *other, struct arena *a)
{
	struct map *ids = map_new(NULL);
	size_t n = to->n;
	for (size_t k = 0; k < other->n; k++)
		map_set(ids, inventory_id(&other->lines[k], a), NULL);
	for (size_t k = 0; k < i->n; k++)
		if (!map_has(ids, inventory_id(&i->lines[k], a)))
			to->lines[to->n++] = i->lines[k];
	map_free(ids);
	return to->n - n;
}

const char *inventory_doubt(const struct inventory_line *l)
{
	return cstr_has_prefix(l->digest, INVENTORY_DOUBTFUL)
		       ? l->digest + strlen(INVENTORY_DOUBTFUL)
		       : NULL;
}

/* What is wanted: a doubt stays as it is, if it has a name. */
static void keep_doubt(struct inventory_line *l, struct inventory_line *wanted,
		       const char *doubtful)
{
	const char *doubt = inventory_doubt(l);
	if (doubt)
		wanted->digest = l->digest = *doubt ? l->digest : doubtful;
}

bool inventory_begin(struct inventory *to, const struct inventory *had, struct inventory *wanted,
		     const struct inventory_run *run, struct arena *a)
{
	CLEANUP(map_freep) struct map *places = map_new(NULL);
	const char *doubtful = arena_fmt(a, INVENTORY_DOUBTFUL "%s", run->name);
	bool *stays = ARENA_ARRAY(a, bool, had->n + 1), changed = false;
	for (size_t k = 0; k < had->n; k++) {
		map_set_number(places, inventory_id(&had->lines[k], a), k + 1);
		to->lines[k] = had->lines[k];
	}
	to->n = had->n;
	for (size_t k = 0; k < wanted->n; k++) {
		struct inventory_line *l = &wanted->lines[k];
		size_t at = map_number(places, inventory_id(l, a));
		if (at) {
			stays[at - 1] = true;
			keep_doubt(&to->lines[at - 1], l, doubtful);
			continue;
		}
		l->digest = l->uid ? doubtful : l->digest;
		to->lines[to->n++] = *l;
	}
	for (size_t k = 0; k < had->n; k++) {
		if (!stays[k] && run->deletes)
			to->lines[k].digest = doubtful;
		changed = changed || !cstr_eq(to->lines[k].digest, had->lines[k].digest);
	}
	return changed || to->n > had->n;
}

const char *inventory_since(const char *known, const struct obj *ours, const char *now)
{
	const char *made = obj_str(ours, "metadata.creationTimestamp");
	if (!known || (made && strcmp(known, made) < 0))
		known = made;
	return known ? known : now;
}

static bool has_other_owner(const struct obj *o, const char *main)
{
	const struct obj *owners = obj_path(o, "metadata.ownerReferences");
	for (size_t i = 0; i < obj_len(owners); i++)
		if (!main || !cstr_eq(obj_str(obj_at(owners, i), "uid"), main))
			return true;
	return false;
}

static bool claims(const struct obj *o, const struct inventory_owner *owner)
{
	const struct obj *managers = obj_path(o, "metadata.managedFields");
	if (!cstr_eq(meta_annotation(o, ANNOTATION_OWNER_ID), owner->id) ||
	    has_other_owner(o, owner->main))
		return false;
	for (size_t i = 0; i < obj_len(managers); i++)
		if (cstr_eq(obj_str(obj_at(managers, i), "manager"), owner->manager))
			return true;
	return false;
}

static bool is_book(const struct obj *o, const struct inventory_owner *owner)
{
	return cstr_eq(meta_kind(o), "ConfigMap") && cstr_eq(meta_namespace(o), owner->book_ns) &&
	       cstr_eq(meta_name(o), owner->book);
}

struct inventory inventory_found(const struct obj *rows, const struct inventory_owner *owner,
				 struct arena *a)
{
	size_t n = obj_len(rows);
	struct inventory found = {.lines = ARENA_ARRAY(a, struct inventory_line, n + 1)};
	for (size_t i = 0; i < n; i++) {
		const struct obj *o = obj_at(rows, i);
		if (!is_book(o, owner) && claims(o, owner))
			found.lines[found.n++] =
				(struct inventory_line){.api_version = meta_api_version(o),
							.kind = meta_kind(o),
							.ns = meta_namespace(o),
							.name = meta_name(o),
							.uid = meta_uid(o),
							.digest = INVENTORY_DOUBTFUL,
							.key = "-"};
	}
	return found;
}

const char *inventory_main(const char *api_version, const char *kind, const char *ns,
			   const char *name, struct arena *a)
{
	struct str group, version;
	if (!str_cut(str_of(api_version), '/', &group, &version))
		group = STR("");
	return arena_fmt(a, "%s.%.*s %s%s%s", kind, STR_ARG(group), name && ns ? ns : "",
			 name ? "/" : "", name ? name : "");
}
