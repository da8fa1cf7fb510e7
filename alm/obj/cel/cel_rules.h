/*
 * cel_rules: x-kubernetes-validations of one schema node, compiled. Called by schema.c; others use
 * schema_validate_rules() and schema_check_rules().
 */
#ifndef ALM_OBJ_CEL_CEL_RULES_H
#define ALM_OBJ_CEL_CEL_RULES_H

#include "alm/base/arena.h"
#include "alm/obj/schema/schema.h"

struct cel_rules;

/* Never fails: a rule that does not compile refuses each write (schema_check_rules() refuses it
 * when the definition is written). Children of s are compiled already; lives in a. */
struct cel_rules *cel_rules_compile(const struct schema *s, struct arena *a);

struct cel_program;
struct strbuf;
/* What is wrong with an expression of s (p: NULL, and b says why it is none), or NULL: it is one of its type. */
const char *cel_rule_fault(struct cel_program *p, const struct schema *s, bool is_rule,
			   bool is_root, struct strbuf *b, struct arena *a);
/* Of a rule with optionalOldSelf: p (may be NULL) is evaluated on create, too. */
void cel_rule_with_optional(struct cel_program *p, const struct obj *rule);

#endif
