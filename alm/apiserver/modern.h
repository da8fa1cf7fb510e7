/*
 * modern: what a document in the form of 2017 says becomes what is stored, and the client is told, field
 * by field (story.md 12, crds/legacy.h). Of a create, a PUT, and what a patch or an apply says: who
 * made an app by `kubectl apply` applies the same file again.
 *
 * Who asks by the old names (request.old_api_version) is shown the object in that form: kubectl
 * compares what it gets with its file. A definition of then has one version: what it says of that
 * changes nothing of the others that there are today.
 */
#ifndef ALM_APISERVER_MODERN_H
#define ALM_APISERVER_MODERN_H

#include "alm/apiserver/request.h"
#include "alm/obj/obj.h"

/* Leads a request for a kind of then to that of today: route.c. */
void modern_route(struct request *r);
/* *o is replaced where it is old; fails the request for one that has no form of today. */
int modern_form(struct request *r, struct obj **o, struct error *err);
/* The object as it is shown to who asks by the old names, in r's arena. */
struct obj *modern_show(struct request *r, const struct obj *now);
/* What a patch made of modern_show()'s: replaced by the form of today. */
int modern_patched(struct request *r, const struct obj *shown, struct obj **o, struct error *err);
/* A definition that says one version keeps the others of before (NULL: there is none). */
void modern_join(const struct request *r, const struct obj *before, struct obj *o);
/* Of a definition that is created: the name of the one that is there, which lacks this version; NULL:
 * none, and it is made, or exists. In 2017 each version was a definition. */
const char *modern_beside(const struct request *r, const struct obj *o);
/* before with the version of o, in r's arena, and with what o says of the definition as a whole
 * (legacy_crd_take.h); fails the request where kind, plural, scope or owner contradict each other. */
int modern_add(struct request *r, const struct obj *before, const struct obj *o, struct obj **ret,
	       struct error *err);
/* Deleted by a name of then, which meant one version: fails the request, as all of them would go. */
bool modern_holds_more(struct request *r, const struct obj *o, struct error *err);

#endif
