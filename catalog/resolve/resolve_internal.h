/* resolve_internal: shared by the files resolve*.c. */
#ifndef CATALOG_RESOLVE_RESOLVE_INTERNAL_H
#define CATALOG_RESOLVE_RESOLVE_INTERNAL_H

#include "catalog/resolve/resolve.h"

struct resolver {
	const struct resolve_input *in;
	struct arena *a;
	struct version installed;  /* parsed, if in->installed_version */
	const struct range *range; /* of spec.version; NULL: * */
	struct candidate *candidates;
	size_t n;
	struct resolver_paths *paths; /* resolve_path.c; NULL: not needed so far */
	bool has_edges;               /* some version of the package declares upgrade edges */
	bool without_deps; /* the search for another app judges this one: it asks for all itself */
	int64_t decisions;
	struct {
		const char *not_requested, *not_newer, *out_of_range, *prerelease, *no_path;
	} texts; /* the same for every candidate; made when the first one needs it */
};

/* --- resolve.c --- */
bool resolver_fail(struct candidate *c, const char *reason, const char *message,
		   const char *subject);
/* Predicates 1 to 12; false: one failed. */
bool resolver_judge_index(struct resolver *r, struct candidate *c);
/* Predicates 13 to 15. */
void resolver_judge_rest(struct resolver *r, struct candidate *c);
bool resolver_is_stop(struct resolver *r, const struct candidate *c);

/* --- resolve_resources.c: predicates 10 to 13 and 15 --- */
bool resolver_goes_back(const struct resolver *r, const struct candidate *c); /* below installed */
bool predicate_keeps_resources(struct resolver *r, struct candidate *c);
bool predicate_owns_its_crds(struct resolver *r, struct candidate *c);
bool predicate_keeps_what_others_need(struct resolver *r, struct candidate *c);
bool predicate_has_requirements(struct resolver *r, struct candidate *c);
bool predicate_passes_gate(struct resolver *r, struct candidate *c);
bool resolver_is_served(const struct resolver *r, const char *resource);
const char *resolver_crd_name(struct arena *a, const char *resource);
/* "1 object, stored" */
bool resolver_holds_objects(
	const struct resolve_usage *u); /* stored in that version, or it may be */

/* --- resolve_deps.c: predicate 14 --- */
bool predicate_has_dependencies(struct resolver *r, struct candidate *c);

/* --- resolve_offered.c --- */

#define RESOLVE_OFFERED_MAX 5 /* packages in a message */
/* The first packages of all catalogs, which spec.package may be, where none installs the app; one more
 * than the message has room for tells that there are more. */
size_t resolve_offered(const struct resolve_input *in, const char *names[RESOLVE_OFFERED_MAX + 1]);
/* What to do where no package installs the app. */
const char *resolver_where_packages_are(const struct resolve_input *in, struct arena *a);

/* --- resolve_package.c --- */

/* Candidates of the input, not judged; false: ret has the reason. */
bool resolver_setup(struct resolver *r, const struct resolve_input *in, struct arena *a,
		    struct resolution *ret);
struct candidate *resolver_find(const struct resolver *r, const char *version);
/* What a candidate manages, and what CRD versions it brings along. */
const char *const *resolver_managed(const struct candidate *c, size_t *ret_n);
bool resolver_manages(const struct candidate *c, const char *resource);
bool resolver_brings(const struct candidate *c, const char *resource);
/* Not deprecated, then the higher version. */
bool resolver_prefers(const struct candidate *c, const struct candidate *best);

/* --- resolve_path.c --- */
/* Number of hops from the installed version, 0: none; path gets the versions in order if not NULL.
 */
size_t resolver_path(struct resolver *r, const struct candidate *c, const char ***ret_path);

/* --- resolve_when.c --- */
void resolver_when(const struct resolver *r, struct resolution *ret);

/* --- resolve_claims.c --- */
enum claim_table { CLAIM_SELF_REF, CLAIM_CRD, CLAIM_NEED, CLAIM_REFUSAL, CLAIM_PACKAGE, CLAIM_MAX };

/* Those with the key, in order of their apps. */
const struct resolve_claim *const *claims_find(const struct resolve_claims *c, enum claim_table t,
					       struct str key, size_t *ret_n);
/* Every one, in order of their apps; and those that were found since claims_record(), which is
 * what a decision read, each once: that ends the recording. */
const struct resolve_claim **claims_list(const struct resolve_claims *c, struct arena *a,
					 size_t *ret_n);
const struct resolve_claim **claims_touched(const struct resolve_claims *c, struct arena *a,
					    size_t *ret_n);
void claims_record(const struct resolve_claims *c);
/* Another app than the input's, or NULL. */
const struct resolve_claim *claims_app(const struct resolver *r, const char *self_ref);
const struct resolve_claim *claims_crd(const struct resolver *r, const char *crd);

#endif
