/*
 * program_fake: programs are functions of a table, found by the last part of their path, and run in
 * this process; their answer comes in a later turn. A fault kills one before it did anything, cuts
 * off what it prints, with status 128, or makes it late.
 */
#ifndef TESTS_LIB_PROGRAM_FAKE_H
#define TESTS_LIB_PROGRAM_FAKE_H

#include "alm/base/strbuf.h"
#include "alm/io/program.h"

struct program_fake_row {
	const char *name; /* ended by a row with NULL */
	/* Returns the exit status. */
	int (*fn)(void *arg, const struct program_call *call, struct strbuf *output,
		  struct strbuf *errors);
	void *arg;
};

enum program_fault { PROGRAM_KILLED, PROGRAM_GARBAGE, PROGRAM_LATE };
typedef bool (*program_fake_strikes)(void *arg, enum program_fault which);

/* A program that no row names is E_NOTFOUND. strikes NULL: no fault ever does. */
struct programs *programs_fake_new(struct loop *l, const struct program_fake_row *rows,
				   program_fake_strikes strikes, void *arg);

#endif
