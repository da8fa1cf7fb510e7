#include "alm/controllers/app/keys.h"

#include <string.h>

#include "alm/controllers/app/app.h"
#include "alm/obj/meta.h"

const struct chain_rule app_chains[] = {
	{"catalog:", "Catalog", "%s"},
	{"", "AppType", "%s"},
	{"", "InstallStrategy", "install.*.%s.*"},
	{0},
};

const char *key_self(const struct view *v, const struct obj *o, struct arena *a)
{
	(void)v;
	return arena_strdup(a, meta_name(o));
}

const char *key_app_ref(const struct view *v, const struct obj *o, struct arena *a)
{
	(void)v;
	const char *app = obj_str(o, "spec.appTypeRef.name");
	return app ? arena_strdup(a, app) : NULL;
}

const char *key_app_label(const struct view *v, const struct obj *o, struct arena *a)
{
	(void)v;
	const char *app = meta_label(o, LABEL_APP);
	return app ? arena_strdup(a, app) : NULL;
}

const char *key_crd_owner(const struct view *v, const struct obj *o, struct arena *a)
{
	(void)v;
	const char *owner = meta_annotation(o, ANNOTATION_OWNER);
	return owner ? arena_strndup(a, owner, strcspn(owner, ".")) : NULL;
}

const char *key_all(const struct view *v, const struct obj *o, struct arena *a)
{
	(void)v;
	(void)o;
	(void)a;
	return KEY_ALL;
}

const char *key_marked(const struct view *v, const struct obj *o, struct arena *a)
{
	(void)v;
	const char *apps = meta_annotation(o, ANNOTATION_APPS);
	if (meta_annotation(o, ANNOTATION_INSTANCES))
		return KEY_ALL; /* it names those that the apps were made under */
	if (!apps)
		return NULL;
	struct str one = str_trim(str_of(apps));
	return strchr(apps, ',') ? KEY_ALL : arena_strndup(a, one.ptr, one.len);
}
