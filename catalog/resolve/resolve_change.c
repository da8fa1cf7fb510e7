/* One change: from a refusal to the command that lifts it, and what the input is afterwards. */
#include <string.h>

#include "alm/base/visible.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/nextstep.h"
#include "catalog/resolve/resolve_internal.h"
#include "catalog/resolve/resolve_relax.h"

#define VALUE_BYTES_MAX ((size_t)1 << 20)

static const char *patch(struct arena *a, const char *app, const char *spec)
{
	return nextstep_new(a, NULL, "kubectl patch apptype %s --type=merge -p '{\"spec\":{%s}}'",
			    app, spec);
}

/* The value may be a publisher's (a channel): it ends neither the string nor the shell's word. */
static const char *patch_field(struct arena *a, const char *app, const char *field,
			       const char *value)
{
	CLEANUP(obj_unrefp) struct obj *text = obj_string(value);
	CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(VALUE_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(VALUE_BYTES_MAX);
	json_print(text, &json);
	visible_add_shell_json(&safe, json.buf);
	return patch(a, app, arena_fmt(a, "\"%s\":%s", field, safe.buf));
}

static void word(struct resolve_change *c, struct arena *a)
{
	const char *app = c->app, *v = c->value;
	const char *to = patch(a, app, arena_fmt(a, "\"upgrade\":{\"to\":\"%s\"}", v));
	switch (c->type) {
	case CHANGE_TO:
		c->command = nextstep_new(a, NULL, "alm upgrade %s --to %s", app, v);
		c->kubectl = to;
		break;
	case CHANGE_BACK:
		c->command = nextstep_new(a, NULL, "alm rollback %s --to %s --reason TEXT", app, v);
		c->kubectl = to;
		break;
	case CHANGE_RANGE:
		c->command = patch_field(a, app, "version", v);
		break;
	case CHANGE_CHANNEL:
		c->command = patch_field(a, app, "channel", v);
		break;
	case CHANGE_RETRY:
		c->command = nextstep_new(a, NULL, "alm retry %s %s", app, v);
		c->kubectl = nextstep_new(
			a, NULL, "kubectl annotate apptype %s app.coreos.com/retry=%s --overwrite",
			app, v);
		break;
	case CHANGE_APPROVE:
		c->command = nextstep_new(a, NULL, "alm approve %s %s --reason TEXT", app, v);
		break;
	case CHANGE_RESUME:
		c->command = patch(a, app, "\"paused\":false");
		break;
	case CHANGE_UPGRADE:
		c->command = nextstep_new(a, NULL, "alm upgrade %s --to %s", app, v);
		c->kubectl = to;
		break;
	case CHANGE_MIGRATE:
	case CHANGE_WAIVE:
	case CHANGE_OWNER:
	case CHANGE_CRD:
	case CHANGE_REQUIREMENT:
	case CHANGE_GATE:
		break; /* worded where they are made */
	}
}

const struct resolve_change *resolve_change_new(enum resolve_change_type type, const char *app,
						const char *value, struct arena *a)
{
	struct resolve_change *c = ARENA_NEW(a, struct resolve_change);
	*c = (struct resolve_change){.type = type, .app = app, .value = value};
	word(c, a);
	return c;
}

static struct resolve_change *blank(enum resolve_change_type type, const char *app,
				    const char *value, struct arena *a)
{
	struct resolve_change *c = ARENA_NEW(a, struct resolve_change);
	*c = (struct resolve_change){.type = type, .app = app, .value = value};
	return c;
}

/* Stored objects are rewritten; what is not stored any more may be waived. */
static const struct resolve_change *for_drop(const struct resolver *r, const struct candidate *c,
					     const char *app, struct arena *a)
{
	struct resolve_usage u = {0};
	struct resource_ref ref;
	if (r->in->usage)
		r->in->usage(r->in->arg, c->subject, &u);
	if (!resource_ref_parse(c->subject, a, &ref))
		return NULL;
	if (u.next_version) {
		struct resolve_change *x = blank(CHANGE_MIGRATE, app, c->subject, a);
		const char *first =
			u.writer && u.first_object
				? arena_fmt(a, "; first change apiVersion in what %s writes: %s",
					    u.writer, u.first_object)
				: "";
		x->command = nextstep_new(a, NULL, "alm crd migrate %s.%s --to %s", ref.plural,
					  ref.group, u.next_version);
		x->note = arena_fmt(a, "rewrites %lld object%s, then storedVersions is [%s]%s",
				    (long long)u.objects, u.objects == 1 ? "" : "s", u.next_version,
				    first);
		return x;
	}
	if (resolver_holds_objects(&u))
		return NULL;
	struct resolve_change *x = blank(CHANGE_WAIVE, app, c->subject, a);
	x->command =
		nextstep_new(a, NULL, "alm upgrade %s --to %s --accept-dropped %s --reason TEXT",
			     app, c->version, c->subject);
	x->note = RELAX_WAIVE_NOTE;
	return x;
}

static const struct resolve_change *
for_conflict(const struct resolver *r, const struct candidate *c, const char *app, struct arena *a)
{
	const struct resolve_crd *crd = r->in->crd ? r->in->crd(r->in->arg, c->subject) : NULL;
	if (!crd)
		return NULL; /* another app began to install it */
	struct resolve_change *x = blank(CHANGE_OWNER, app, c->subject, a);
	x->command =
		nextstep_new(a, NULL, "kubectl annotate crd %s app.coreos.com/owner=%s --overwrite",
			     c->subject, r->in->self_ref);
	x->note = arena_fmt(a, "takes it from %s",
			    crd->foreign_owner ? crd->foreign_owner : crd->owner);
	return x;
}

static const struct resolve_change *for_crd(const struct candidate *c, const char *app,
					    struct arena *a)
{
	const char *slash = strchr(c->subject, '/');
	struct resolve_change *x = blank(CHANGE_CRD, app, c->subject, a);
	x->command = nextstep_new(a, NULL, "kubectl create -f -");
	x->note = arena_fmt(a, "give it the definition of %s, serving %s",
			    resolver_crd_name(a, c->subject), slash ? slash + 1 : "it");
	return x;
}

static const struct resolve_change *for_requirement(const struct candidate *c, const char *app,
						    struct arena *a)
{
	struct resolve_change *x = blank(CHANGE_REQUIREMENT, app, c->subject, a);
	x->command = nextstep_new(a, NULL, "kubectl create -f -");
	x->note = arena_fmt(a, "give it what is missing: %s", c->subject);
	return x;
}

static const struct resolve_change *for_range(const struct resolver *r, const struct candidate *c,
					      const char *app, struct arena *a)
{
	const char *range = r->in->range && *r->in->range ? r->in->range : "*";
	return resolve_change_new(CHANGE_RANGE, app, arena_fmt(a, "%s || =%s", range, c->version),
				  a);
}

/* The version the other app would take next, if it is one that does not ask for what is dropped. */
static const struct resolve_change *for_other(const struct resolver *r, const struct candidate *c,
					      struct arena *a)
{
	const struct resolve_input *its =
		r->in->other ? r->in->other(r->in->arg, c->subject) : NULL;
	struct resolution answer;
	if (!its)
		return NULL;
	resolve_run(its, a, &answer);
	if (!answer.chosen)
		return NULL;
	return resolve_change_new(CHANGE_UPGRADE, c->subject, answer.chosen->version, a);
}

const struct resolve_change *resolve_change_for(const struct resolver *r, const struct candidate *c,
						const char *app, struct arena *a)
{
	const char *reason = c->reason;
	if (c->manual && cstr_eq(c->manual->blocked, reason) && !c->subject)
		return NULL; /* its own planning refused it, of what the resolver knows nothing */
	if (!strcmp(reason, "NotRequested") || !strcmp(reason, "NotNewer"))
		return resolve_change_new(resolver_goes_back(r, c) ? CHANGE_BACK : CHANGE_TO, app,
					  c->version, a);
	if (!strcmp(reason, "OutOfRange") || !strcmp(reason, "Prerelease"))
		return for_range(r, c, app, a);
	if (!strcmp(reason, "NotInChannel"))
		return resolve_change_new(CHANGE_CHANNEL, app, c->entry->channels[0], a);
	if (!strcmp(reason, "PreviouslyFailed"))
		return resolve_change_new(CHANGE_RETRY, app, c->version, a);
	if (!strcmp(reason, "ResourceDropped"))
		return for_drop(r, c, app, a);
	if (!strcmp(reason, "ResourceConflict"))
		return for_conflict(r, c, app, a);
	if (!strcmp(reason, "NeededByOther"))
		return for_other(r, c, a);
	if (!strcmp(reason, "ResourceMissing"))
		return for_crd(c, app, a);
	if (!strcmp(reason, "RequirementUnmet"))
		return for_requirement(c, app, a);
	if (!strcmp(reason, "CRDIncompatible") && c->gate_steps && c->gate_steps[0]) {
		struct resolve_change *x = blank(CHANGE_GATE, app, c->entry->digest, a);
		x->steps = c->gate_steps;
		return x;
	}
	return NULL;
}

/* --- the input afterwards --- */

struct overlay {
	const struct resolve_input *base;
	const struct resolve_change *const *changes;
	size_t n;
	struct arena *a;
};

static const struct resolve_change *made(const struct overlay *o, enum resolve_change_type type,
					 const char *value)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->changes[i]->type == type && !strcmp(o->changes[i]->value, value))
			return o->changes[i];
	return NULL;
}

