/* options: query parameters and DeleteOptions, checked as the real server does. */
#ifndef ALM_APISERVER_OPTIONS_H
#define ALM_APISERVER_OPTIONS_H

#include "alm/apiserver/request.h"
#include "alm/obj/query/selector.h"

#define MANAGER_BYTES_MAX 128 /* of a field manager */

enum validation { VALIDATE_WARN, VALIDATE_IGNORE, VALIDATE_STRICT };
enum propagation {
	PROPAGATE_DEFAULT,
	PROPAGATE_BACKGROUND,
	PROPAGATE_FOREGROUND,
	PROPAGATE_ORPHAN
};
enum rv_match { MATCH_NONE, MATCH_EXACT, MATCH_NOT_OLDER };

/* Of create, update, patch. */
struct write_options {
	bool dry_run, force;
	enum validation validation;
	const char *manager; /* never NULL */
	bool manager_stated; /* by the query */
};

struct delete_options {
	bool dry_run;
	enum propagation propagation;
	const char *uid, *rv; /* preconditions, or NULL */
	const struct obj *body;
};

struct list_options {
	int64_t limit;              /* 0: none */
	const char *continue_token; /* or NULL */
	bool rv_stated;
	int64_t rv;
	const char *rv_text;
	enum rv_match match;
	struct selector *labels;       /* of the arena; never NULL */
	struct field_selector *fields; /* of the arena; never NULL */
	bool selective;                /* any selector is not empty */
	bool by_fields;                /* that of fields is not */
	/* watch */
	int64_t timeout_s; /* 0: not stated */
	bool bookmarks, initial_events;
};

/* name: "CreateOptions", "UpdateOptions", "PatchOptions". apply: an apply patch. */
int options_write(struct request *r, const char *name, bool is_patch, bool apply,
		  struct write_options *ret, struct error *err);
/* Of the body alone, as a real server does; NULL: of the query. */
int options_delete(struct request *r, const struct obj *body, struct delete_options *ret,
		   struct error *err);
int options_list(struct request *r, struct list_options *ret, struct error *err);

bool options_match(const struct list_options *l, const struct obj *o);

/* ?timeout= of a request that is no watch, a Go duration: how long it may wait, in r->timeout_ns. E_BADREQUEST. */
int options_timeout(struct request *r, struct error *err);

#endif
