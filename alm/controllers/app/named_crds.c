#include "alm/controllers/app/named_crds.h"

#include "alm/base/str.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

static int refuse(struct arena *a, const char *text, const char **ret_why)
{
	*ret_why = arena_fmt(a,
			     "annotation " ANNOTATION_DELETE_CRDS
			     ": want PLURAL.GROUP=COUNT, at most %d of them with commas between, "
			     "not %s; correct or remove the annotation",
			     NAMED_CRDS_MAX, text);
	return -1;
}

int named_crds(const struct obj *app, struct arena *a, struct named_crd **ret, const char **ret_why)
{
	const char *text = meta_annotation(app, ANNOTATION_DELETE_CRDS);
	struct str rest = str_of(text), one, name, count;
	int n = 0;
	*ret = ARENA_ARRAY(a, struct named_crd, NAMED_CRDS_MAX);
	while (str_next(&rest, ',', &one)) {
		struct named_crd *x = &(*ret)[n];
		if (n == NAMED_CRDS_MAX || !str_cut(str_trim(one), '=', &name, &count) ||
		    !str_parse_i64(count, &x->count) || x->count < 0 ||
		    !str_contains(name, STR(".")))
			return refuse(a, text, ret_why);
		x->name = arena_strndup(a, name.ptr, name.len);
		n++;
	}
	return text && !n ? refuse(a, "\"\"", ret_why) : n;
}