static const struct resolve_crd *changed_crd(void *arg, const char *name)
{
	const struct overlay *o = arg;
	const struct resolve_crd *crd = o->base->crd ? o->base->crd(o->base->arg, name) : NULL;
	const struct resolve_change *owner = made(o, CHANGE_OWNER, name);
	struct resolve_crd *copy = NULL;
	if (owner && crd) {
		copy = arena_memdup(o->a, crd, sizeof(*crd));
		copy->owner = o->base->self_ref;
		copy->foreign_owner = NULL;
		copy->released = false;
	}
	for (size_t i = 0; i < o->n; i++) {
		const struct resolve_change *c = o->changes[i];
		const char *slash = strchr(c->value, '/');
		if (c->type != CHANGE_CRD || !slash ||
		    strcmp(resolver_crd_name(o->a, c->value), name) != 0)
			continue;
		static const char *const none[] = {NULL};
		copy = ARENA_NEW(o->a, struct resolve_crd);
		const char **served = ARENA_ARRAY(o->a, const char *, 2);
		served[0] = slash + 1;
		*copy = (struct resolve_crd){.name = name, .served = served, .stored = none};
	}
	return copy ? copy : crd;
}

static void changed_usage(void *arg, const char *resource, struct resolve_usage *ret)
{
	const struct overlay *o = arg;
	o->base->usage(o->base->arg, resource, ret);
	if (!made(o, CHANGE_MIGRATE, resource))
		return;
	ret->migrated = true;
	ret->stored = false;
}

