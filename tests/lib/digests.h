/*
 * digests: what a test came to, folded into one number, and compared with the one that was recorded
 * beside it: a change of behaviour that no assertion names is seen, too.
 *
 * A file of recorded numbers has the libraries it was recorded with in its first line ("# libraries: ...")
 * and then lines "NUMBER KEY". Other libraries word some messages in another way: nothing is compared then.
 * With DIGESTS_RECORD=FILE in the environment the number is appended there as such a line instead of being compared.
 *
 * What is folded must be equal on every machine: no paths, process ids, addresses, times of the day or order of a hash table.
 */
#ifndef TESTS_LIB_DIGESTS_H
#define TESTS_LIB_DIGESTS_H

#include "alm/base/hash.h"

#define DIGEST_HEX 17

/* With its length, so that no two texts are another two. */
void digest_add(struct sha256 *h, struct str text);
void digest_adds(struct sha256 *h, const char *text); /* NULL is not "" */
void digest_int(struct sha256 *h, int64_t n);
/* The body without uids, which are drawn: one more draw would change all that follow. */
void digest_neutral(struct str body, struct strbuf *b);
/* h starts over. */
void digest_end(struct sha256 *h, char out[DIGEST_HEX]);

/* Notes on the way, folded into one digest of the process: nothing while none is begun.
 * tells: each is printed, a line of its own. */
void digest_notes_begin(bool tells);
void digest_note(struct str text);
void digest_notes_end(char out[DIGEST_HEX]);

enum digest_verdict {
	DIGEST_EQUAL,
	DIGEST_DIFFERS,
	DIGEST_UNKNOWN, /* the file does not name the key */
	DIGEST_SKIPPED, /* other libraries */
	DIGEST_RECORDED,
};

/* why: what is to be told of it. A file that cannot be read names no key. */
enum digest_verdict digests_compare(const char *file, const char *key, const char *number,
				    struct strbuf *why);
/* Recording, makes the file of DIGESTS_RECORD anew, with its first line. Before a test's first digests_hold(). */
void digests_begin(void);
/* Ends h, compares, and prints what is to be told; false if another number was recorded, or none. */
bool digests_hold(const char *file, const char *key, struct sha256 *h);
/* "sqlite 3.40.1, json-c 0.16, ..." */
void digests_libraries(struct strbuf *b);

#endif
