/*
 * secrets: the values that no message may hold (audit.md 8), and how they are taken out. Pure.
 *
 * A set is filled from what a reconcile has at hand: values under the keys of the redaction policy,
 * the Secrets of an install plan, what templates looked up. Of each it knows the text, its lines,
 * how JSON quotes it, and its base64 at the three places it can have in a longer one. Taken out of a text are whole
 * occurrences, the beginning of one where the text was cut, and the user info of any URL; what a
 * template has rewritten otherwise cannot be known again. The messages of statuses and entries pass
 * through in plan.c, errors where they enter the executor: Events, logs, conditions, and the
 * entries of other objects are made of these.
 */
#ifndef ALM_ENGINE_SECRETS_H
#define ALM_ENGINE_SECRETS_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

#define SECRET_BYTES_MIN 6                  /* shorter ones are words of any message */
#define SECRET_BYTES_MAX ((size_t)64 << 10) /* of one line: longer ones are in no message */
#define SECRETS_MAX      20000              /* more: a message is hidden as a whole */

struct secrets {
	struct arena *a;
	struct str *items;
	size_t n, cap;
	bool over;
};

void secrets_init(struct secrets *s, struct arena *a);
/* Values of a chart: those under keys like password, token, apiKey, at any depth. */
void secrets_add_values(struct secrets *s, const struct obj *values);
/* data and stringData of a Secret; any other object adds nothing. */
void secrets_add_object(struct secrets *s, const struct obj *o);
/* What lookups brought (render_host.h): every text but apiVersion, kind and metadata. */
void secrets_add_answers(struct secrets *s, const struct obj *answers);
/* What from has; they share an arena. */
void secrets_take(struct secrets *s, const struct secrets *from);
/* The same, of another arena. */
void secrets_copy(struct secrets *s, const struct secrets *from);
/* Of an install plan: config, Secrets among objects and hooks, hidden. */
void secrets_add_plan(struct secrets *s, const struct obj *doc);

/* text itself if nothing is to be hidden, else a copy in the arena. */
const char *secrets_hide(const struct secrets *s, const char *text);
void secrets_hide_error(const struct secrets *s, struct error *err);
/* A copy whose texts (all: every one; else those of message, detail and why) are hidden. Owned. */
struct obj *secrets_hide_texts(const struct secrets *s, const struct obj *o, bool all);
/* The texts of answers that rendered has, plain or in base64: a plan's "hidden", or [true] where they are too many.
 * The time is that of one walk over rendered. Owned. */
struct obj *secrets_looked_up(const struct obj *answers, const struct obj *rendered);

#endif
