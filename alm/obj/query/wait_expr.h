/* wait_expr: what --for, --until and --unless take; one truth value over an object or none. */
#ifndef ALM_OBJ_QUERY_WAIT_EXPR_H
#define ALM_OBJ_QUERY_WAIT_EXPR_H

#include "alm/base/arena.h"
#include "alm/obj/query/jsonpath.h"
#include "alm/obj/query/jsonql.h"

enum wait_type { WAIT_JSONQL, WAIT_JSONPATH, WAIT_CREATE, WAIT_DELETE };

struct wait_expr {
	enum wait_type type;
	const char *text;      /* as given */
	struct jsonql *query;  /* JSONQL and condition= */
	struct jsonpath *path; /* jsonpath= */
	const char *value;     /* of jsonpath=; NULL: any value */
};

/* E_USAGE with the column. cel= is E_UNSUPPORTED. */
int wait_expr_parse(struct arena *a, const char *text, struct wait_expr *ret, struct error *err);
void wait_expr_release(struct wait_expr *e);
/* o NULL: the object does not exist. */
bool wait_expr_holds(const struct wait_expr *e, const struct obj *o, int64_t now_ns,
		     struct strbuf *notes);
bool wait_expr_wants_delete(const struct wait_expr *e);
bool wait_expr_uses_clock(const struct wait_expr *e);
void wait_expr_values(const struct wait_expr *e, const struct obj *o, struct strbuf *b);

#endif
