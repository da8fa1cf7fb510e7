/*
 * settle: writes that a former process announced and whose outcome the log lacks (audit.md 7: "A plan
 * with missing outcomes is settled at start from live objects"): each gets its Write entry, Recovered
 * where the live object shows that it was done, else Unknown. Once, before the first reconcile: what
 * follows would change the objects, and what this process has under way is not missing.
 *
 * Only the newest plan of a unit (controller and key) may be open, and of that the first write without
 * an entry, with the applies behind it that go out at the same time; whose last entry is a failure has
 * ended there. Beside the server of the same process a write without an entry was not done: nothing is
 * read then.
 */
#ifndef ALM_ENGINE_SETTLE_H
#define ALM_ENGINE_SETTLE_H

#include "alm/audit/audit.h"
#include "alm/client/client.h"
#include "alm/client/discovery.h"

#define SETTLE_ROWS_MAX   8192 /* of the log's end that are looked through */
#define SETTLE_WRITES_MAX 512  /* settled of one start; of more a line of the log says so */

struct settle;

struct settle_config {
	struct client *client;
	struct discovery *discovery; /* which is read */
	struct audit *audit;
	struct db *db;
	bool same_process;
};

/* done is called once, at once or later, unless settle_free() comes before. */
struct settle *settle_start(const struct settle_config *c, void (*done)(void *arg), void *arg);
void settle_free(struct settle *s); /* cancels; NULL is fine */

#endif
