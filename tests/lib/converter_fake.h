/*
 * converter_fake: the converter of convert.py (tests/golden/kube-api), for API servers in process: v1 has spec.size, v2 spec.count
 * and a label form. How it answers is of the whole program.
 */
#ifndef TESTS_LIB_CONVERTER_FAKE_H
#define TESTS_LIB_CONVERTER_FAKE_H

#include "alm/base/str.h"
#include "alm/obj/obj.h"

struct apifake;

/* hook_fake_answer_by() */
char *converter_fake_answer(const struct obj *review, int *ret_status);
/* As "how" of a line of convert.jsonl says: {} as it should. Copied. */
void converter_fake_how(const char *json);
/* A line of that recording: it answers as it did there. */
void converter_fake_as_recorded(struct apifake *f, struct str line);

#endif
