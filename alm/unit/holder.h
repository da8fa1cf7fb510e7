/*
 * holder: who controls a field of a live object, by its managedFields: in one word for programs, with
 * the field manager that says so (fleet.md 5.5). Pure.
 *
 *	git		a Bundle, "alm:HUB:BUNDLE"
 *	alm		an app, or `alm run`
 *	person		kubectl, helm and other tools that people type
 *	autoscaler	what writes replicas by themselves: by /scale, or as its name says
 *	controller	any other manager
 *	kubernetes	its own components, and what no manager has: defaults, what the server sets
 *
 * A field manager is the name that a client gave itself.
 */
#ifndef ALM_UNIT_HOLDER_H
#define ALM_UNIT_HOLDER_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

enum holder {
	HOLDER_GIT,
	HOLDER_ALM,
	HOLDER_PERSON,
	HOLDER_AUTOSCALER,
	HOLDER_CONTROLLER,
	HOLDER_KUBERNETES,
	HOLDERS,
};

const char *holder_word(enum holder h);

/* path as diff.h and drift.h have it: spec.template.spec.containers[0].image, data["a.b"]. Of several
 * managers the one that wrote last. *ret_manager: NULL, no manager has the field. Arena. */
enum holder holder_of(const struct obj *live, const char *path, struct arena *a,
		      const char **ret_manager);

#define HOLDER_FIELDS_MAX 500 /* of one object */

struct holder_field {
	const char *path;
	enum holder holder;
	const char *manager;
	bool declared; /* manager ours has it, too */
};

/* What managers have of a live object, each field once, with who wrote it last; not its status, and not what
 * the object has not any more. ours: a field manager, NULL: nobody. At most HOLDER_FIELDS_MAX; returns how
 * many, in *ret of the arena. */
size_t holder_fields(const struct obj *live, const char *ours, struct arena *a,
		     struct holder_field **ret);

#endif
