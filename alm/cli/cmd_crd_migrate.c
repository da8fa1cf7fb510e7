/* `alm crd migrate CRD --to VERSION`: writes every object through the new version, then trims
 * status.storedVersions (lifecycle.md 7.5). Can be stopped and started anew at any point. */
#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/cli/cmds.h"
#include "alm/cli/session.h"
#include "alm/obj/meta.h"

#define CRDS          "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define TRIES_MAX     10
#define PAGE_MAX      500
#define OBJECTS_SHOWN 20

struct migration {
	struct cli *c;
	struct session *s;
	const struct obj *crd;
	struct resource r;
	const char *to;
	bool dry_run;
	size_t n;
};

static bool is_storage(const struct obj *crd, const char *version)
{
	const struct obj *list = obj_path(crd, "spec.versions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "name"), version))
			return obj_flag(obj_at(list, i), "storage", false);
	return false;
}

static const char *versions_text(const struct obj *list, struct arena *a)
{
	const char *text = "";
	for (size_t i = 0; i < obj_len(list); i++)
		text = arena_fmt(a, "%s%s%s", text, i ? " " : "", obj_as_string(obj_at(list, i)));
	return text;
}

/* Unchanged but for its apiVersion: the server takes it for a no-op only if it is stored so
 * already. */
static int write_object(struct migration *m, const struct obj *o, struct error *err)
{
	const char *ns = meta_namespace(o), *name = meta_name(o);
	const char *target = session_target(m->s, &m->r, ns, name, "fieldManager=alm-migrate");
	for (int i = 0; i < TRIES_MAX; i++) {
		struct session_reply reply;
		struct session_request q = {.method = "PUT", .target = target, .body = o};
		int r = session_send(m->s, &q, &reply, err);
		if (r >= 0 || err->code == E_NOTFOUND)
			break;
		if (err->code != E_CONFLICT)
			return error_wrap(err, "%s%s%s", ns ? ns : "", ns ? "/" : "", name);
		r = session_get(m->s, target, &o, err);
		if (r < 0 && err->code == E_NOTFOUND)
			break;
		if (r < 0)
			return r;
	}
	m->n++;
	if (m->n <= OBJECTS_SHOWN)
		printf("%s%s%s written as %s\n", ns ? ns : "", ns ? "/" : "", name, m->to);
	else if (m->n % PAGE_MAX == 0)
		printf("%zu written\n", m->n);
	return 0;
}

static int write_page(struct migration *m, const struct obj *items, struct error *err)
{
	for (size_t i = 0; i < obj_len(items); i++) {
		if (m->dry_run)
			m->n++;
		else if (write_object(m, obj_at(items, i), err) < 0)
			return -err->code;
	}
	return 0;
}

static int write_all(struct migration *m, struct error *err)
{
	const char *next = "";
	do {
		const struct obj *page = NULL;
		struct arena *a = m->c->arena;
		const char *query = *next ? arena_fmt(a, "limit=%d&continue=%s", PAGE_MAX,
						      url_encode(str_of(next), a))
					  : arena_fmt(a, "limit=%d", PAGE_MAX);
		int r = session_get(m->s, session_target(m->s, &m->r, NULL, NULL, query), &page,
				    err);
		if (r < 0 && err->code == E_EXPIRED && *next) {
			next = ""; /* starts over, harmlessly */
			continue;
		}
		if (r < 0 || write_page(m, obj_get(page, "items"), err) < 0)
			return -err->code;
		next = obj_str(page, "metadata.continue");
		next = next ? next : "";
	} while (*next);
	return 0;
}

/* storedVersions becomes [to] with a precondition; the note lifts ResourceDropped (lifecycle.md 3).
 */
static int trim_stored(struct migration *m, struct error *err)
{
	struct session_reply reply;
	struct arena *a = m->c->arena;
	const struct obj *live = NULL;
	char now[CLOCK_TEXT_MAX];
	const char *target = arena_fmt(a, CRDS "/%s", meta_name(m->crd));
	if (session_get(m->s, target, &live, err) < 0)
		return -err->code;
	if (!is_storage(live, m->to))
		return error_set(err, E_CONFLICT,
				 "%s is no longer the storage version; start again", m->to);
	const struct obj *old = obj_path(live, "status.storedVersions");
	struct obj *patch = obj_keep(a, obj_map()), *list = obj_list(), *notes = obj_map();
	clock_format(loop_now(session_loop(m->s)), CLOCK_SECONDS, now);
	for (size_t i = 0; i < obj_len(old); i++)
		if (!cstr_eq(obj_as_string(obj_at(old, i)), m->to))
			obj_set_str(notes,
				    arena_fmt(a, "app.coreos.com/migrated-from.%s",
					      obj_as_string(obj_at(old, i))),
				    now);
	obj_set(patch, "metadata", obj_map());
	obj_set_path(patch, "metadata.resourceVersion", obj_string(meta_resource_version(live)));
	obj_append(list, obj_string(m->to));
	obj_set(patch, "status", obj_map());
	obj_set_path(patch, "status.storedVersions", list);
	struct session_request q = {
		.method = "PATCH",
		.target = arena_fmt(a, "%s/status?fieldManager=alm-migrate", target),
		.content_type = MERGE_PATCH,
		.body = patch};
	if (session_send(m->s, &q, &reply, err) < 0)
		return -err->code;
	struct obj *note = obj_keep(a, obj_map());
	obj_set(note, "metadata", obj_map());
	obj_set_path(note, "metadata.annotations", notes);
	q.target = arena_fmt(a, "%s?fieldManager=alm-migrate", target);
	q.body = note;
	if (session_send(m->s, &q, &reply, err) < 0)
		return -err->code;
	printf("storedVersions [%s] -> [%s]\n", versions_text(old, a), m->to);
	return 0;
}

static int migrate(struct migration *m, struct error *err)
{
	const char *target =
		arena_fmt(m->c->arena, CRDS "/%s", url_encode(str_of(m->c->args[0]), m->c->arena));
	if (session_get(m->s, target, &m->crd, err) < 0)
		return -err->code;
	if (!is_storage(m->crd, m->to))
		return error_set(err, E_REFUSED,
				 "%s is not the storage version of %s; migrate to that one", m->to,
				 m->c->args[0]);
	m->r = (struct resource){.group = obj_str(m->crd, "spec.group"),
				 .version = m->to,
				 .plural = obj_str(m->crd, "spec.names.plural"),
				 .kind = obj_str(m->crd, "spec.names.kind"),
				 .namespaced =
					 cstr_eq(obj_str(m->crd, "spec.scope"), "Namespaced")};
	if (write_all(m, err) < 0)
		return -err->code;
	if (m->dry_run) {
		printf("%zu object%s would be written as %s\n", m->n, m->n == 1 ? "" : "s", m->to);
		return 0;
	}
	return trim_stored(m, err);
}

static int migrate_run(struct cli *c, struct error *err)
{
	struct migration m = {.c = c, .to = cli_value(c, "to"), .dry_run = cli_flag(c, "dry-run")};
	if (!m.to)
		return error_set(err, E_USAGE, "--to VERSION is required");
	int r = session_open(c, &m.s, err);
	if (!r)
		r = migrate(&m, err);
	session_free(m.s);
	return r;
}

static const struct cmd_option options[] = {
	{"to", "VERSION", "the storage version to write every object as (required)", 0},
	{"dry-run", NULL, "only count", 0},
	{0},
};

const struct cmd cmd_crd_migrate = {
	.name = "migrate",
	.usage = "alm crd migrate CRD --to VERSION [--dry-run]",
	.summary = "write every object as the storage version, then forget the old stored versions",
	.options = options,
	.args = {1, 1},
	.run = migrate_run,
};
