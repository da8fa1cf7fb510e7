/* crd_internal: what crd.c decides by and loops/definitions.c keeps. */
#ifndef ALM_APISERVER_KINDS_CRD_INTERNAL_H
#define ALM_APISERVER_KINDS_CRD_INTERNAL_H

#include "alm/apiserver/core.h"

struct crds {
	struct apiserver *server;
	uint32_t last_stamp;
	struct map *ending; /* names of definitions that are being deleted */
	struct task task;
	bool names_freed; /* a definition went: others may have its names now */
};

#endif
