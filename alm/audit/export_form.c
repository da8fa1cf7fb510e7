/* export_form: see export_form.h. Sources: audit.k8s.io/v1; CloudEvents 1.0 JSON format;
 * OCSF 1.3 (classes 6003 API Activity, 3004 Entity Management). */
#include "alm/audit/export_form.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/export_csv.h"
#include "alm/audit/row_text.h"
#include "alm/base/arena.h"
#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "crds/kinds.h"

#define LINE_BYTES_MAX ((size_t)4 << 20)
#define WHO_ALM        "alm" /* a row without actor */

static const char *text(const struct obj *o, const char *path)
{
	const char *s = obj_str(o, path);
	return s ? s : "";
}

static void set_text(struct obj *o, const char *key, const char *value)
{
	if (value && *value)
		obj_set_str(o, key, value);
}

static char *lower(const char *word, struct arena *a)
{
	char *s = arena_strdup(a, word);
	for (size_t i = 0; s[i]; i++)
		if (s[i] >= 'A' && s[i] <= 'Z')
			s[i] = (char)(s[i] - 'A' + 'a');
	return s;
}

static void time_text(const struct obj *row, char out[CLOCK_TEXT_MAX])
{
	clock_format(row_time_us(row) * NS_PER_US, CLOCK_MICROS, out);
}

static const char *actor_of(const struct obj *row)
{
	const char *by = obj_str(row, "body.who.impersonator");
	const char *actor = obj_str(row, "actor");
	return by ? by : actor ? actor : WHO_ALM;
}

static const char *said(const struct obj *row)
{
	const char *why = obj_str(row, "body.justification");
	return why ? why : text(row, "body.message");
}

static bool is_type(const struct obj *row, const char *type)
{
	return cstr_eq(obj_str(row, "type"), type);
}

/* The address without its port. */
static struct str host_of(const struct obj *row)
{
	struct str s = str_of(text(row, "body.who.address")), port;
	if (str_has_prefix(s, STR("["))) {
		(void)str_cut(str_skip(s, 1), ']', &s, &port);
		return s;
	}
	struct str host;
	/* an IPv6 address without brackets has more than one colon */
	if (str_cut(s, ':', &host, &port) && str_find(port, STR(":")) < 0)
		return host;
	return s;
}

/* --- audit.k8s.io/v1 --- */

struct place {
	const char *group, *version, *plural;
};

/* As Kubernetes forms a plural of a kind; only ours have others. */
static const char *plural_of(const char *kind, struct arena *a)
{
	struct str s = str_of(lower(kind, a));
	if (!s.len)
		return "";
	char last = s.ptr[s.len - 1];
	if (str_is(s, "endpoints"))
		return "endpoints";
	if (last == 's' || last == 'x' || (last == 'h' && s.len > 1 && s.ptr[s.len - 2] != 't'))
		return arena_fmt(a, "%.*ses", STR_ARG(s));
	if (last == 'y' && s.len > 1 && !strchr("aeiou", s.ptr[s.len - 2]))
		return arena_fmt(a, "%.*sies", (int)s.len - 1, s.ptr);
	return arena_fmt(a, "%.*ss", STR_ARG(s));
}

static struct place place_of(const struct obj *row, struct arena *a)
{
	const char *kind = text(row, "subject.kind");
	struct str group, version;
	struct str api = str_of(text(row, "body.apiVersion"));
	if (!str_cut(api, '/', &group, &version)) {
		group = STR("");
		version = api;
	}
	for (size_t i = 0; i < n_crd_kinds; i++) {
		const struct crd_kind *k = crd_kinds[i];
		if (!strcmp(k->kind, kind) && (!version.len || str_is(group, k->group)))
			return (struct place){k->group,
					      version.len ? arena_text(a, version.ptr, version.len)
							  : k->version,
					      k->plural};
	}
	return (struct place){arena_text(a, group.ptr, group.len),
			      arena_text(a, version.ptr, version.len), plural_of(kind, a)};
}

