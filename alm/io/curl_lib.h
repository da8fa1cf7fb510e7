/*
 * curl_lib: libcurl, loaded when the first connection is made. Its shared object brings some thirty
 * others along (TLS, Kerberos, LDAP, ...), which cost a command without a network 8 ms and 4 MiB.
 *
 * To use one more of its functions: a row in CURL_FUNCTIONS; it is called as curl->easy_init().
 */
#ifndef ALM_IO_CURL_LIB_H
#define ALM_IO_CURL_LIB_H

#include <curl/curl.h>

#include "alm/base/error.h"

/* The prototypes are what counts here, not the macros that check the arguments of calls. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

/* clang-format off */
#define CURL_FUNCTIONS(X) \
	X(global_init_mem) X(free) \
	X(easy_init) X(easy_cleanup) X(easy_setopt) X(easy_getinfo) X(easy_strerror) \
	X(multi_init) X(multi_cleanup) X(multi_setopt) X(multi_add_handle) X(multi_remove_handle) \
	X(multi_assign) X(multi_socket_action) X(multi_info_read) \
	X(slist_append) X(slist_free_all) \
	X(url) X(url_cleanup) X(url_get) X(url_set)
/* clang-format on */

struct curl_lib {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a name */
#define X(name) __typeof__(&curl_##name) name;
	CURL_FUNCTIONS(X)
#undef X
};

/* Initialised; the same for all callers, for the life of the process. E_UNSUPPORTED if the machine
 * has no libcurl. */
int curl_lib_load(const struct curl_lib **ret, struct error *err);

#endif
