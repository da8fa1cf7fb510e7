/* apptype: shared by the files of the AppType controller. */
#ifndef ALM_CONTROLLERS_APPTYPE_APPTYPE_H
#define ALM_CONTROLLERS_APPTYPE_APPTYPE_H

#include "alm/controllers/app/app.h"
#include "alm/engine/controller.h"

/* What apptype_adopt() has loaded. */
static inline struct app *apptype_pass(const struct view *v)
{
	return *v->pass;
}

/* The operator is deleted in uninstall order; CRDs, custom resources, claims and Namespaces
 * stay. */
int apptype_remove(const struct view *v, struct app *app, struct plan *plan);
/* In apptype_inplace.c: the Catalog of the package that stands in the AppType itself. */
int apptype_inplace(const struct view *v, const char *key, struct plan *plan, struct error *err);
/* In apptype_read.c: archives that must be read before anything can be said of them. */
int apptype_read(const struct view *v, const char *key, struct plan *plan, struct error *err);
int apptype_status(const struct view *v, const char *key, struct plan *plan, struct error *err);

#endif
