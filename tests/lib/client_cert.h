/* client_cert: what a CA gives a client. alm makes certificates of servers only. */
#ifndef TESTS_LIB_CLIENT_CERT_H
#define TESTS_LIB_CLIENT_CERT_H

/* PEM, owned. len < 0: a name that ends at its NUL. */
void client_cert(const char *ca_pem, const char *ca_key_pem, const char *name, int len,
		 char **ret_cert, char **ret_key);

#endif
