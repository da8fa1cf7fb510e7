/*
 * transport_fake: a transport that answers from a script, for unit tests.
 *
 * Every started call must have a row that was put into the script before, else the test fails. Rows
 * of the same method and target answer in order. A target that ends in * matches a prefix.
 */
#ifndef TESTS_LIB_TRANSPORT_FAKE_H
#define TESTS_LIB_TRANSPORT_FAKE_H

#include "alm/io/transport.h"

struct transport_fake;

struct transport_fake *transport_fake_new(struct loop *l);
struct transport *transport_fake_transport(struct transport_fake *f);
void transport_fake_free(struct transport_fake *f);

void fake_answer(struct transport_fake *f, const char *method, const char *target, int status,
		 const char *body);
/* A further header of the row put last. */
void fake_header(struct transport_fake *f, const char *name, const char *value);
/* The connection is lost. */
void fake_lose(struct transport_fake *f, const char *method, const char *target);
/* The row put last fails so: E_LIMIT for a body that is too large. */
void fake_code(struct transport_fake *f, int code);
/* Answers head and body and stays open; fake_push() and fake_end() go on with the open stream. */
void fake_stream(struct transport_fake *f, const char *method, const char *target, int status,
		 const char *body);
void fake_push(struct transport_fake *f, const char *chunk);
void fake_end(struct transport_fake *f, bool lost);

/* Started calls: n, and one as "METHOD target content-type signature body" (absent parts left out). */
size_t fake_count(const struct transport_fake *f);
const char *fake_call(const struct transport_fake *f, size_t i);
const char *fake_user(const struct transport_fake *f, size_t i);   /* impersonated, or NULL */
const char *fake_accept(const struct transport_fake *f, size_t i); /* the header, or NULL */
int64_t fake_timeout_ns(const struct transport_fake *f, size_t i); /* what it was given */
size_t fake_unused(const struct transport_fake *f);                /* rows that no call took */
size_t fake_open(const struct transport_fake *f);                  /* calls that have not ended */

#endif
