/* decimal: exact decimal arithmetic for addf and its kin, division to 16 digits. */
#ifndef INSTALLERS_TMPL_FN_DECIMAL_H
#define INSTALLERS_TMPL_FN_DECIMAL_H

#include <stdbool.h>

enum decimal_op { DECIMAL_ADD, DECIMAL_SUB, DECIMAL_MUL, DECIMAL_DIV };

struct decimal; /* value = digits * 10^exp */
struct decimal *decimal_new(double f);
void decimal_free(struct decimal *d);
/* d = d op f; false: division by zero, or more digits than can be held. */
bool decimal_apply(struct decimal *d, enum decimal_op op, double f);
bool decimal_is_too_long(const struct decimal *d);
double decimal_double(const struct decimal *d);

#endif
