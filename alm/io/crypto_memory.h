/*
 * crypto_memory: the pieces of OpenSSL, in pages of their own (pool.h).
 *
 * A connection is some thousand small pieces, which stay for as long as a watch does. Between those
 * of a wave of reconciles each would hold a page of malloc's that nobody else uses any more.
 */
#ifndef ALM_IO_CRYPTO_MEMORY_H
#define ALM_IO_CRYPTO_MEMORY_H

/* Before the first call of OpenSSL: after one nothing changes. The process has one thread that uses it. */
void crypto_memory_pool(void);

#endif
