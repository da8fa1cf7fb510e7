/* field_check: what the checks of all kinds say alike (builtin_check.h): one field and what is wrong with it, in the words of
 * Kubernetes 1.36. A value is shown as Go's JSON of it. Pure. */
#ifndef ALM_APISERVER_KINDS_FIELD_CHECK_H
#define ALM_APISERVER_KINDS_FIELD_CHECK_H

#include "alm/base/map.h"
#include "alm/obj/field_error.h"
#include "alm/obj/gvk.h"
#include "alm/obj/obj.h"

bool check_is_empty(const struct obj *o, const char *field);   /* absent, "" or no text */
const char *check_text(const struct obj *o, const char *path); /* "" if it is none */
const char *check_below(struct field_errors *e, const char *path, const char *field); /* "a.b" */
const char *check_at(struct field_errors *e, const char *path, size_t i);             /* "a[0]" */

const char *check_quoted(struct field_errors *e, const char *text); /* as Go quotes it */

/* Did a name before it have this text? seen: map_new(NULL), of one list. */
bool check_again(struct map *seen, const char *name);

/* "Required value", and why (may be NULL). */
void check_required(struct field_errors *e, const char *path, const char *why);
void check_invalid(struct field_errors *e, const char *path, const struct obj *v, const char *why);
void check_invalid_text(struct field_errors *e, const char *path, const char *text,
			const char *why);
/* A map as the struct that Go has for it: fields "Name:name" (NULL-ended), in its order. What is missing is "", with a '*' in front
 * null, with a '?' false. why: NULL if it is there twice. */
void check_invalid_struct(struct field_errors *e, const char *path, const struct obj *v,
			  const char *const *fields, const char *why);
/* One of the words, or it is required. */
void check_one_of_or_empty(struct field_errors *e, const char *path, const char *is,
			   const char *const *all);
void check_too_long(struct field_errors *e, const char *path, size_t most); /* bytes */
void check_forbidden(struct field_errors *e, const char *path, const char *why);

/* All that the rule says against a text. */
void check_named(struct field_errors *e, const char *path, enum name_rule rule, const char *text);
/* The same, but an empty one is none. */
void check_name_rule(struct field_errors *e, const char *path, enum name_rule rule,
		     const char *text);
/* What is judged of a name that more is to follow: "web-", which may end where no name may. Sic: "W-" passes, as the letter in front
 * of the dash is not looked at. */
struct str check_prefix(struct field_errors *e, const char *name);
/* As a part of a path in a URL. */
void check_segment(struct field_errors *e, const char *path, const char *text);
void check_at_least(struct field_errors *e, const char *path, const struct obj *v, int64_t least);
/* A key of a label, with or without a domain: all that is wrong with it. */
void check_qualified(struct field_errors *e, const char *path, const char *name);
/* A key of a ConfigMap or a Secret. */
void check_config_key(struct field_errors *e, const char *path, const char *key);
/* Does Kubernetes itself count it? "requests.cpu", not "example.com/gpu". */
bool check_is_standard(const char *name);
/* The name of an amount of something. */
void check_resource_name(struct field_errors *e, const char *path, const char *name);
/* The name of something a container can ask for. */
void check_container_resource(struct field_errors *e, const char *path, const char *name);
/* Of a quantity: is it below zero (or, if strict, zero)? false if there is none. */
bool check_is_negative(const struct obj *quantity, bool strict);

/* Takes from e, of those from number `from` on, each invalid text that was invalid before: said of the same text,
 * for the same reason, of a field of the same name, wherever in lists; and what check_said_of() marked, said of an equal value.
 * What else has no text ("", numbers, maps) stays, and so
 * does all where there is more than e could hold (FIELD_ERRORS_MAX): who is not known may not be forgiven. */
void check_forgive(struct field_errors *e, size_t from, const struct field_errors *was);

/* Marks the error that was just added, which is said of v: a rule that is younger than what may be stored. */
void check_said_of(struct field_errors *e, const struct obj *v);

/* The same of all from number `from` on. v may be NULL. */
void check_said_since(struct field_errors *e, size_t from, const struct obj *v);

/* "acme.io/foo". */
void check_domain_path(struct field_errors *e, const char *path, const char *text);

/* "field is immutable", where it is another value. */
void check_kept(struct field_errors *e, const char *path, const struct obj *o,
		const struct obj *before);
/* The same of a text, where one that is missing is empty, and one that was missing may come. */
void check_text_kept(struct field_errors *e, const char *path, const struct obj *o,
		     const struct obj *before);

/* A name whose letters may be capitals, too. */
void check_by_lower(struct field_errors *e, const char *path, enum name_rule rule,
		    const char *name);
/* The name that the object has to have, and generateName: told behind what else is wrong with each, but not (segment) of what
 * can be no name at all. */
void check_wanted_name(struct field_errors *e, const struct obj *o, bool segment, const char *want,
		       const char *why);
/* How many of the list are to be looked at: none of one that is too long, which is told. */
size_t check_length(struct field_errors *e, const char *path, const struct obj *list, size_t most);
/* Of what drives volumes or devices. */
void check_driver_name(struct field_errors *e, const char *path, const char *name);

#endif
