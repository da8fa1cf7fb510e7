/* pod_notes: see pod_notes.h. */
#include "alm/apiserver/kinds/pod_notes.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_parts.h"
#include "alm/apiserver/kinds/rule_check.h"
#include "alm/apiserver/wire/json_fault.h"
#include "alm/obj/json.h"

#define MIRROR      "kubernetes.io/config.mirror"
#define COST        "controller.kubernetes.io/pod-deletion-cost"
#define TOLERATIONS "scheduler.alpha.kubernetes.io/tolerations"
#define LOCAL       "localhost/"

static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};

/* Its key has dots, so it is no path. */
static const char *note_of(const struct obj *notes, const char *key)
{
	return obj_as_string(obj_get(notes, key));
}

static const char *key_of(struct field_errors *e, const char *path, const char *key)
{
	return arena_fmt(e->arena, "%s[%s]", path, key);
}

/* Neither a plus nor zeros in front. */
static bool is_cost(const char *text)
{
	int64_t n = 0;
	bool starts = *text == '-' || strcmp(text, "0") == 0 || (*text >= '1' && *text <= '9');
	return starts && str_parse_i64(str_of(text), &n) && n >= INT32_MIN && n <= INT32_MAX;
}

static void check_seccomp(struct field_errors *e, const char *path, const char *profile)
{
	static const char *const known[] = {"runtime/default", "docker/default", "unconfined",
					    NULL};
	if (cstr_has_prefix(profile, LOCAL))
		pod_check_path(e, path, profile + strlen(LOCAL));
	else if (!cstr_in(profile, known))
		check_invalid_text(e, path, profile, "must be a valid seccomp profile");
}

/* Names of all containers. */
static struct map *containers_of(const struct obj *spec)
{
	struct map *names = map_new(NULL);
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < obj_len(obj_get(spec, lists[k])); i++)
			(void)map_set(names, check_text(obj_at(obj_get(spec, lists[k]), i), "name"),
				      NULL);
	return names;
}

static void check_apparmor(struct field_errors *e, const char *path, const char *name,
			   const char *profile, const struct map *containers)
{
	static const char *const known[] = {"", "runtime/default", "unconfined", NULL};
	if (!map_has(containers, name))
		check_invalid_text(e, path, name, "container not found");
	if (!cstr_in(profile, known) && !cstr_has_prefix(profile, LOCAL))
		check_invalid_text(e, path, profile,
				   arena_fmt(e->arena, "invalid AppArmor profile name: %s",
					     check_quoted(e, profile)));
}

/* The form of 2016, which means nothing any more and has to be right all the same. */
static void check_tolerations(struct field_errors *e, const char *path, const char *text)
{
	static const char wrong[] =
		"json: cannot unmarshal %s into Go value of type %score.Toleration";
	CLEANUP(obj_unrefp) struct obj *list = NULL;
	struct error ignored = ERROR_INIT;
	const char *fault = json_fault(str_of(text), e->arena);
	size_t from = e->n;
	if (!fault && json_parse(str_of(text), &list, &ignored) < 0)
		fault = ignored.msg;
	else if (!fault && obj_type(list) == OBJ_NULL)
		return;
	else if (!fault && obj_type(list) != OBJ_LIST)
		fault = arena_fmt(e->arena, wrong,
				  obj_type(list) == OBJ_MAP ? "object" : json_fault_type(list),
				  "[]");
	for (size_t i = 0; !fault && i < obj_len(list); i++)
		if (json_fault_type(obj_at(list, i)))
			fault = arena_fmt(e->arena, wrong, json_fault_type(obj_at(list, i)), "");
	if (fault) {
		check_invalid_text(e, path, TOLERATIONS, fault);
		return;
	}
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	obj_set(o, "tolerations", obj_ref(list));
	rule_check_part(e, "tolerations", path, o);
	for (; from < e->n; from++)
		e->items[from].path =
			arena_fmt(e->arena, "%s.%s%s", path, TOLERATIONS,
				  e->items[from].path + strlen(path) + strlen(".tolerations"));
}

void pod_notes_check(struct field_errors *e, const char *path, const struct obj *notes,
		     const struct obj *spec)
{
	const char *mirror = note_of(notes, MIRROR), *cost = note_of(notes, COST),
		   *profile = note_of(notes, POD_NOTE_SECCOMPS),
		   *tolerations = note_of(notes, TOLERATIONS);
	CLEANUP(map_freep) struct map *containers = NULL;
	if (mirror && check_is_empty(spec, "nodeName"))
		check_invalid_text(e, key_of(e, path, MIRROR), mirror,
				   "must set spec.nodeName if mirror pod annotation is set");
	if (tolerations && *tolerations)
		check_tolerations(e, path, tolerations);
	if (cost && !is_cost(cost))
		check_invalid_text(e, key_of(e, path, COST), cost, "must be a 32bit integer");
	if (profile)
		check_seccomp(e, check_below(e, path, POD_NOTE_SECCOMPS), profile);
	OBJ_EACH (it, notes)
		if (cstr_has_prefix(it.key, POD_NOTE_SECCOMP) && obj_as_string(it.value))
			check_seccomp(e, check_below(e, path, it.key), obj_as_string(it.value));
	OBJ_EACH (it, notes) {
		if (!cstr_has_prefix(it.key, POD_NOTE_APPARMOR) || !obj_as_string(it.value) ||
		    field_errors_full(e))
			continue;
		if (!containers)
			containers = containers_of(spec);
		check_apparmor(e, key_of(e, path, it.key), it.key + strlen(POD_NOTE_APPARMOR),
			       obj_as_string(it.value), containers);
	}
}

