/* fn_crypto: keys, certificates, passwords. */
#include "installers/tmpl/tmpl.h"

const struct tmpl_func tmpl_fn_crypto[] = {
	{0},
};
