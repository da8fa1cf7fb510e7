/*
 * unzipped: JSON whose values of base64 of gzip are unpacked while a cache keeps it. Packed already, a
 * plan or a Helm release cannot be packed with others that are alike (pack.h), where it takes a third.
 *
 * Only what comes back byte by byte is unpacked: streams that gzip.h packs the same again, in base64
 * once or, as Helm stores its releases, twice. Anything else stays as it is.
 */
#ifndef ALM_CLIENT_UNZIPPED_H
#define ALM_CLIENT_UNZIPPED_H

#include "alm/base/pack.h"

#define UNZIPPED_VALUES_MAX 4             /* of an object: more stay packed */
#define UNZIPPED_BYTES_MAX  PACK_TEXT_MAX /* of the whole: what is larger is not packed again */

/* Borrowed from json, if there is nothing to unpack, or from room. */
struct str unzipped(struct str json, struct strbuf *room);
/* The JSON again. kept: what unzipped() gave; it may lie in room, which then has the answer. */
struct str unzipped_restore(struct str kept, struct strbuf *room);

#endif
