/* selector: label and field selectors (kube-api.md 7), parsed once, matched often. */
#ifndef ALM_OBJ_QUERY_SELECTOR_H
#define ALM_OBJ_QUERY_SELECTOR_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

struct selector;

#define SELECTOR_TERMS_MAX 256

/* "a, !a, a=b, a==b, a!=b, a in (b,c), a notin (b,c), a>1, a<1"; "" matches everything.
 * E_BADREQUEST with Kubernetes' text: unable to parse requirement: found '...', expected: ... */
int selector_parse(struct str text, struct selector **ret, struct error *err);
/* From a metav1.LabelSelector object: matchLabels, matchExpressions. NULL matches nothing, {} all.
 */
int selector_from_obj(const struct obj *label_selector, struct selector **ret, struct error *err);
void selector_free(struct selector *s);
DEFINE_FREEP(selector)
bool selector_matches(const struct selector *s, const struct obj *labels); /* NULL labels = none */
bool selector_is_empty(const struct selector *s);
/* A sketch of labels that is kept beside an object, so that most of what a selector does not want is known without
 * reading it: never 0, in this process alone (hash_key()). */
uint64_t selector_bits(const struct obj *labels);
/* No object with this sketch matches. false: it may. */
bool selector_excludes(const struct selector *s, uint64_t bits);
/* As selector_parse() reads it. One that matches nothing has no text: "" would match all. */
void selector_print(const struct selector *s, struct strbuf *b);

/* Field selectors: "a=b,c!=d"; fields are looked up by the caller's function, which returns NULL
 * for an unknown field (E_BADREQUEST "field label not supported: X" at parse time, through
 * supported). */
struct field_selector;
int field_selector_parse(struct str text, bool (*supported)(void *arg, struct str field), void *arg,
			 struct field_selector **ret, struct error *err);
void field_selector_free(struct field_selector *s);
DEFINE_FREEP(field_selector)
/* value(arg, field) gives the field's text, "" when empty or absent. */
bool field_selector_matches(const struct field_selector *s,
			    const char *(*value)(void *arg, const char *field), void *arg);
/* The value demanded with = for a field, or NULL: metadata.name=x lets a list read one object. */
const char *field_selector_exact(const struct field_selector *s, const char *field);

#endif
