#include "alm/controllers/fleet/bundle_make.h"

#include "alm/controllers/fleet/bundle_ignore.h"
#include "alm/controllers/fleet/bundle_instances.h"
#include "alm/render/flat_job.h"

#define MESSAGE_MAX 4096

/* The stack of Jsonnet has lines of its own; a condition is one. */
static int one_line(const struct strbuf *msg, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(MESSAGE_MAX * 2);
	struct str rest = strbuf_str(msg), line;
	bool has_stack = err->reason == REASON_RENDER_FAILED;
	if (!has_stack)
		return -err->code;
	for (bool first = true; str_next_line(&rest, &line); first = false) {
		strbuf_adds(&b, first ? "" : "; ");
		for (line = str_trim(line); line.len; line = str_skip(line, 1))
			strbuf_addc(&b, *line.ptr == '\t' ? ' ' : *line.ptr);
	}
	return error_because(err, err->code, err->reason, "%s", b.buf);
}

/* Whoever may push sends no request out of the cluster. */
static int check_metrics(const struct rollout_step *s, struct error *err)
{
	for (size_t i = 0; i < s->n_success; i++) {
		const struct prometheus *p = s->success[i].prometheus;
		if (p && !p->service)
			return error_set(err, E_INVALID,
					 "%s.prometheus.address: a rollout in the tree asks "
					 "service://NAMESPACE/NAME:PORT alone; name a Rollout in "
					 "spec.rolloutRef for any other",
					 s->success[i].field);
	}
	return 0;
}

static int take_rollout(const struct bundle_spec *spec, const struct obj *text, struct arena *a,
			struct unit_options *o, struct error *err)
{
	const char *file = arena_fmt(a, "the rollout of %s", spec->renderer.entrypoint);
	const struct rollout_options options = {.file = file};
	struct rollout *r;
	if (!spec->renderer.entrypoint)
		return error_set(err, E_INTERNAL, "manifests gave a rollout");
	if (spec->rollout)
		return error_set(err, E_INVALID,
				 "spec.rolloutRef: %s gives a rollout, too; remove one of them",
				 spec->renderer.entrypoint);
	if (rollout_parse(text, &options, a, &r, err) < 0)
		return -err->code;
	for (size_t g = 0; g < r->n; g++)
		for (size_t i = 0; i < r->groups[g].n; i++)
			if (check_metrics(&r->groups[g].steps[i], err) < 0)
				return error_wrap(err, "%s", file);
	o->rollout = r;
	o->rollout_text = text;
	return 0;
}

int bundle_make(const struct bundle_spec *spec, const struct obj *rendered,
		const struct bundle_scopes *scopes, const struct unit_options *o, struct arena *a,
		struct flaws *flaws, struct bundle_made *ret, struct error *err)
{
	const struct obj *rollout = NULL;
	struct unit_options options = *o;
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(MESSAGE_MAX);
	*ret = (struct bundle_made){0};
	flat_init(&ret->flat, a);
	ret->flat.flaws = flaws;
	ret->flat.instances = &spec->instances;
	options.ns = spec->ns;
	if (flat_job_read(rendered, spec->ns, &ret->flat, &rollout, &msg, err) < 0)
		return one_line(&msg, err);
	if (rollout && take_rollout(spec, rollout, a, &options, err) < 0)
		return -err->code;
	if (bundle_instances_place(spec, &ret->flat, scopes, err) < 0 && flaws_take(flaws, err) < 0)
		return -err->code;
	if (bundle_check_namespaces(spec, &ret->flat, scopes, err) < 0 &&
	    flaws_take(flaws, err) < 0)
		return -err->code;
	bundle_ignore_set(spec->ignore, &ret->flat);
	return unit_make(&ret->flat, &options, &ret->unit, err) < 0 ? flaws_take(flaws, err) : 0;
}
