/* manifest: the objects that -f names: files, folders (*.yaml, *.yml, *.json) and "-". */
#ifndef ALM_CLI_KUBE_MANIFEST_H
#define ALM_CLI_KUBE_MANIFEST_H

#include "alm/cli/cli.h"
#include "alm/obj/obj.h"

#define MANIFEST_OBJECTS_MAX 10000

struct manifest {
	struct manifest_item {
		const struct obj *o; /* arena */
		const char *file;
		int line;
		/* A definition of 2017 of which the server has the definition: with this version not
		 * in it, and with others. write_modern() */
		bool is_new_version, has_more;
		const struct obj *said,
			*there; /* of a new version: what the file says, and what is there */
	} *items;
	size_t n, cap;
};

/* Every -f of the command, in order; items of Lists as objects of their own. E_USAGE without -f. */
int manifest_read(struct cli *c, struct manifest *ret, struct error *err);

#endif