static const char *uri_of(const struct obj *row, const struct place *p, struct arena *a)
{
	const char *ns = text(row, "subject.namespace"), *name = text(row, "subject.name");
	const char *sub = text(row, "body.subresource");
	if (!*p->version)
		return "";
	return arena_fmt(a, "%s%s/%s/%s%s%s%s%s%s%s%s", *p->group ? "/apis/" : "/api", p->group,
			 p->version, *ns ? "namespaces/" : "", ns, *ns ? "/" : "", p->plural,
			 *name ? "/" : "", name, *sub ? "/" : "", sub);
}

static struct obj *k8s_user(const struct obj *row)
{
	struct obj *user = obj_map();
	obj_set_str(user, "username", actor_of(row));
	if (!obj_str(row, "body.who.impersonator") && obj_len(obj_path(row, "body.who.groups")))
		obj_set(user, "groups", obj_ref(obj_path(row, "body.who.groups")));
	return user;
}

static struct obj *k8s_ref(const struct obj *row, const struct place *p)
{
	struct obj *ref = obj_map();
	set_text(ref, "resource", p->plural);
	set_text(ref, "namespace", text(row, "subject.namespace"));
	set_text(ref, "name", text(row, "subject.name"));
	set_text(ref, "uid", text(row, "subject.uid"));
	set_text(ref, "apiGroup", p->group);
	set_text(ref, "apiVersion", p->version);
	set_text(ref, "resourceVersion", text(row, "body.rvAfter"));
	set_text(ref, "subresource", text(row, "body.subresource"));
	return ref;
}

/* What has no place in an Event: one annotation each. */
static struct obj *k8s_annotations(const struct obj *row, const char *origin)
{
	static const char *const keys[] = {"seq", "type", "reason", "cause", "transitionSeq", "op"};
	struct obj *notes = obj_map();
	CLEANUP(xfreep) char *body = json_text(obj_get(row, "body"));
	obj_set_str(notes, "audit.app.coreos.com/origin", origin);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
		const struct obj *v = obj_get(row, keys[i]);
		int64_t n = 0;
		strbuf_addf(&key, "audit.app.coreos.com/%s", keys[i]);
		if (obj_as_i64(v, &n))
			obj_set(notes, key.buf, obj_stringf("%" PRId64, n));
		else if (v)
			obj_set(notes, key.buf, obj_ref(v));
	}
	set_text(notes, "audit.app.coreos.com/cluster", text(row, "subject.cluster"));
	set_text(notes, "audit.app.coreos.com/trust", text(row, "body.who.trust"));
	obj_set_str(notes, "audit.app.coreos.com/body", body);
	return notes;
}

static const char *k8s_verb(const struct obj *row, struct arena *a)
{
	const char *verb = obj_str(row, "body.verb");
	return is_type(row, "Write") && verb ? verb : lower(text(row, "type"), a);
}

static void put_line(struct obj *o, struct strbuf *b)
{
	CLEANUP(xfreep) char *line = json_text(o);
	strbuf_adds(b, line);
	strbuf_addc(b, '\n');
	obj_unref(o);
}

static void k8s_row(const struct obj *row, const char *origin, struct strbuf *b)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(LINE_BYTES_MAX);
	char time[CLOCK_TEXT_MAX];
	struct obj *o = obj_map();
	struct place p = place_of(row, a);
	const char *op = obj_str(row, "op"), *as = obj_str(row, "body.who.user");
	struct str host = host_of(row);
	time_text(row, time);
	obj_set_str(o, "kind", "Event");
	obj_set_str(o, "apiVersion", "audit.k8s.io/v1");
	obj_set_str(o, "level", "Metadata");
	obj_set(o, "auditID",
		op ? obj_string(op) : obj_stringf("%s-%" PRId64, origin, obj_i64(row, "seq", 0)));
	obj_set_str(o, "stage", "ResponseComplete");
	obj_set_str(o, "requestURI", is_type(row, "Write") ? uri_of(row, &p, a) : "");
	obj_set_str(o, "verb", k8s_verb(row, a));
	obj_set(o, "user", k8s_user(row));
	if (as) {
		struct obj *user = obj_map();
		obj_set_str(user, "username", as);
		obj_set(o, "impersonatedUser", user);
	}
	if (host.len) {
		struct obj *ips = obj_list();
		obj_append(ips, obj_stringn(host));
		obj_set(o, "sourceIPs", ips);
	}
	set_text(o, "userAgent", text(row, "body.who.via"));
	obj_set(o, "objectRef", k8s_ref(row, &p));
	if (obj_i64(row, "body.code", 0)) {
		struct obj *status = obj_map();
		obj_set(status, "metadata", obj_map());
		obj_set_int(status, "code", obj_i64(row, "body.code", 0));
		obj_set(o, "responseStatus", status);
	}
	obj_set_str(o, "requestReceivedTimestamp", time);
	obj_set_str(o, "stageTimestamp", time);
	obj_set(o, "annotations", k8s_annotations(row, origin));
	put_line(o, b);
}

