/*
 * lane: a process of its own that works for its parent: it is forked before there is anything that a fork
 * could break (a database, a library with threads), waits for one order, and answers with pages of bytes.
 * Several of them are the cores of one command; whoever reads their pages in turn has one order again.
 *
 * A lane that ends otherwise than by an answer (killed, crashed) is an error of lane_read(), never an end.
 */
#ifndef ALM_IO_LANE_H
#define ALM_IO_LANE_H

#include "alm/base/error.h"
#include "alm/base/mem.h"
#include "alm/base/strbuf.h"

#define LANES_MAX       8
#define LANE_PAGE_BYTES ((size_t)8 << 20)

struct lane;
struct lane_parent; /* seen from the child */

/* In the child. What it returns is what lane_read() gives behind the last page. */
typedef int (*lane_fn)(struct lane_parent *p, struct str order, struct error *err);
/* In the child; waits while the parent is behind. False: nobody reads any more. */
bool lane_page(struct lane_parent *p, struct str page);

/* E_IO if there can be no further process. */
int lane_new(lane_fn fn, struct lane **ret, struct error *err);
/* Once, of at most LANE_PAGE_BYTES. */
int lane_order(struct lane *l, struct str order, struct error *err);
/* 1: the next page, instead of what was in the buffer; 0: that was all; negative: the error of the function,
 * with its code, or E_INTERNAL: the process ended otherwise. */
int lane_read(struct lane *l, struct strbuf *page, struct error *err);
/* Ends the process, whatever it does, and waits for it; NULL is fine. */
void lane_free(struct lane *l);

/* How many may work at once: the cores that this process may use, at most LANES_MAX. */
size_t lane_cores(void);

#endif
