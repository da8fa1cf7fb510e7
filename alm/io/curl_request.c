#include "alm/io/curl_request.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "alm/io/curl_lib.h"
#include "alm/io/tls.h"
#include "alm/io/transport.h"

#define CONNECT_MS   10000L
#define UPLOAD_BYTES 16384L /* the least there is: a request keeps the buffer, and watches stay */

static void set_blob(const struct call *c, CURLoption option, const char *text)
{
	if (!text)
		return;
	struct curl_blob blob = {
		.data = xstrdup(text), .len = strlen(text), .flags = CURL_BLOB_COPY};
	c->remote->curl->easy_setopt(c->easy, option, &blob);
	explicit_bzero(blob.data, blob.len);
	xfree(blob.data);
}

static CURLcode on_context(CURL *easy UNUSED, void *context, void *arg)
{
	struct remote *t = arg;
	bool verifies = !t->config.insecure_skip_tls_verify;
	return tls_client_context(context, verifies ? &t->nameless : NULL)
		       ? CURLE_OK
		       : CURLE_SSL_CONNECT_ERROR;
}

static void set_tls(struct call *call, const struct transport_config *c)
{
	const struct curl_lib *curl = call->remote->curl;
	CURL *easy = call->easy;
	/* another TLS library than OpenSSL has no such option: no connection without our rules */
	if (curl->easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_context) != CURLE_OK &&
	    !call->remote->is_plain)
		error_set(&call->failed, E_UNSUPPORTED, "libcurl is not built with OpenSSL");
	curl->easy_setopt(easy, CURLOPT_SSL_CTX_DATA, call->remote);
	curl->easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (c->ca_pem) {
		/* The pinned CA and no other. */
		curl->easy_setopt(easy, CURLOPT_CAPATH, NULL);
		set_blob(call, CURLOPT_CAINFO_BLOB, c->ca_pem);
	}
	set_blob(call, CURLOPT_SSLCERT_BLOB, c->cert_pem);
	set_blob(call, CURLOPT_SSLKEY_BLOB, c->key_pem);
	if (c->insecure_skip_tls_verify) {
		curl->easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
		curl->easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
	}
}

void curl_request_body(struct call *c, const struct transport_request *r)
{
	const struct curl_lib *curl = c->remote->curl;
	CURL *easy = c->easy;
	if (strcmp(r->method, "HEAD") == 0) {
		curl->easy_setopt(easy, CURLOPT_NOBODY, 1L);
		return;
	}
	if (r->body.len || strcmp(r->method, "GET") != 0) {
		curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len);
		curl->easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, r->body.len ? r->body.ptr : "");
	}
	curl->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, r->method);
}

static void free_connect_to(void *arg)
{
	struct call *c = arg;
	c->remote->curl->slist_free_all(c->connect_to);
}

static bool read_address(const struct curl_sockaddr *from, struct address *ret)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a = {0};
	memcpy(&a, &from->addr, from->addrlen < sizeof(a) ? from->addrlen : sizeof(a));
	*ret = (struct address){.v6 = from->family == AF_INET6};
	if (from->family == AF_INET)
		memcpy(ret->bytes, &a.v4.sin_addr, 4);
	else if (from->family == AF_INET6)
		memcpy(ret->bytes, &a.v6.sin6_addr, 16);
	return from->family == AF_INET || from->family == AF_INET6;
}

/* Each address of the name comes by here, after it was resolved and before it is connected to. */
static curl_socket_t open_socket(void *arg, curlsocktype purpose UNUSED, struct curl_sockaddr *to)
{
	struct call *c = arg;
	struct address a;
	if (!read_address(to, &a) || !address_policy_allows(c->remote->config.addresses,
							    c->remote->host, c->remote->port, &a)) {
		c->refused = true;
		return CURL_SOCKET_BAD;
	}
	c->connecting = true;
	return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

void curl_request_connection(struct call *c)
{
	const struct transport_config *config = &c->remote->config;
	const struct curl_lib *curl = c->remote->curl;
	CURL *easy = c->easy;
	curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl->easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BYTES);
	curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl->easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl->easy_setopt(easy, CURLOPT_PROXY, config->proxy_url ? config->proxy_url : "");
	curl->easy_setopt(easy, CURLOPT_USERAGENT,
			  config->user_agent ? config->user_agent : "alm/" ALM_VERSION);
	if (config->addresses) {
		curl->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
		curl->easy_setopt(easy, CURLOPT_OPENSOCKETDATA, c);
	}
	if (config->username) {
		curl->easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl->easy_setopt(easy, CURLOPT_USERNAME, config->username);
		curl->easy_setopt(easy, CURLOPT_PASSWORD, config->password ? config->password : "");
	}
	if (c->remote->connect_to) {
		c->connect_to = curl->slist_append(NULL, c->remote->connect_to);
		arena_defer(c->arena, free_connect_to, c);
		curl->easy_setopt(easy, CURLOPT_CONNECT_TO, c->connect_to);
	}
	set_tls(c, config);
}
