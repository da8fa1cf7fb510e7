#include "installers/release.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "installers/chart/gzip.h"

#define RATIO_MAX 1000 /* manifests pack well */

static const char *const statuses[] = {"unknown",         "deployed",        "uninstalled",
				       "superseded",      "failed",          "uninstalling",
				       "pending-install", "pending-upgrade", "pending-rollback"};

/* Labels that Helm sets itself: the others are the user's. */
static const char *const own_labels[] = {"name",    "owner",     "status",
					 "version", "createdAt", "modifiedAt"};

static bool release_status_is_known(const char *status)
{
	for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
		if (cstr_eq(status, statuses[i]))
			return true;
	return false;
}

bool release_is_pending(const char *status)
{
	return status && cstr_has_prefix(status, "pending-");
}

const char *release_secret_name(struct arena *a, const char *name, int64_t revision)
{
	return arena_fmt(a, "sh.helm.release.v1.%s.v%lld", name, (long long)revision);
}

/* ---- writing ---- */

static void set_time(struct obj *o, const char *key, int64_t ns)
{
	char text[CLOCK_TEXT_MAX] = "";
	if (ns)
		clock_format(ns, CLOCK_MICROS, text);
	obj_set_str(o, key, text);
}

static struct obj *ref_or(const struct obj *o, struct obj *fallback)
{
	if (!o)
		return fallback;
	obj_unref(fallback);
	return obj_ref(o);
}

static struct obj *info_of(const struct release *r)
{
	struct obj *info = obj_map();
	set_time(info, "first_deployed", r->first_deployed_ns);
	set_time(info, "last_deployed", r->last_deployed_ns);
	set_time(info, "deleted", r->deleted_ns);
	obj_set_str(info, "description", r->description);
	obj_set_str(info, "status", r->status);
	obj_set_str(info, "notes", r->notes);
	return info;
}

static struct obj *record_of(const struct release *r)
{
	struct obj *o = obj_map(), *chart = obj_map();
	obj_set(chart, "metadata", ref_or(r->metadata, obj_map()));
	obj_set(chart, "lock", obj_null());
	obj_set(chart, "templates", obj_list());
	obj_set(chart, "values", ref_or(r->chart_values, obj_map()));
	obj_set(chart, "schema", obj_null());
	obj_set(chart, "files", obj_list());
	obj_set_str(o, "name", r->name);
	obj_set(o, "info", info_of(r));
	obj_set(o, "chart", chart);
	obj_set(o, "config", ref_or(r->config, obj_map()));
	obj_set_str(o, "manifest", r->manifest ? r->manifest : "");
	obj_set(o, "hooks", ref_or(r->hooks, obj_list()));
	obj_set_int(o, "version", r->revision);
	obj_set_str(o, "namespace", r->ns);
	return o;
}

static int pack(const struct obj *record, const char *name, struct strbuf *b, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(RELEASE_UNPACKED_MAX);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(RELEASE_UNPACKED_MAX);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(RELEASE_UNPACKED_MAX);
	json_print(record, &json);
	if (strbuf_check(&json, "the release record", err) < 0 ||
	    gzip_pack_soon(strbuf_str(&json), &packed, err) < 0)
		return -err->code;
	if (packed.len > RELEASE_PACKED_MAX) {
		strbuf_clear(&packed);
		if (gzip_pack(strbuf_str(&json), &packed, err) < 0)
			return -err->code;
	}
	if (packed.len > RELEASE_PACKED_MAX)
		return error_set(
			err, E_LIMIT,
			"the record of release %s has %zu bytes packed, a Secret holds %zu", name,
			packed.len, RELEASE_PACKED_MAX);
	base64_encode(strbuf_str(&packed), &text);
	base64_encode(strbuf_str(&text), b);
	return strbuf_check(b, "the release record", err);
}

int release_encode(const struct release *r, struct strbuf *b, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *record = record_of(r);
	return pack(record, r->name, b, err);
}

