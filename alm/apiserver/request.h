/*
 * request: one API request on its way through the server.
 *
 * Made by apiserver_handle(), filled in this order: route (path, verb, kind), auth (user), options
 * (query), accept. Everything in it lives in the arena of the exchange. It is answered exactly
 * once, by one of the request_reply functions; after that neither request nor exchange is touched.
 */
#ifndef ALM_APISERVER_REQUEST_H
#define ALM_APISERVER_REQUEST_H

#include "alm/apiserver/kinds/kinds.h"
#include "alm/io/server.h"
#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

struct apiserver;
struct map;
struct store;

/* One value of an extra; a key may come several times. */
struct user_extra {
	const char *key, *value;
};

struct user_info {
	const char *name, *uid; /* name "" before authentication; uid may be "" */
	const char *const *groups;
	size_t n_groups;
	const struct user_extra *extra;
	size_t n_extra;
	const char *impersonator; /* who really asks, or NULL */
};

enum accept_as {
	AS_OBJECT,
	AS_TABLE,
	AS_METADATA, /* PartialObjectMetadata, PartialObjectMetadataList */
};

enum table_include { INCLUDE_METADATA, INCLUDE_NONE, INCLUDE_OBJECT };

enum accept_form { FORM_JSON, FORM_YAML, FORM_PROTOBUF };

struct accept {
	enum accept_form form;
	enum accept_as as;
	const char *as_version; /* "v1" or "v1beta1" of meta.k8s.io, of AS_TABLE and AS_METADATA */
	enum table_include include; /* query includeObject */
};

/* What a Status of failure says besides code, reason and message; filled by status.c. */
struct failure {
	const char *message; /* NULL: the message of the error */
	bool details;        /* there is a details object, be it empty */
	bool no_reason;
	const char *reason;                    /* NULL: that of the error's code */
	const char *name, *group, *kind, *uid; /* NULL or "" is left out */
	const struct field_errors *causes;
	/* What somebody else says instead: the Status, and its code of HTTP; NULL: err says it. */
	const struct obj *status;
	int http;
	const struct status_cause *extra; /* causes that are no field errors */
	size_t n_extra;
	int retry_after_s;          /* 0: left out */
	bool no_retry;              /* of a 503 that only a person can end */
	const char *continue_token; /* metadata.continue of an expired one, or NULL */
};

struct status_cause {
	const char *reason, *message, *field; /* NULL is left out */
};

#define REQUEST_WARNINGS_MAX      32
#define REQUEST_WARNING_BYTES_MAX 4096

/* What the head of the answer tells. */
struct request_told {
	struct http_headers headers;
	const char *warnings[REQUEST_WARNINGS_MAX];
	size_t n_warnings, warning_bytes;
};

/* What a request draws for itself, the same when it is handled again (waiting.h). */
struct request_fixed {
	int64_t now_ns;        /* 0: the time is as it is */
	char uid[40];          /* of the object it creates; "" before */
	const char *name;      /* that was generated for it, of the exchange; NULL before */
	struct map *converted; /* of converting.c, of the exchange; NULL before */
};

struct request {
	struct apiserver *server;
	struct exchange *exchange;
	struct arena *arena;

	/* route.c. verb: get list watch create update patch delete deletecollection; for a path
	 * without resource the HTTP method in lower case. */
	const char *verb;
	const char *path;                               /* decoded */
	const char *query;                              /* undecoded */
	bool is_resource;                               /* the path names a resource */
	const char *group, *version;                    /* of is_resource; "" for core */
	const char *resource, *subresource, *ns, *name; /* "" when absent; resource is the plural */
	/* NULL if group, version, resource is not served, or not at this path; wrong_method: the
	 * path is there, for other methods. */
	const struct kind *kind;
	bool wrong_method;
	/* It was asked for in the form of 2017 (modern.h): as which apiVersion, and under which name
	 * if that is another one today. NULL: no. */
	const char *old_api_version, *old_name;
	bool says_one_version; /* the definition in its body, which is one of 2017, says no other */

	struct user_info user;
	bool by_admin; /* who really asks is an administrator */
	struct accept accept;

	struct request_told *told; /* NULL of one that is never answered */
	struct failure failure;
	struct obj *annotations; /* for the entry of the audit log; of the arena; NULL: none */
	struct request_fixed fixed;
	struct waiting *waiting; /* NULL: no webhook was asked */
	int64_t timeout_ns;      /* that the client wants it ended after; 0: none */
};

/* The same request, as it came in, for whoever handles it once more; lives in a. */
struct request *request_again(const struct request *old, struct arena *a);

/* What an answer that goes on for hours needs of its request, in a: the kind, where it looks and how it is asked to show it. */
struct request *request_kept(const struct request *r, struct arena *a);

struct kinds *request_kinds(const struct request *r);
/* After a turn of the loop, in which its definition may have changed: its kind as it is now; false: it is
 * gone. */
bool request_find_kind(struct request *r);
struct store *request_store(const struct request *r);
int64_t request_now(const struct request *r);
const char *request_header(const struct request *r, const char *name); /* of the request, or NULL */
const char *request_query(const struct request *r, const char *name);  /* decoded, or NULL */

/* Answer parts. Strings are borrowed: literals or of the arena. */
void request_set_header(struct request *r, const char *name, const char *value);
/* One "Warning: 299 - ..." header; text is escaped here. */
void request_warn(struct request *r, const char *fmt, ...) PRINTF(2, 3);
/* One for each line of a text but the first. */
void request_warn_lines(struct request *r, const char *text);

/* For the entry of the audit log. */
void request_annotate(struct request *r, const char *key, struct str value);

/* Answers. Cache-Control "no-cache, private" is added unless the header is set. While a batch of
 * writes is open, the answer waits for its commit; if that fails, it becomes a 503. */
void request_reply(struct request *r, int status, const char *content_type, struct str body);
/* Begins a stream, which the caller writes and ends; after the commit of an open batch. */
void request_begin(struct request *r, int status, const char *content_type);
/* As JSON, YAML or protobuf, as accept says. A text larger than REQUEST_TREE_BYTES_MAX, whose tree would have
 * 16 times its size, is turned into neither of the latter: E_TOOLARGE. */
#define REQUEST_TREE_BYTES_MAX ((size_t)4 << 20)
#define REQUEST_TREE_MESSAGE \
	"the answer is too large for YAML or protobuf: ask for JSON, or use limit"
void request_reply_obj(struct request *r, int status, const struct obj *o);
void request_reply_json(struct request *r, int status, struct str json);
/* A Status, from err and r->failure (status.h). */
void request_reply_error(struct request *r, const struct error *err);
/* 404, text/plain, "404 page not found\n". */
void request_reply_no_page(struct request *r);

#endif
