/*
 * large: what does not fit into a row's body. A text of any size becomes blobs and a reference to
 * them, and a body that is too large gives its largest members away, so that no size ever keeps a
 * row, and with it what the row announces, from being written (audit.md 2).
 *
 * A reference is "sha256:HEX", or for more than one blob
 *	{"bytes": N, "digest": "sha256:HEX" of the whole, "parts": ["sha256:HEX", ...], "cut": true}
 * where cut says that only the beginning was kept.
 */
#ifndef ALM_AUDIT_LARGE_H
#define ALM_AUDIT_LARGE_H

#include "alm/audit/audit.h"

/* The members that were moved are listed in "moved"; the value of each is a reference to its text:
 * a string's own, else JSON. *ret is owned. */
int large_body(struct audit *a, const struct obj *body, struct obj **ret, struct error *err);
/* The text that a reference names. E_NOTFOUND, also for one that was cut; E_CORRUPT. */
int large_text(struct db *d, const struct obj *ref, struct strbuf *ret, struct error *err);

#endif