/* With all that fits. */
static int encode_slim(const struct release *r, struct strbuf *b, struct error *err)
{
	struct release slim = *r;
	int rc = release_encode(&slim, b, err);
	for (int part = 0; rc == -E_LIMIT && part < 3; part++) {
		if (part == 0)
			slim.notes = NULL;
		else if (part == 1)
			slim.chart_values = NULL;
		else
			slim.hooks = NULL;
		strbuf_clear(b);
		rc = release_encode(&slim, b, err);
	}
	return rc;
}

int release_to_secret(const struct release *r, int64_t now_ns, struct obj **ret, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf data = STRBUF_INIT(RELEASE_UNPACKED_MAX);
	if (encode_slim(r, &data, err) < 0)
		return -err->code;
	struct obj *o =
		meta_skeleton("v1", "Secret", r->ns, release_secret_name(a, r->name, r->revision));
	OBJ_EACH (it, r->labels)
		meta_set_label(o, it.key, obj_as_string(it.value));
	meta_set_label(o, "name", r->name);
	meta_set_label(o, "owner", "helm");
	meta_set_label(o, "status", r->status);
	meta_set_label(o, "version", arena_fmt(a, "%lld", (long long)r->revision));
	meta_set_label(o, "createdAt", arena_fmt(a, "%lld", (long long)(now_ns / NS_PER_S)));
	obj_set_str(o, "type", RELEASE_SECRET_TYPE);
	obj_set(o, "data", obj_map());
	obj_set(obj_get_mut(o, "data"), "release", obj_stringn(strbuf_str(&data)));
	*ret = o;
	return 0;
}

/* ---- reading ---- */

static int unpack(struct str data, struct strbuf *json, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(RELEASE_UNPACKED_MAX);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(RELEASE_UNPACKED_MAX);
	if (!base64_decode(data, &text) || !base64_decode(strbuf_str(&text), &packed))
		return error_set(err, E_INVALID, "the release record is not base64");
	if (str_has_prefix(strbuf_str(&packed), STR("\x1f\x8b\x08")))
		return gzip_unpack(strbuf_str(&packed), RATIO_MAX, json, err);
	strbuf_addstr(json, strbuf_str(&packed));
	return strbuf_check(json, "the release record", err);
}

static int64_t time_of(const struct obj *info, const char *key)
{
	const char *text = obj_str(info, key);
	int64_t ns = 0;
	return text && clock_parse(str_of(text), &ns) ? ns : 0;
}

static int read_record(const struct obj *o, struct release *r, struct error *err)
{
	const struct obj *info = obj_get(o, "info"), *chart = obj_get(o, "chart");
	*r = (struct release){
		.name = obj_str(o, "name"),
		.ns = obj_str(o, "namespace"),
		.revision = obj_i64(o, "version", 0),
		.status = obj_str(info, "status"),
		.description = obj_str(info, "description"),
		.notes = obj_str(info, "notes"),
		.first_deployed_ns = time_of(info, "first_deployed"),
		.last_deployed_ns = time_of(info, "last_deployed"),
		.deleted_ns = time_of(info, "deleted"),
		.metadata = obj_get(chart, "metadata"),
		.chart_values = obj_get(chart, "values"),
		.config = obj_get(o, "config"),
		.hooks = obj_get(o, "hooks"),
		.manifest = obj_str(o, "manifest"),
	};
	if (!r->name || !*r->name || r->revision < 1)
		return error_set(err, E_INVALID, "the release record has no name or version");
	if (!release_status_is_known(r->status))
		return error_set(err, E_INVALID,
				 "the record of release %s has the unknown status %s", r->name,
				 r->status ? r->status : "(none)");
	if (!r->manifest)
		r->manifest = "";
	return 0;
}

static int parse(struct str data, struct obj **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(RELEASE_UNPACKED_MAX);
	struct json_duplicates ignored = {0};
	if (unpack(data, &json, err) < 0)
		return -err->code;
	int rc = json_parse_dup(strbuf_str(&json), 0, &ignored, ret, err);
	json_duplicates_release(&ignored);
	return rc < 0 ? error_wrap(err, "the release record") : 0;
}

