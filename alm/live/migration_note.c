#include "alm/live/migration_note.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/live/migration.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "catalog/gate/usage.h"

const struct obj *migration_version(const struct obj *crd, const char *name)
{
	const struct obj *list = obj_path(crd, "spec.versions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "name"), name))
			return obj_at(list, i);
	return NULL;
}

const char *migration_stored_versions(const struct obj *crd, struct arena *a)
{
	const struct obj *list = obj_path(crd, "status.storedVersions");
	const char *text = "";
	for (size_t i = 0; i < obj_len(list); i++)
		text = arena_fmt(a, "%s%s%s", text, i ? " " : "", obj_as_string(obj_at(list, i)));
	return text;
}

/* The newest time of the managers' entries that fit. */
static int64_t newest_entry(const struct obj *crd, bool (*fits)(const struct obj *entry))
{
	int64_t newest = 0, t;
	const struct obj *entries = obj_path(crd, "metadata.managedFields");
	for (size_t i = 0; i < obj_len(entries); i++) {
		const char *time = obj_str(obj_at(entries, i), "time");
		if (time && fits(obj_at(entries, i)) && clock_parse(str_of(time), &t) && t > newest)
			newest = t;
	}
	return newest;
}

static bool has_versions(const struct obj *entry)
{
	return obj_has(obj_get(obj_get(entry, "fieldsV1"), "f:spec"), "f:versions");
}

static bool is_ours(const struct obj *entry)
{
	return cstr_eq(obj_str(entry, "manager"), MIGRATION_MANAGER);
}

int64_t migration_versions_since(const struct obj *crd)
{
	return newest_entry(crd, has_versions);
}

int64_t migration_noted_at(const struct obj *crd)
{
	return newest_entry(crd, is_ours);
}

bool migration_note_read(const struct obj *crd, const char *to, struct migration_note *ret)
{
	struct error ignored;
	CLEANUP(obj_unrefp) struct obj *note = NULL;
	const char *text = meta_annotation(crd, MIGRATION_ANNOTATION);
	if (!text || json_parse(str_of(text), &note, &ignored) < 0)
		return false;
	const char *started = obj_str(note, "started"), *next = obj_str(note, "continue");
	int64_t started_ns;
	if (!cstr_eq(obj_str(note, "to"), to) || !started || !next ||
	    obj_i64(note, "generation", -1) != meta_generation(crd) ||
	    !clock_parse(str_of(started), &started_ns))
		return false;
	*ret = (struct migration_note){.next = xstrdup(next),
				       .written = (size_t)obj_i64(note, "written", 0),
				       .started_ns = started_ns,
				       .generation = meta_generation(crd)};
	return true;
}

static struct obj *annotations_patch(struct obj *annotations)
{
	struct obj *patch = obj_map();
	obj_set(patch, "metadata", obj_map());
	obj_set_path(patch, "metadata.annotations", annotations);
	return patch;
}

static struct obj *note_patch(const struct obj *note)
{
	struct obj *annotations = obj_map();
	CLEANUP(xfreep) char *text = json_text(note);
	obj_set_str(annotations, MIGRATION_ANNOTATION, text);
	return annotations_patch(annotations);
}

struct obj *migration_note_page(const char *to, const struct migration_note *n)
{
	char started[CLOCK_TEXT_MAX];
	CLEANUP(obj_unrefp) struct obj *note = obj_map();
	clock_format(n->started_ns, CLOCK_SECONDS, started);
	obj_set_str(note, "to", to);
	obj_set_str(note, "continue", n->next);
	obj_set_int(note, "written", (int64_t)n->written);
	obj_set_int(note, "remaining", n->remaining);
	obj_set_str(note, "started", started);
	obj_set_int(note, "generation", n->generation);
	return note_patch(note);
}

struct obj *migration_note_begin(const char *to, int64_t now_ns, int64_t remaining)
{
	CLEANUP(obj_unrefp) struct obj *note = obj_map();
	obj_set_str(note, "to", to);
	obj_set_int(note, "asked", now_ns);
	obj_set_int(note, "remaining", remaining);
	return note_patch(note);
}

static void note_version(struct obj *annotations, const char *version, const char *to,
			 const char *started)
{
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
	if (!version || strcmp(version, to) == 0)
		return;
	strbuf_addf(&key, USAGE_MIGRATED_PREFIX "%s", version);
	obj_set_str(annotations, key.buf, started);
}

struct obj *migration_note_end(const struct obj *crd, const char *to, int64_t started_ns,
			       const char *by)
{
	char started[CLOCK_TEXT_MAX];
	struct obj *annotations = obj_map();
	const struct obj *stored = obj_path(crd, "status.storedVersions"),
			 *versions = obj_path(crd, "spec.versions");
	clock_format(started_ns, CLOCK_SECONDS, started);
	for (size_t i = 0; i < obj_len(stored); i++)
		note_version(annotations, obj_as_string(obj_at(stored, i)), to, started);
	for (size_t i = 0; i < obj_len(versions); i++)
		note_version(annotations, obj_str(obj_at(versions, i), "name"), to, started);
	obj_set(annotations, MIGRATION_ANNOTATION, obj_null());
	if (by || meta_annotation(crd, USAGE_MIGRATED_BY))
		obj_set(annotations, USAGE_MIGRATED_BY, by ? obj_string(by) : obj_null());
	return annotations_patch(annotations);
}
