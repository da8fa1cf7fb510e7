/*
 * requirement: an entry of requirements of a package or an InstallStrategy (lifecycle.md 1.1), as
 * people read it. Checked before an install, never installed:
 *	{kind: CRD, name: PLURAL.GROUP}
 *	{kind: Object, ref: KIND/NAMESPACE/NAME}	cluster-scoped: KIND//NAME
 *	{kind: Permission, verbs, group, resource, namespace}	of the account of the app; without
 *							namespace in all of them
 *	{kind: Feature, name}				nobody can tell: never met
 * each with optional (it is told, and does not block) and message.
 */
#ifndef ALM_CONTROLLERS_APP_REQUIREMENT_H
#define ALM_CONTROLLERS_APP_REQUIREMENT_H

#include "alm/obj/obj.h"

/* "Object StorageClass//fast", "Permission get,list nodes"; what it is known by in messages. */
const char *requirement_text(const struct obj *q, struct arena *a);
/* The text, why, and the publisher's message behind it. */
const char *requirement_unmet(const struct obj *q, const char *why, struct arena *a);

#endif
