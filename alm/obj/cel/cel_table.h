/* cel_table: the functions of CEL as rows, one an overload; the files of functions have a table each,
 * which cel_fn.c goes through. Letters are of kinds:
 *
 *	b(ool) i(nt) u(int) d(ouble) s(tring) y: bytes, l(ist) m(ap) t(ype) D(uration) T(imestamp) U(RL)
 *	Q(uantity) I(P) C(IDR) O(ptional) F(ormat) V: semver; A(uthorizer) and its steps P(ath) G(roup) R(esource) E: decision
 *	N: any number, *: anything
 */
#ifndef ALM_OBJ_CEL_CEL_TABLE_H
#define ALM_OBJ_CEL_CEL_TABLE_H

#include "alm/obj/cel/cel.h"

#define CEL_TEXT_BYTES_MAX ((size_t)4 << 20) /* that a function makes */
#define CEL_ITEMS_MAX      100000            /* of a list that one makes */

typedef struct cel_value (*cel_fn)(const struct cel_value *args, struct cel_call *call);

struct cel_overload {
	const char *name, *args;
	char result, where; /* where: g(lobal), m(ember), * both */
	cel_fn fn;
};

/* Ended by a row without a name. */
extern const struct cel_overload cel_list_fns[];     /* cel_list.c */
extern const struct cel_overload cel_text_fns[];     /* cel_text.c */
extern const struct cel_overload cel_format_fns[];   /* cel_format.c */
extern const struct cel_overload cel_quantity_fns[]; /* cel_quantity.c */
extern const struct cel_overload cel_time_fns[];     /* cel_time.c */
extern const struct cel_overload cel_net_fns[];      /* cel_net.c */
extern const struct cel_overload cel_optional_fns[]; /* cel_optional.c */
extern const struct cel_overload cel_named_fns[];    /* cel_named.c */

/* The items of list in the order of the n keys, which are of one kind that has an order. */
struct cel_value cel_list_sorted(const struct cel_value *list, const struct cel_value *keys,
				 size_t n, struct cel_call *c);

#define CEL_FN(name) \
	static struct cel_value name(UNUSED const struct cel_value *v, UNUSED struct cel_call *c)

#endif