static const char *changed_unmet(void *arg, const struct obj *requirement, struct arena *a)
{
	const struct overlay *o = arg;
	const char *lack = o->base->unmet(o->base->arg, requirement, a);
	return lack && made(o, CHANGE_REQUIREMENT, lack) ? NULL : lack;
}

static enum resolve_gate changed_gate(void *arg, const char *digest, const char **ret_message,
				      const char *const **ret_steps)
{
	const struct overlay *o = arg;
	if (made(o, CHANGE_GATE, digest))
		return GATE_ALLOW;
	return o->base->gate(o->base->arg, digest, ret_message, ret_steps);
}

static int64_t unchanged_first_seen(void *arg, const char *version)
{
	const struct overlay *o = arg;
	return o->base->first_seen(o->base->arg, version);
}

static const struct resolve_input *changed_other(void *arg, const char *app)
{
	const struct overlay *o = arg;
	const struct resolve_input *its = o->base->other(o->base->arg, app);
	return its ? resolve_changed(its, o->changes, o->n, o->a) : NULL;
}

static const char **append(const char *const *list, const char *more, struct arena *a)
{
	size_t n = 0;
	while (list && list[n])
		n++;
	const char **copy = ARENA_ARRAY(a, const char *, n + 2);
	for (size_t i = 0; i < n; i++)
		copy[i] = list[i];
	copy[n] = more;
	return copy;
}

