/*
 * field_error: what is wrong with which field, as the causes of a Status 422 (apimachinery
 * field.Error). The full text of one is "PATH: MESSAGE".
 */
#ifndef ALM_OBJ_FIELD_ERROR_H
#define ALM_OBJ_FIELD_ERROR_H

#include "alm/base/arena.h"
#include "alm/base/strbuf.h"

enum field_error_type {                      /* reason of the cause */
			FIELD_INVALID,       /* FieldValueInvalid */
			FIELD_REQUIRED,      /* FieldValueRequired */
			FIELD_NOT_SUPPORTED, /* FieldValueNotSupported */
			FIELD_DUPLICATE,     /* FieldValueDuplicate */
			FIELD_FORBIDDEN,     /* FieldValueForbidden */
			FIELD_TOO_LONG,      /* FieldValueTooLong */
			FIELD_TOO_MANY,      /* FieldValueTooMany */
			FIELD_TYPE_INVALID,  /* FieldValueTypeInvalid */
			FIELD_NOT_FOUND,     /* FieldValueNotFound */
			FIELD_INTERNAL,      /* InternalError */
};

#define FIELD_ERRORS_MAX       256
#define FIELD_ERRORS_BYTES_MAX ((size_t)256 << 10) /* of all texts; the last may pass it */

struct obj;

struct field_error {
	enum field_error_type type;
	const char *path;    /* "spec.size", "<nil>" for a failed oneOf */
	const char *message; /* 'Invalid value: -1: spec.size in body should be ...' */
	bool is_of_text;     /* the message shows the whole value, a text that is not empty */
	const struct obj *
		of; /* what it is said of, which forgives as a text does; NULL: not told. Borrowed: of the object
			       * that is judged, and no longer there than that is */
};

struct field_errors {
	struct arena *arena; /* texts live here */
	size_t n;
	size_t bytes;   /* of the texts */
	size_t omitted; /* beyond the limits */
	size_t hidden;  /* of the first ones: not told, as what came later is found before them */
	size_t whole; /* where begins what is told of the metadata of an update as of a new object's */
	struct field_error items[FIELD_ERRORS_MAX];
};

void field_errors_init(struct field_errors *e, struct arena *a);
/* Whoever makes long texts looks first: what is added now is only counted. */
bool field_errors_full(const struct field_errors *e);
void field_errors_add(struct field_errors *e, enum field_error_type type, const char *path,
		      const char *fmt, ...) PRINTF(4, 5);
/* FIELD_DUPLICATE or FIELD_NOT_FOUND of a text (NULL is ""), quoted. */
void field_errors_add_text(struct field_errors *e, enum field_error_type type, const char *path,
			   const char *text);
/* Unless value is one of all (NULL-ended): 'Unsupported value: "x": supported values: "a", "b"'. */
void field_errors_one_of(struct field_errors *e, const char *path, const char *value,
			 const char *const *all);
/* Those from number a to b change places with those from b to end. */
void field_errors_swap(struct field_errors *e, size_t a, size_t b, size_t end);
const char *field_error_reason(enum field_error_type type);
/* "[F: M, F: M]", without brackets for a single one; what stands twice is told once. */
void field_errors_text(const struct field_errors *e, struct strbuf *b);

#endif
