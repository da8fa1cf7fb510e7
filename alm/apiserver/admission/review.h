/*
 * review: the AdmissionReview that a webhook is sent, and what it answers (admission.k8s.io/v1 and
 * v1beta1). Pure; in the words of Kubernetes 1.36 (tests/golden/kube-api/webhook.jsonl).
 */
#ifndef ALM_APISERVER_ADMISSION_REVIEW_H
#define ALM_APISERVER_ADMISSION_REVIEW_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

#define REVIEW_BYTES_MAX ((size_t)8 << 20) /* object, the old one, and who asks */

struct review {
	const char *version;            /* "v1", "v1beta1" */
	const struct obj *request;      /* but uid, object and oldObject */
	const struct obj *object, *old; /* NULL: null */
};

/* The request without its uid, the same bytes for the same question. */
void review_print_request(const struct review *r, struct strbuf *b);
/* The whole review, of what that printed. */
void review_print(const char *version, const char *uid, struct str request, struct strbuf *b);

struct review_answer {
	bool allowed;
	/* Of the arena; NULL: none. Of patch the operations, none of an empty list. */
	const struct obj *status, *warnings, *annotations, *patch;
};

/* As client-go words an answer that is no success; NULL: it is one. */
const char *review_http_fault(int status, struct arena *a);
/* As Go's JSON calls what it cannot take: "number", also of one without a fraction. */
const char *review_go_name(enum obj_type type);
/* The body, which is to be a review of that kind; of the arena. NULL: *why says why it is none. */
const struct obj *review_parse(struct str body, struct arena *a, const char **why);

/* Of what review_parse() gave: why it is no review of that kind; NULL: it is one. *ret_bare: it says no kind at all, which is told of v1
 * alone. */
const char *review_kind_fault(const struct obj *o, const char *group, const char *version,
			      const char *want, struct arena *a, bool *ret_bare);

/* status: of HTTP. The error says why it is no answer, as it follows on `failed calling webhook "a": `. */
int review_read(const char *version, const char *uid, int status, struct str body, bool mutating,
		struct arena *a, struct review_answer *ret, struct error *err);

#endif
