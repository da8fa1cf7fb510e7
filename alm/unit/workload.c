#include "alm/unit/workload.h"

#include "alm/obj/meta.h"
#include "alm/obj/query/selector.h"

#define SELECTOR_BYTES_MAX ((size_t)64 << 10)

bool workload_has_pods(const char *kind)
{
	static const char *const kinds[] = {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet",
					    "Job"};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (cstr_eq(kind, kinds[i]))
			return true;
	return false;
}

const char *workload_selector(const struct obj *live, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SELECTOR_BYTES_MAX);
	CLEANUP(selector_freep) struct selector *selector = NULL;
	struct error err;
	if (selector_from_obj(obj_path(live, "spec.selector"), &selector, &err) < 0)
		return NULL;
	selector_print(selector, &b);
	if (!b.len && cstr_eq(meta_kind(live), "Job"))
		strbuf_addf(&b, "job-name=%s", meta_name(live));
	return b.len ? arena_strdup(a, b.buf) : NULL;
}
