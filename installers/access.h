/*
 * access: which rights an install takes (reliability.md 10). Pure: rendered objects in, rules out,
 * sorted and each once. Whoever installs asks the server for each before the first write, and
 * prints as a manifest what is missing.
 *
 * Three things take rights: writing the objects themselves (create, patch, delete; hooks create and
 * delete; a definition and what is kept are not deleted), the release record, and handing rights
 * on: a server lets nobody write a Role that gives what he does not hold, unless he may `escalate`
 * it, and nobody bind one, unless he may `bind` it (Kubernetes: "privilege escalation prevention
 * and bootstrapping"). So each right that a rendered role gives is a rule as well, with what waives
 * it beside it.
 */
#ifndef INSTALLERS_ACCESS_H
#define INSTALLERS_ACCESS_H

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/obj/obj.h"

#define ACCESS_RULES_MAX 4096
#define ACCESS_RBAC      "rbac.authorization.k8s.io"
#define ACCESS_DELEGATE  "delegate-"

struct access_rule {
	const char *verb, *group;
	const char *resource; /* "deployments", "deployments/scale", "*" */
	const char *ns;       /* "": at cluster scope */
	const char *name;     /* "": any */
	const char *url;      /* a right to a path; NULL: to a resource */
	const char *role;     /* which object gives the right; NULL: the install itself uses it */
	const char *subject;  /* of access_grants(): to whom; or NULL */
	bool waives;          /* what the role gives need not be held with it */
	const struct obj *proof; /* a binding whose dry run shows the right, too */
};

struct access {
	struct arena *a;
	struct access_rule *items;
	size_t n, cap;
	const struct access_input *in;
};

enum access_life { ACCESS_OBJECT, ACCESS_KEPT, ACCESS_DEFINITION, ACCESS_HOOK };

struct access_object {
	const struct obj *object;
	const char *group, *plural; /* plural NULL: nobody knows the kind */
	const char *ns;             /* NULL: cluster-scoped */
	enum access_life life;
};

struct access_input {
	const struct access_object *objects;
	size_t n;
	const char *ns; /* of the release record; NULL: none is written */
	/* "plural.group" of definitions whose custom resources the account is given with them: no
	 * rule is about these. Ended by NULL, or NULL. */
	const char *const *own;
	/* The account holds rights to definitions and ClusterRoles that it must not hand on: for
	 * these it takes the right to the verb delegate-VERB, which only an administrator gives.
	 * Nor does it bind roles of others at cluster scope without the right to `bind` them. */
	bool withholds;
};

/* E_LIMIT: more than ACCESS_RULES_MAX. Texts are borrowed from the objects, or in the arena. */
int access_rules(const struct access_input *in, struct arena *a, struct access *ret,
		 struct error *err);
/* What the rendered roles give, and to whom roles of others are bound: what an upgrade's rights are
 * compared by. ns and withholds do not count. */
int access_grants(const struct access_input *in, struct arena *a, struct access *ret,
		  struct error *err);
/* Texts of the grants in now that none in before covers, verbs of one thing together; NULL-ended.
 */
const char *const *access_added(const struct access *now, const struct access *before,
				struct arena *a, size_t *ret_n);

/* Do they differ in nothing but the verb? */
bool access_is_same_thing(const struct access_rule *a, const struct access_rule *b);
/* "create deployments.apps in etcd" */
const char *access_text(const struct access_rule *r, struct arena *a);
/* The questions for a server: [{verb, group, resource, subresource, namespace, name, path, proof}]
 * in the order of the rules. Owned. */
struct obj *access_questions(const struct access *x);
/* Which rules are missing when the server denies these, both one a rule; how many. What a denied
 * right of a role is waived by does not miss. */
size_t access_missing(const struct access *x, const bool *denied, bool *ret_missing);

/* Whom the manifests are for. */
struct access_grantee {
	const char *ns, *account; /* a ServiceAccount */
	const char *name;         /* of the roles and bindings */
	const char *label, *value;
};
/* Roles and bindings that give the rules marked in wanted (NULL: all that the install takes), by
 * namespace. A list, owned. */
struct obj *access_manifests(const struct access *x, const bool *wanted,
			     const struct access_grantee *g);

#endif