/* --- CloudEvents --- */

/* RFC 3986: what may stand in a path as it is. */
static void add_path(struct str s, struct strbuf *b)
{
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];
		if (char_is_alnum((char)c) || (c && strchr("-._~/:@", c)))
			strbuf_addc(b, (char)c);
		else
			strbuf_addf(b, "%%%02X", c);
	}
}

struct obj *export_cloudevent(const struct obj *row, const char *origin)
{
	CLEANUP(strbuf_release) struct strbuf source = STRBUF_INIT(STRBUF_SMALL);
	char time[CLOCK_TEXT_MAX];
	const char *ns = text(row, "subject.namespace");
	struct obj *o = obj_map();
	time_text(row, time);
	strbuf_adds(&source, "/alm/");
	add_path(str_of(origin), &source);
	obj_set_str(o, "specversion", "1.0");
	obj_set(o, "id", obj_stringf("%" PRId64, obj_i64(row, "seq", 0)));
	obj_set_str(o, "source", source.buf);
	obj_set(o, "type", obj_stringf("com.coreos.app.audit.%s", text(row, "type")));
	obj_set(o, "subject",
		obj_stringf("%s/%s%s%s", text(row, "subject.kind"), ns, *ns ? "/" : "",
			    text(row, "subject.name")));
	obj_set_str(o, "time", time);
	obj_set_str(o, "datacontenttype", "application/json");
	obj_set(o, "data", obj_ref(row));
	return o;
}

static void cloudevents_row(const struct obj *row, const char *origin, struct strbuf *b)
{
	put_line(export_cloudevent(row, origin), b);
}

/* --- OCSF --- */

#define OCSF_VERSION "1.3.0"
#define OCSF_CREATE  1
#define OCSF_UPDATE  3
#define OCSF_DELETE  4
#define OCSF_OTHER   99

static const char *const activity_names[] = {
	[OCSF_CREATE] = "Create", [OCSF_UPDATE] = "Update", [OCSF_DELETE] = "Delete"};

static int activity_of(const struct obj *row)
{
	const char *verb = text(row, "body.verb"), *reason = text(row, "reason");
	if (is_type(row, "Write")) /* an apply may have created it */
		return obj_i64(row, "body.code", 0) == 201 || !strcmp(verb, "create") ? OCSF_CREATE
		       : cstr_has_prefix(verb, "delete")                              ? OCSF_DELETE
										      : OCSF_UPDATE;
	if (cstr_has_prefix(reason, "Delet")) /* Deleted, DeletionAsked */
		return OCSF_DELETE;
	if (cstr_has_suffix(reason, "Created") || obj_i64(row, "transitionSeq", 0) == 1)
		return OCSF_CREATE;
	return is_type(row, "Observe") || is_type(row, "Transition") ? OCSF_UPDATE : OCSF_OTHER;
}

