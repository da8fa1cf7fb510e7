#include "alm/controllers/fleet/bundle_accept.h"

#include "alm/base/str.h"
#include "alm/obj/meta.h"

#define ACCEPTS "app.coreos.com/accept-digest"

const char *bundle_accepts(const struct obj *bundle)
{
	return meta_annotation(bundle, ACCEPTS);
}

bool bundle_accept_moved(const struct obj *bundle, const struct bundle_spec *spec)
{
	const char *url = obj_str(bundle, "status.source.url");
	const char *branch = obj_str(bundle, "status.source.branch");
	return url && branch && !(cstr_eq(url, spec->url) && cstr_eq(branch, spec->branch));
}

int bundle_accept_check(const struct obj *bundle, const struct bundle_spec *spec,
			const struct bundle_head *head, struct error *err)
{
	const char *commit = head->commit, *applied = obj_str(bundle, "status.commit");
	if (cstr_eq(bundle_accepts(bundle), commit))
		return 0;
	if (spec->refuses_rewrites && !spec->commit && applied &&
	    (head->rewritten || head->unknown))
		return error_because(
			err, E_INVALID, REASON_HISTORY_REWRITTEN,
			"%.12s does not follow %.12s, which is applied%s: the history of branch "
			"\"%.100s\" was rewritten%s; spec.source.git.rewrites is Refuse, so "
			"nothing of it is applied until annotation " ACCEPTS " is %s",
			commit, applied, head->unknown ? ", as far as can be seen" : "",
			spec->branch,
			obj_path(bundle, "status.source")
				? ""
				: ", or what is applied was read of another branch or url",
			commit);
	if (!head->objects && obj_i64(bundle, "status.objects", 0))
		return error_because(
			err, E_INVALID, REASON_SOURCE_EMPTY,
			"%.12s has no object and the revision before had some; nothing is deleted "
			"until annotation " ACCEPTS " is %s",
			commit, commit);
	return 0;
}
