/* selector_check: what is wrong with a LabelSelector, with labels, and with a selector of nodes, in the words of Kubernetes 1.36 (builtin_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_SELECTOR_CHECK_H
#define ALM_APISERVER_KINDS_SELECTOR_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"
#include "alm/obj/query/selector.h"

/* selector may be absent. */
void check_label_selector(struct field_errors *e, const char *path, const struct obj *selector);
/* Reads it as Kubernetes does, which takes none whose requirement has values and compares with none. Owned; false: it cannot be read. */
bool check_selector_reads(const struct obj *selector, struct selector **ret);
/* A map of labels, or of what is selected by. */
void check_label_map(struct field_errors *e, const char *path, const struct obj *labels);
/* A requirement on labels that a question about rights names; an operator that nobody knows is none of its faults. */
void check_asked_requirement(struct field_errors *e, const char *path, const struct obj *x);
/* Which nodes are meant; a term of it alone (any: what is compared with may be no value of a label). */
void check_node_selector(struct field_errors *e, const char *path, const struct obj *selector);
void check_node_term(struct field_errors *e, const char *path, const struct obj *term, bool any);

#endif
