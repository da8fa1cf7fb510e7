#include "alm/controllers/fleet/bundle_make.h"

#include "alm/render/flat_job.h"

#define MESSAGE_MAX 4096

int bundle_make(const struct bundle_spec *spec, const struct obj *rendered,
		const struct bundle_scopes *scopes, const struct unit_options *o, struct arena *a,
		struct flaws *flaws, struct bundle_made *ret, struct error *err)
{
	const struct obj *no_rollout = NULL;
	struct unit_options options = *o;
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(MESSAGE_MAX);
	*ret = (struct bundle_made){0};
	flat_init(&ret->flat, a);
	ret->flat.flaws = flaws;
	options.ns = spec->ns;
	if (flat_job_read(rendered, spec->ns, &ret->flat, &no_rollout, &msg, err) < 0)
		return -err->code;
	if (bundle_check_namespaces(spec, &ret->flat, scopes, err) < 0 &&
	    flaws_take(flaws, err) < 0)
		return -err->code;
	return unit_make(&ret->flat, &options, &ret->unit, err) < 0 ? flaws_take(flaws, err) : 0;
}