static struct obj *ocsf_metadata(const struct obj *row, const char *origin)
{
	struct obj *m = obj_map(), *product = obj_map();
	obj_set_str(product, "name", "ALM");
	obj_set_str(product, "vendor_name", "ALM");
	obj_set_str(product, "version", ALM_VERSION);
	obj_set_str(m, "version", OCSF_VERSION);
	obj_set(m, "product", product);
	obj_set(m, "uid", obj_stringf("%" PRId64, obj_i64(row, "seq", 0)));
	obj_set_str(m, "log_name", origin);
	return m;
}

static struct obj *ocsf_actor(const struct obj *row)
{
	struct obj *actor = obj_map(), *user = obj_map(), *groups = obj_list();
	const struct obj *list = obj_path(row, "body.who.groups");
	obj_set_str(user, "name", actor_of(row));
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *g = obj_map();
		set_text(g, "name", obj_as_string(obj_at(list, i)));
		obj_append(groups, g);
	}
	if (obj_len(groups))
		obj_set(user, "groups", groups);
	else
		obj_unref(groups);
	obj_set(actor, "user", user);
	return actor;
}

static struct obj *ocsf_thing(const struct obj *row)
{
	struct obj *thing = obj_map();
	const char *ns = text(row, "subject.namespace");
	obj_set(thing, "name",
		obj_stringf("%s%s%s", ns, *ns ? "/" : "", text(row, "subject.name")));
	set_text(thing, "uid", text(row, "subject.uid"));
	set_text(thing, "type", text(row, "subject.kind"));
	return thing;
}

static void ocsf_api(const struct obj *row, struct obj *o)
{
	struct obj *api = obj_map(), *end = obj_map(), *list = obj_list();
	const char *verb = obj_str(row, "body.verb");
	struct str host = host_of(row);
	obj_set_str(api, "operation", verb ? verb : text(row, "reason"));
	if (obj_i64(row, "body.code", 0)) {
		struct obj *response = obj_map();
		obj_set_int(response, "code", obj_i64(row, "body.code", 0));
		obj_set(api, "response", response);
	}
	obj_set(o, "actor", ocsf_actor(row));
	obj_set(o, "api", api);
	if (host.len)
		obj_set(end, "ip", obj_stringn(host));
	else
		obj_set_str(end, "name",
			    *text(row, "body.who.address") ? text(row, "body.who.address")
							   : actor_of(row));
	obj_set(o, "src_endpoint", end);
	obj_append(list, ocsf_thing(row));
	obj_set(o, "resources", list);
}

static void ocsf_row(const struct obj *row, const char *origin, struct strbuf *b)
{
	struct obj *o = obj_map(), *rest = obj_map();
	bool is_api = is_type(row, "Write") || is_type(row, "Observe");
	int class = is_api ? 6003 : 3004, activity = activity_of(row);
	bool failed = obj_i64(row, "body.code", 0) >= 400;
	obj_set_int(o, "class_uid", class);
	obj_set_int(o, "category_uid", class / 1000);
	obj_set_int(o, "activity_id", activity);
	obj_set_str(o, "activity_name",
		    activity == OCSF_OTHER ? text(row, "reason") : activity_names[activity]);
	obj_set_int(o, "type_uid", (int64_t)class * 100 + activity);
	obj_set_int(o, "time", row_time_us(row) / 1000);
	obj_set_int(o, "severity_id", failed ? 2 : 1);
	obj_set_int(o, "status_id", failed ? 2 : 1);
	obj_set(o, "metadata", ocsf_metadata(row, origin));
	set_text(o, is_api ? "message" : "comment", said(row));
	if (is_api)
		ocsf_api(row, o);
	else {
		obj_set(o, "actor", ocsf_actor(row));
		obj_set(o, "entity", ocsf_thing(row));
	}
	obj_set(rest, "record", obj_ref(row));
	obj_set(o, "unmapped", rest);
	put_line(o, b);
}

static const struct export_form forms[] = {
	{"csv", EXPORT_CSV_HEADER, export_csv_row},
	{"k8s", NULL, k8s_row},
	{"cloudevents", NULL, cloudevents_row},
	{"ocsf", NULL, ocsf_row},
};

const struct export_form *export_form_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (cstr_eq(forms[i].name, name))
			return &forms[i];
	return NULL;
}
