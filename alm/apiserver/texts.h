/*
 * texts: U+0000. JSON strings may hold it, C strings end at it: "bob\u0000x" would be bob. Keys of
 * maps never hold one (the readers of JSON, YAML and protobuf refuse it). Values may, where they
 * are data: of custom resources as their schema says, of ConfigMaps. Where the server itself reads
 * and compares them as C strings, they are refused; the table in texts.c says where.
 */
#ifndef ALM_APISERVER_TEXTS_H
#define ALM_APISERVER_TEXTS_H

#include "alm/apiserver/kinds/kinds.h"

/* The path of the first string that must not hold U+0000 but does, "subjects[0].name", of the
 * arena; NULL: all is well. */
const char *texts_fault(const struct kind *k, const struct obj *o, struct arena *arena);
/* The same, of every string below o: reviews, DeleteOptions. */
const char *texts_fault_anywhere(const struct obj *o, struct arena *arena);

#define TEXTS_FAULT "must not contain U+0000"

#endif
