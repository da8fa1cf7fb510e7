/*
 * definitions: the controller of CustomResourceDefinitions. Serves what they define from their commit
 * on, and ends one that is deleted: first its objects, then its finalizer.
 */
#ifndef ALM_APISERVER_LOOPS_DEFINITIONS_H
#define ALM_APISERVER_LOOPS_DEFINITIONS_H

#include "alm/apiserver/kinds/crd.h"

struct crds *definitions_new(struct apiserver *s);
void definitions_free(struct crds *c);
/* Serves every CRD of the store; at start. */
void definitions_load(struct crds *c);

#endif
