/*
 * library_memory: the pieces of OpenSSL and libcurl, in pages of their own (pool.h).
 *
 * A connection is some thousand small pieces, which stay for as long as a watch does. Between those
 * of a wave of reconciles each would hold a page of malloc's that nobody else uses any more. libcurl
 * has a thread for each name that it looks up, so any thread may call these.
 */
#ifndef ALM_IO_LIBRARY_MEMORY_H
#define ALM_IO_LIBRARY_MEMORY_H

#include <stddef.h>

/* OpenSSL's, before its first call: after one nothing changes. libcurl's are curl_lib.c's to set. */
void library_memory_crypto(void);

/* As C's functions of these names, also of no bytes; NULL only for a length that cannot be. What one
 * gave goes by library_free() alone. */
void *library_malloc(size_t n);
void library_free(void *p);
void *library_realloc(void *p, size_t n);
void *library_calloc(size_t n, size_t bytes);
char *library_strdup(const char *s);

#endif
