/*
 * jsonql: the expression language of "alm wait" and of health checks (jsonql.md): one object
 * in, one truth value out. Parsed once, immutable afterwards, owned.
 *
 *	jsonql_parse(STR("status.phase = 'Done' && age() > 5m"), &q, err)
 *	jsonql_eval(q, object, now_ns, &notes)
 */
#ifndef ALM_OBJ_QUERY_JSONQL_H
#define ALM_OBJ_QUERY_JSONQL_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

struct jsonql;

#define JSONQL_BYTES_MAX  4096
#define JSONQL_DEPTH_MAX  64
#define JSONQL_VALUES_MAX 1000
#define JSONQL_IN_MAX     1000
#define JSONQL_NOTES_MAX  4096

/* E_USAGE "column N: ..." with a hint: syntax, constants that can never work, bad regex. */
int jsonql_parse(struct str text, struct jsonql **ret, struct error *err);
void jsonql_free(struct jsonql *q);
DEFINE_FREEP(jsonql)

/* notes (or NULL) gets "; "-separated remarks: what was missing, what did not compare. */
bool jsonql_eval(const struct jsonql *q, const struct obj *o, int64_t now_ns, struct strbuf *notes);
/* Whether the clock alone can change the answer. */
bool jsonql_uses_age(const struct jsonql *q);
/* "status.phase='Pending', n=3": every path of the expression with its value. */
void jsonql_values(const struct jsonql *q, const struct obj *o, struct strbuf *b);

#endif