static const char **without_failure(const char *const *list, const char *version, struct arena *a)
{
	size_t n = 0, kept = 0, len = strlen(version);
	while (list && list[n])
		n++;
	const char **copy = ARENA_ARRAY(a, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		if (strncmp(list[i], version, len) != 0 || list[i][len] != '@')
			copy[kept++] = list[i];
	return copy;
}

static void add_waiver(struct resolve_input *in, const char *resource, struct arena *a)
{
	struct resolve_waiver *w = ARENA_ARRAY(a, struct resolve_waiver, in->n_waivers + 1);
	for (size_t i = 0; i < in->n_waivers; i++)
		w[i] = in->waivers[i];
	w[in->n_waivers++] = (struct resolve_waiver){
		.rule = "ResourceDropped", .resource = resource, .reason = "TEXT"};
	in->waivers = w;
}

static void change_own(struct resolve_input *in, const struct resolve_change *c, struct arena *a)
{
	switch (c->type) {
	case CHANGE_TO:
	case CHANGE_BACK:
		in->to = c->value;
		break;
	case CHANGE_RANGE:
		in->range = c->value;
		break;
	case CHANGE_CHANNEL:
		in->channel = c->value;
		break;
	case CHANGE_RETRY:
		in->failed = without_failure(in->failed, c->value, a);
		break;
	case CHANGE_WAIVE:
		add_waiver(in, c->value, a);
		break;
	case CHANGE_APPROVE:
		in->approved = append(in->approved, c->value, a);
		break;
	case CHANGE_RESUME:
		in->paused = false;
		break;
	case CHANGE_MIGRATE:
	case CHANGE_OWNER:
	case CHANGE_CRD:
	case CHANGE_REQUIREMENT:
	case CHANGE_UPGRADE:
	case CHANGE_GATE:
		break; /* answers, see above; or the others' claims */
	}
}

static const struct package_version *entry_of(const struct resolve_input *in, const char *version,
					      struct arena *a)
{
	struct resolver r;
	struct resolution ignored;
	resolver_setup(&r, in, a, &ignored);
	const struct candidate *c = resolver_find(&r, version);
	return c ? c->entry : NULL;
}

static void upgrade_other(struct resolve_input *in, const struct resolve_change *c, struct arena *a)
{
	size_t n;
	const struct resolve_claim **old = claims_list(in->claims, a, &n);
	const struct resolve_input *its = in->other(in->arg, c->app);
	struct resolve_claim *list = ARENA_ARRAY(a, struct resolve_claim, n);
	for (size_t i = 0; i < n; i++) {
		list[i] = *old[i];
		if (strcmp(list[i].app, c->app) != 0 || !its)
			continue;
		list[i].version = c->value;
		list[i].entry = entry_of(its, c->value, a);
	}
	in->claims = resolve_claims_of(list, n, a);
}

const struct resolve_input *resolve_changed(const struct resolve_input *in,
					    const struct resolve_change *const *changes, size_t n,
					    struct arena *a)
{
	struct overlay *o = ARENA_NEW(a, struct overlay);
	struct resolve_input *copy = arena_memdup(a, in, sizeof(*in));
	*o = (struct overlay){.base = in, .changes = changes, .n = n, .a = a};
	for (size_t i = 0; i < n; i++) {
		if (changes[i]->type == CHANGE_UPGRADE)
			upgrade_other(copy, changes[i], a);
		else if (!strcmp(changes[i]->app, in->app))
			change_own(copy, changes[i], a);
	}
	copy->arg = o;
	copy->crd = changed_crd;
	if (in->usage)
		copy->usage = changed_usage;
	if (in->unmet)
		copy->unmet = changed_unmet;
	if (in->gate)
		copy->gate = changed_gate;
	if (in->first_seen)
		copy->first_seen = unchanged_first_seen;
	if (in->other)
		copy->other = changed_other;
	return copy;
}
