/*
 * fuzz: what every harness has. A harness is fuzz_X.c; its seeds are in corpus/X.
 *
 * What becomes of an input is noted: the digest of all notes is in recorded.txt (tests/lib/digests.h), and no mutant of the
 * code that words, accepts or changes something else passes.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "alm/obj/json.h"
#include "tests/lib/digests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void UNUSED fuzz_note(struct str text)
{
	digest_note(text);
}

/* NULL is a note, too. */
static inline void UNUSED fuzz_note_text(const char *text)
{
	digest_note(text ? str_of(text) : STR("(null)"));
}

static inline void UNUSED fuzz_note_number(int64_t n)
{
	char text[24];
	(void)snprintf(text, sizeof(text), "%lld", (long long)n);
	digest_note(str_of(text));
}

static inline void UNUSED fuzz_note_obj(const struct obj *o)
{
	CLEANUP(xfreep) char *text = o ? json_text(o) : NULL;
	fuzz_note_text(text);
}

/* Of a call: what it returns, and its message if it failed. */
static inline int UNUSED fuzz_noted(int r, const struct error *err)
{
	fuzz_note_number(r);
	if (r < 0)
		fuzz_note_text(err->msg);
	return r;
}

#endif