int release_decode(struct str data, struct arena *a, struct release *ret, struct error *err)
{
	struct obj *o = NULL;
	struct release r;
	if (parse(data, &o, err) < 0)
		return -err->code;
	obj_keep(a, o);
	if (read_record(o, &r, err) < 0)
		return -err->code;
	*ret = r;
	return 0;
}

static bool is_own_label(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(own_labels); i++)
		if (cstr_eq(key, own_labels[i]))
			return true;
	return false;
}

int release_from_secret(const struct obj *secret, struct arena *a, struct release *ret,
			struct error *err)
{
	const char *data = obj_str(secret, "data.release");
	struct release r;
	if (!cstr_eq(obj_str(secret, "type"), RELEASE_SECRET_TYPE) || !data)
		return error_set(err, E_INVALID, "secret %s is no release record",
				 meta_name(secret) ? meta_name(secret) : "");
	if (release_decode(str_of(data), a, &r, err) < 0)
		return -err->code;
	struct obj *labels = obj_keep(a, obj_map());
	OBJ_EACH (it, obj_path(secret, "metadata.labels"))
		if (!is_own_label(it.key))
			obj_set(labels, it.key, obj_ref(it.value));
	r.labels = labels;
	*ret = r;
	return 0;
}

/* ---- changing ---- */

/* What only `helm get` and helm's own upgrades would read. */
static int pack_slim(struct obj *record, const char *name, struct strbuf *b, struct error *err)
{
	struct obj *chart = obj_get_mut(record, "chart");
	int rc = pack(record, name, b, err);
	if (rc == -E_LIMIT && obj_type(chart) == OBJ_MAP) {
		obj_set(chart, "files", obj_list());
		obj_set(chart, "templates", obj_list());
		strbuf_clear(b);
		rc = pack(record, name, b, err);
	}
	if (rc == -E_LIMIT && obj_type(chart) == OBJ_MAP) {
		obj_set(chart, "values", obj_map());
		obj_del(obj_get_mut(record, "info"), "notes");
		strbuf_clear(b);
		rc = pack(record, name, b, err);
	}
	return rc;
}

int release_change(const struct obj *secret, const struct release_change *c, struct obj **ret,
		   struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf data = STRBUF_INIT(RELEASE_UNPACKED_MAX);
	CLEANUP(obj_unrefp) struct obj *record = NULL;
	const char *name = meta_name(secret) ? meta_name(secret) : "";
	const char *old = obj_str(secret, "data.release");
	if (!old)
		return error_set(err, E_INVALID, "secret %s is no release record", name);
	if (parse(str_of(old), &record, err) < 0)
		return -err->code;
	if (obj_type(record) != OBJ_MAP)
		return error_set(err, E_INVALID, "secret %s is no release record", name);
	if (obj_type(obj_get(record, "info")) != OBJ_MAP)
		obj_set(record, "info", obj_map());
	struct obj *info = obj_get_mut(record, "info");
	obj_set_str(info, "status", c->status);
	obj_set_str(info, "description", c->description);
	obj_del(record,
		"apply_method"); /* else helm 4 goes back to it by "ssa", against our fields */
	if (c->hooks)
		obj_set(record, "hooks", obj_ref(c->hooks));
	if (pack_slim(record, name, &data, err) < 0)
		return -err->code;
	struct obj *patch = obj_map();
	obj_set_path(patch, "metadata.labels.status", obj_string(c->status));
	obj_set_path(patch, "metadata.labels.modifiedAt",
		     obj_stringf("%lld", (long long)(c->now_ns / NS_PER_S)));
	obj_set_path(patch, "data.release", obj_stringn(strbuf_str(&data)));
	*ret = patch;
	return 0;
}

/* ---- parts ---- */

static void set_text(struct obj *o, const char *key, struct str s)
{
	if (s.len)
		obj_set(o, key, obj_stringn(s));
}

