#include "alm/client/access_review.h"

const struct resource access_reviews = {.group = "authorization.k8s.io",
					.version = "v1",
					.plural = "selfsubjectaccessreviews",
					.kind = "SelfSubjectAccessReview"};

struct obj *access_review(const struct obj *what)
{
	static const char *const keys[] = {"verb",        "group",     "resource",
					   "subresource", "namespace", "name"};
	struct obj *o = obj_map(), *attributes = obj_map();
	bool path = obj_has(what, "path");
	obj_set_str(o, "apiVersion", "authorization.k8s.io/v1");
	obj_set_str(o, "kind", access_reviews.kind);
	obj_set_path(o, "metadata", obj_map());
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const char *text = obj_str(what, keys[i]);
		if (text && *text)
			obj_set_str(attributes, keys[i], text);
	}
	if (path)
		obj_set_str(attributes, "path", obj_str(what, "path"));
	obj_set_path(o, path ? "spec.nonResourceAttributes" : "spec.resourceAttributes",
		     attributes);
	return o;
}
