/* removal: see removal.h. */
#include "alm/cli/kube/removal.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/map.h"
#include "alm/base/visible.h"
#include "alm/cli/term.h"
#include "alm/controllers/app/install_plan.h"
#include "alm/io/http.h"
#include "alm/obj/meta.h"
#include "alm/unit/unit.h"
#include "crds/marks.h"

#define STRATEGIES "/apis/opinstaller.coreos.com/v1beta1/installstrategies"

struct removal {
	struct cli *c;
	struct session *s;
	const char *app;
	struct map *seen;          /* "KIND NS/NAME" */
	struct strbuf goes, stays; /* lines */
	const char *with;          /* --with-crd of each definition that has objects, or has none */
};

/* "Deployment etcd/etcd-operator" */
static const char *text_of(const struct removal *x, const struct obj *o, const char *ns)
{
	return arena_fmt(x->c->arena, "%s %s%s%s", meta_kind(o), ns ? ns : "", ns ? "/" : "",
			 meta_name(o));
}

/* How many custom resources there are; -1: its kind is not served. */
static int64_t count_instances(struct removal *x, const char *crd)
{
	struct error ignored = ERROR_INIT;
	struct resource r;
	const struct obj *list = NULL;
	if (session_resource(x->s, crd, &r, &ignored) < 0 ||
	    session_get(x->s, session_target(x->s, &r, NULL, NULL, NULL), &list, &ignored) < 0)
		return -1;
	return (int64_t)obj_len(obj_get(list, "items"));
}

static void add_kept(struct removal *x, const struct obj *o, const char *text)
{
	if (!cstr_eq(meta_kind(o), "CustomResourceDefinition")) {
		visible_addf(&x->stays, "  %s\n", text);
		return;
	}
	int64_t n = count_instances(x, meta_name(o));
	if (n < 0) {
		visible_addf(&x->stays, "  %s, whose objects cannot be counted\n", text);
		return;
	}
	visible_addf(&x->stays, "  %s with %lld object%s\n", text, (long long)n, n == 1 ? "" : "s");
	x->with = arena_fmt(x->c->arena, "%s --with-crd %s=%lld", x->with, meta_name(o),
			    (long long)n);
}

/* One that a plan lists: it may be gone, or somebody else's by now. */
static int add_object(struct removal *x, const struct obj *o, const char *plan_ns,
		      struct error *err)
{
	struct resource r;
	const struct obj *live = NULL;
	struct error gone = ERROR_INIT;
	if (session_kind(x->s, o, &r, &gone) < 0)
		return 0; /* it is not served: there is none */
	const char *own = meta_namespace(o), *ns = r.namespaced ? (own ? own : plan_ns) : NULL;
	const char *text = text_of(x, o, ns);
	if (map_has(x->seen, text))
		return 0;
	map_set_number(x->seen, text, 1);
	int rc = session_get(x->s, session_target(x->s, &r, ns, meta_name(o), NULL), &live, &gone);
	if (rc == -E_NOTFOUND)
		return 0;
	if (rc < 0)
		return error_copy(err, &gone);
	if (unit_is_kept(o))
		add_kept(x, o, text);
	else if (cstr_eq(meta_label(live, LABEL_APP), x->app))
		visible_addf(&x->goes, "  %s\n", text);
	return 0;
}

static int add_plan(struct removal *x, const struct obj *doc, struct error *err)
{
	const struct obj *objects = obj_get(doc, "objects");
	int r = 0;
	for (size_t i = 0; r >= 0 && i < obj_len(objects); i++)
		r = add_object(x, obj_get(obj_at(objects, i), "object"), obj_str(doc, "namespace"),
			       err);
	return r;
}

static int add_strategy(struct removal *x, const struct obj *strategy, struct error *err)
{
	struct arena *a = x->c->arena;
	const char *name = meta_name(strategy);
	int64_t revision = obj_i64(strategy, "status.revision", 0);
	const struct obj *secrets = NULL;
	const char *query =
		url_encode(str_of(arena_fmt(a, LABEL_PLAN "=%s", app_label_value(name, a))), a);
	if (!revision || !cstr_eq(obj_str(strategy, "spec.appTypeRef.name"), x->app))
		return 0; /* nothing of it was ever planned */
	if (session_get(
		    x->s,
		    arena_fmt(a, "/api/v1/namespaces/" SYSTEM_NAMESPACE "/secrets?labelSelector=%s",
			      query),
		    &secrets, err) < 0)
		return -err->code;
	const struct obj *doc =
		install_plan_of_secrets(obj_get(secrets, "items"), name, revision, a);
	return doc ? add_plan(x, doc, err) : 0;
}

static void print(const struct removal *x)
{
	term_print(x->goes.len ? "goes with it:\n" : "nothing else goes with it\n");
	term_lines(strbuf_str(&x->goes));
	if (x->stays.len)
		term_print("stays:\n");
	term_lines(strbuf_str(&x->stays));
	if (*x->with)
		term_print("with definitions and objects: alm delete apptype %s%s\n", x->app,
			   x->with);
}

int removal_print(struct cli *c, struct session *s, const struct obj *app, struct error *err)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	struct removal x = {.c = c, .s = s, .app = meta_name(app), .seen = seen, .with = ""};
	const struct obj *all = NULL;
	strbuf_init(&x.goes, STRBUF_SMALL);
	strbuf_init(&x.stays, STRBUF_SMALL);
	int r = session_get(s, STRATEGIES, &all, err);
	const struct obj *items = obj_get(all, "items");
	for (size_t i = 0; r >= 0 && i < obj_len(items); i++)
		r = add_strategy(&x, obj_at(items, i), err);
	if (r >= 0)
		print(&x);
	strbuf_release(&x.goes);
	strbuf_release(&x.stays);
	return r;
}
