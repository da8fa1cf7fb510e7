/* catalog: the typed view of a Catalog. Borrows as apptype.h does. */
#ifndef CRDS_CATALOG_H
#define CRDS_CATALOG_H

#include "alm/obj/decode.h"

#define CATALOG_NAMES_MAX 1000 /* of status.packageNames */

struct catalog {
	const char *name;
	const char *url;                            /* dir:// file:// https:// oci:// */
	const char *secret_name, *secret_namespace; /* or NULL */
	bool allow_unpinned;
	const char *verify_mode;                /* "Required"; NULL: no policy */
	const char *keys_name, *keys_namespace; /* or NULL */
	int64_t max_age_ns;                     /* 0: no limit */
	int64_t priority;
	int64_t interval_ns;
	const char *digest; /* status.digest: the revision in use, or NULL */
};

/* E_INVALID names the field. */
int catalog_decode(const struct obj *o, struct arena *a, struct catalog *ret, struct error *err);

#endif
