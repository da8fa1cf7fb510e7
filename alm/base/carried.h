/*
 * carried: texts that the program carries (definitions, manifests, the console's page), which are
 * deflated in it: they take a fourth of their room, and are read a few times in its life.
 *
 * tests/lib/embed.sh makes one of each file that the Makefile names: crds/apptype.yaml is the
 * carried_text crds_apptype_yaml, in the format of gzip.
 */
#ifndef ALM_BASE_CARRIED_H
#define ALM_BASE_CARRIED_H

#include <stdint.h>

struct carried_text {
	const unsigned char *bytes;
	uint32_t len, text_len; /* deflated; as it was */
};

/* The text, ending in NUL; owned. It cannot fail: the build checked it. */
char *carried_read(const struct carried_text *t);

#endif
