#include "alm/controllers/release_record.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/controllers/strategy.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "installers/gzip.h"

#define RECORD_BYTES_MAX ((size_t)512 << 10) /* before base64: a Secret holds 1 MiB */

static const char *record_name(const struct install_plan *p, int64_t revision, struct arena *a)
{
	return arena_fmt(a, "sh.helm.release.v1.%s.v%lld", p->release, (long long)revision);
}

/* The least record that helm 3 and 4 list, show, roll back and uninstall. */
static struct obj *record_of(struct strategy_pass *s, const char *status)
{
	char now[CLOCK_TEXT_MAX];
	struct obj *r = obj_map(), *info = obj_map();
	const struct install_plan *p = s->install;
	const struct obj *chart = obj_get(p->doc, "chart"), *config = obj_get(p->doc, "config");
	const char *manifest = obj_str(p->doc, "manifest");
	clock_format(s->v->now_ns, CLOCK_SECONDS, now);
	obj_set_str(info, "first_deployed", now);
	obj_set_str(info, "last_deployed", now);
	obj_set_str(info, "deleted", "");
	obj_set_str(info, "description",
		    s->app->installed ? "Upgrade complete" : "Install complete");
	obj_set_str(info, "status", status);
	obj_set_str(info, "notes", obj_str(p->doc, "notes"));
	obj_set_str(r, "name", p->release);
	obj_set_str(r, "namespace", p->ns);
	obj_set_int(r, "version", p->revision);
	obj_set(r, "info", info);
	obj_set(r, "chart", chart ? obj_ref(chart) : obj_map());
	obj_set(r, "config", config ? obj_ref(config) : obj_map());
	obj_set_str(r, "manifest", manifest ? manifest : "");
	return r;
}

static bool encode(const struct obj *record, struct strbuf *ret)
{
	struct error err;
	CLEANUP(xfreep) char *json = json_text(record);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(RECORD_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf helm = STRBUF_INIT(2 * RECORD_BYTES_MAX);
	if (gzip_pack(str_of(json), &packed, &err) < 0)
		return false;
	base64_encode(strbuf_str(&packed), &helm); /* Helm's own, then the API's */
	base64_encode(strbuf_str(&helm), ret);
	return !packed.over && !helm.over && !ret->over;
}

static void plan_record(struct strategy_pass *s, const char *name, const char *status)
{
	struct arena *a = s->v->a;
	CLEANUP(obj_unrefp) struct obj *record = record_of(s, status);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(3 * RECORD_BYTES_MAX);
	struct obj *o = meta_skeleton("v1", "Secret", s->install->ns, name);
	struct owner_ref owner = {.api_version = meta_api_version(s->app->o),
				  .kind = meta_kind(s->app->o),
				  .name = s->app->name,
				  .uid = meta_uid(s->app->o)};
	meta_set_label(o, "name", s->install->release);
	meta_set_label(o, "owner", "helm");
	meta_set_label(o, "status", status);
	meta_set_label(o, "version", arena_fmt(a, "%lld", (long long)s->install->revision));
	meta_set_label(o, LABEL_APP, s->app->name);
	meta_add_owner(o, &owner);
	obj_set_str(o, "type", "helm.sh/release.v1");
	if (!encode(record, &text)) { /* too large: the record says so, the plan has all */
		strbuf_clear(&text);
		obj_set_str(record, "manifest", "");
		encode(record, &text);
	}
	obj_set(o, "data", obj_map());
	obj_set_path(o, "data.release", obj_stringn(strbuf_str(&text)));
	plan_apply(s->plan, o, 0, true);
}

/* Records of lower revisions that still say deployed: only the newest may. Their text is kept by
 * applying it again with the new status label. */
static bool supersede_others(struct strategy_pass *s, const struct resource *secrets)
{
	bool done = true;
	for (int64_t r = 1; r < s->install->revision; r++) {
		const struct obj *live = NULL;
		const char *name = record_name(s->install, r, s->v->a);
		if (view_live(s->v, secrets, s->install->ns, name, &live) != 1 ||
		    !cstr_eq(meta_label(live, "status"), "deployed"))
			continue;
		struct obj *patch = obj_map(), *labels = obj_map();
		obj_set_str(labels, "status", "superseded");
		obj_set(patch, "metadata", obj_map());
		obj_set_path(patch, "metadata.labels", labels);
		plan_patch(s->plan, live, patch);
		done = false;
	}
	return done;
}

int release_record_plan(struct strategy_pass *s, const char *status)
{
	static const struct resource secrets = {.group = "",
						.version = "v1",
						.plural = "secrets",
						.kind = "Secret",
						.namespaced = true};
	const struct obj *live = NULL;
	const char *name = record_name(s->install, s->install->revision, s->v->a);
	int found = view_live(s->v, &secrets, s->install->ns, name, &live);
	if (found < 0) {
		plan_watch(s->plan, &secrets, LABEL_APP, false);
		return 0;
	}
	bool is_deployed = !strcmp(status, "deployed");
	if (found == 1 && (!is_deployed || cstr_eq(meta_label(live, "status"), status)))
		return is_deployed ? supersede_others(s, &secrets) : 1;
	plan_record(s, name, status);
	return 0;
}
