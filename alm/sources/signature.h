/*
 * signature: one entry's signature, found where the source keeps it (beside the archive, in its
 * registry) and judged in the sandbox. Private to sync_verify.c. A source that cannot be asked fails
 * the sync: that is no fact about the entry.
 */
#ifndef ALM_SOURCES_SIGNATURE_H
#define ALM_SOURCES_SIGNATURE_H

#include "alm/sources/oci.h"
#include "alm/sources/sync_internal.h"

#define SIGNATURES_AT_ONCE 6

struct judged { /* one line */
	struct sync *s;
	struct arena *a;
	struct str line;
	struct obj *entry;    /* NULL: the line stays as it is */
	struct obj *question; /* of VERIFY_JOB */
	struct oci_manifest cosign;
	size_t layer;
	struct sandbox_run *child;
	int tries;
	bool done;
	int64_t until_s;
	const char *problem; /* NULL: valid */
};

struct signatures {
	void (*judged)(struct sync *s); /* of one of them, all that is to come is there */
	struct str rest;
	struct strbuf out;
	struct judged items[SIGNATURES_AT_ONCE];
	size_t n;
	struct obj *provenances; /* of file://: name -> base64 */
	struct judged artifact;  /* the catalog as a whole */
	bool pgp, pem;           /* the kinds of keys */
	bool rejected;           /* something */
};

/* Begins the question with the keys and the time. */
void signature_ask(struct judged *j);
/* Finds it and has it judged: done is set, and problem if it is not valid, and then goes on in a later
 * turn; or the sync fails. */
void signature_find(struct judged *j);
/* The same for cosign's alone, of the manifest in the question. */
void signature_find_cosign(struct judged *j);
void signature_fail(struct judged *j, const struct error *err);
void signature_release(struct judged *j);

#endif
