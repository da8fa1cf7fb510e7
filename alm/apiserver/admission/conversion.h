/*
 * conversion: the ConversionReview that a definition's converter is sent, and what it answers (apiextensions.k8s.io/v1 and
 * v1beta1). Pure; in the words of Kubernetes 1.36 (tests/golden/kube-api/convert.jsonl).
 */
#ifndef ALM_APISERVER_ADMISSION_CONVERSION_H
#define ALM_APISERVER_ADMISSION_CONVERSION_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

/* The version of the review that the converter of conversion (spec.conversion) is sent: the first of its that is known; NULL. */
const char *conversion_version(const struct obj *conversion);
/* What is asked but its uid, the same bytes for the same question; objects is a list. */
void conversion_print_request(const char *api_version, const struct obj *objects, struct strbuf *b);
/* The whole review, of what that printed. */
void conversion_print(const char *version, const char *uid, struct str request, struct strbuf *b);

/* Of the answer: *ret has one for each of the objects, in their order, of the arena. status: of HTTP. The error is what
 * follows on `conversion webhook for KIND `. */
int conversion_read(const char *version, const char *uid, int status, struct str body, size_t n,
		    struct arena *a, const struct obj **ret, struct error *err);
/* One of them, o being what was asked: *ret is it with o's metadata, but labels and annotations; of the arena. E_CORRUPT: it is
 * no object at all, and the error is the whole message. */
int conversion_take(const struct obj *o, const struct obj *converted, const char *api_version,
		    struct arena *a, struct obj **ret, struct error *err);

#endif