/* The field and the annotation say the same. what: how a refusal begins. */
static void check_match(struct field_errors *e, const char *path, const struct obj *profile,
			const char *note, const char *what)
{
	const char *type = check_text(profile, "type");
	bool is_local = strcmp(type, "Localhost") == 0, same = true;
	if (strcmp(type, "Unconfined") == 0)
		same = strcmp(note, "unconfined") == 0;
	else if (strcmp(type, "RuntimeDefault") == 0)
		same = strcmp(note, "runtime/default") == 0 ||
		       (*what == 's' && strcmp(note, "docker/default") == 0);
	else if (is_local)
		same = cstr_has_prefix(note, LOCAL);
	if (!same)
		check_forbidden(
			e, check_below(e, path, "type"),
			arena_fmt(e->arena, "%s type in annotation and field must match", what));
	else if (is_local && !cstr_eq(obj_str(profile, "localhostProfile"), note + strlen(LOCAL)))
		check_forbidden(
			e, check_below(e, path, "localhostProfile"),
			arena_fmt(e->arena, "%s profile in annotation and field must match", what));
}

/* Each container; common: the profile of the Pod, which is its own where it has none. */
static void match_containers(struct field_errors *e, const char *path, const struct obj *notes,
			     const struct obj *spec, const char *field, const char *prefix)
{
	bool of_armor = strcmp(prefix, POD_NOTE_APPARMOR) == 0;
	const struct obj *common = of_armor ? obj_path(spec, field) : NULL;
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < obj_len(obj_get(spec, lists[k])); i++) {
			const struct obj *c = obj_at(obj_get(spec, lists[k]), i);
			const struct obj *own = obj_path(c, field);
			const char *key =
				arena_fmt(e->arena, "%s%s", prefix, check_text(c, "name"));
			const char *at = check_at(e, check_below(e, path, lists[k]), i);
			if ((own || common) && note_of(notes, key))
				check_match(e, check_below(e, at, field), own ? own : common,
					    note_of(notes, key), of_armor ? "apparmor" : "seccomp");
		}
}

void pod_notes_match(struct field_errors *e, const char *path, const struct obj *notes,
		     const struct obj *spec)
{
	static const char seccomp[] = "securityContext.seccompProfile";
	const char *note = note_of(notes, POD_NOTE_SECCOMPS);
	size_t from = e->n;
	if (!obj_len(notes))
		return;
	if (note && obj_path(spec, seccomp))
		check_match(e, check_below(e, path, seccomp), obj_path(spec, seccomp), note,
			    "seccomp");
	match_containers(e, path, notes, spec, seccomp, POD_NOTE_SECCOMP);
	if (!cstr_eq(obj_str(spec, "os.name"), "windows"))
		match_containers(e, path, notes, spec, "securityContext.appArmorProfile",
				 POD_NOTE_APPARMOR);
	check_said_since(e, from, notes);
}

/* How it is told, or NULL: anybody may change it. */
static const char *fixed_note(const char *key)
{
	if (cstr_has_prefix(key, POD_NOTE_APPARMOR))
		return "AppArmor annotations";
	return strcmp(key, MIRROR) == 0 ? "mirror pod annotation" : NULL;
}

void pod_notes_kept(struct field_errors *e, const struct obj *notes, const struct obj *before)
{
	static const char path[] = "metadata.annotations";
	OBJ_EACH (it, before) {
		const struct obj *is = obj_get(notes, it.key);
		if (fixed_note(it.key) && (!is || !obj_equal(is, it.value)))
			check_forbidden(e, key_of(e, path, it.key),
					arena_fmt(e->arena, "may not remove or update %s",
						  fixed_note(it.key)));
	}
	OBJ_EACH (it, notes)
		if (fixed_note(it.key) && !obj_has(before, it.key))
			check_forbidden(e, key_of(e, path, it.key),
					arena_fmt(e->arena, "may not add %s", fixed_note(it.key)));
}

bool pod_notes_says(const struct obj *note, const struct obj *profile)
{
	const char *text = obj_as_string(note), *type = check_text(profile, "type");
	if (!text || !profile)
		return false;
	if (cstr_has_prefix(text, LOCAL))
		return strcmp(type, "Localhost") == 0 &&
		       cstr_eq(obj_str(profile, "localhostProfile"), text + strlen(LOCAL));
	return strcmp(type, strcmp(text, "unconfined") == 0        ? "Unconfined"
			    : strcmp(text, "runtime/default") == 0 ? "RuntimeDefault"
								   : "-") == 0;
}