static void set_texts(struct obj *o, const char *key, struct value list)
{
	struct obj *l;
	if (!list.len)
		return;
	l = obj_list();
	for (size_t i = 0; i < list.len; i++)
		obj_append(l, obj_stringn(value_text(list.items[i])));
	obj_set(o, key, l);
}

static struct obj *dependencies_of(const struct chart_meta *m)
{
	struct obj *l = obj_list();
	for (size_t i = 0; i < m->n_dependencies; i++) {
		const struct chart_dependency *d = &m->dependencies[i];
		struct obj *o = obj_map();
		set_text(o, "name", d->name);
		set_text(o, "version", d->version);
		obj_set(o, "repository", obj_stringn(d->repository.ptr ? d->repository : STR("")));
		set_text(o, "condition", d->condition);
		set_texts(o, "tags", d->tags);
		set_text(o, "alias", d->alias);
		if (d->enabled)
			obj_set_bool(o, "enabled", true);
		obj_append(l, o);
	}
	return l;
}

static struct obj *maintainers_of(const struct chart_meta *m)
{
	struct obj *l = obj_list();
	for (size_t i = 0; i < m->n_maintainers; i++) {
		struct obj *o = obj_map();
		set_text(o, "name", m->maintainers[i].name);
		set_text(o, "email", m->maintainers[i].email);
		set_text(o, "url", m->maintainers[i].url);
		obj_append(l, o);
	}
	return l;
}

struct obj *release_metadata(const struct chart_meta *m)
{
	struct obj *o = obj_map();
	set_text(o, "name", m->name);
	set_text(o, "home", m->home);
	set_texts(o, "sources", m->sources);
	set_text(o, "version", m->version);
	set_text(o, "description", m->description);
	set_texts(o, "keywords", m->keywords);
	if (m->n_maintainers)
		obj_set(o, "maintainers", maintainers_of(m));
	set_text(o, "icon", m->icon);
	set_text(o, "apiVersion", m->api_version);
	set_text(o, "appVersion", m->app_version);
	if (m->deprecated)
		obj_set_bool(o, "deprecated", true);
	if (vmap_count(m->annotations)) {
		struct obj *annotations = obj_map();
		for (size_t i = 0; i < m->annotations->n; i++) {
			CLEANUP(xfreep) char *key = str_dup(m->annotations->entries[i].key);
			obj_set(annotations, key,
				obj_stringn(value_text(m->annotations->entries[i].value)));
		}
		obj_set(o, "annotations", annotations);
	}
	set_text(o, "kubeVersion", m->kube_version);
	if (m->n_dependencies)
		obj_set(o, "dependencies", dependencies_of(m));
	set_text(o, "type", m->type);
	return o;
}

static struct obj *policies_of(unsigned set)
{
	struct obj *l = obj_list();
	for (unsigned p = 1; p <= HOOK_FAILED; p <<= 1)
		if (set & p)
			obj_append(l, obj_string(hook_policy_name((enum hook_policy)p)));
	return l;
}

struct obj *release_hook(const struct hook *h)
{
	struct obj *o = obj_map(), *events = obj_list(), *run = obj_map();
	for (size_t i = 0; i < h->n_order; i++)
		obj_append(events, obj_string(hook_event_name(h->order[i])));
	obj_set_str(run, "started_at", "");
	obj_set_str(run, "completed_at", "");
	obj_set_str(run, "phase", "");
	set_text(o, "name", h->name);
	set_text(o, "kind", h->kind);
	obj_set_str(o, "path", h->path);
	set_text(o, "manifest", h->text);
	obj_set(o, "events", events);
	obj_set(o, "last_run", run);
	if (h->weight)
		obj_set_int(o, "weight", h->weight);
	if (h->delete_policies)
		obj_set(o, "delete_policies", policies_of(h->delete_policies));
	if (h->log_policies)
		obj_set(o, "output_log_policies", policies_of(h->log_policies));
	return o;
}
