#include "catalog/lint/lint.h"

#include <string.h>

#include "catalog/gate/gate_report.h"
#include "catalog/lint/lint_internal.h"

struct lint lint_new(struct arena *a)
{
	return (struct lint){.a = a};
}

static const char *file_of(const char *locator)
{
	const char *slash = strrchr(locator, '/'), *member = strrchr(locator, '#');
	if (member)
		return member + 1;
	return slash ? slash + 1 : locator;
}

static void add(struct lint *l, const struct lint_finding *f)
{
	if (f->level == LINT_ERROR)
		l->n_errors++;
	else
		l->n_warnings++;
	if (l->n == LINT_FINDINGS_MAX)
		return;
	ARENA_GROW(l->a, l->items, l->cap, l->n, 8);
	l->items[l->n++] = *f;
}

void lint_add_field(struct lint *l, enum lint_level level, const char *rule,
		    const struct package_version *p, const char *field, const char *text,
		    const char *remedy)
{
	add(l, &(struct lint_finding){.level = level,
				      .rule = rule,
				      .where = arena_strdup(l->a, file_of(p->locator)),
				      .field = field,
				      .version = p,
				      .text = text,
				      .remedy = remedy});
}

void lint_add(struct lint *l, enum lint_level level, const char *rule,
	      const struct package_version *p, const char *text, const char *remedy)
{
	lint_add_field(l, level, rule, p, NULL, text, remedy);
}

/* --- a version, and two --- */

static bool has(const char **list, size_t n, const char *s)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], s))
			return true;
	return false;
}

/* A resource that is declared and that no CRD of the chart serves; NULL: none. A chart without
 * CRDs may make them while it runs. */
static const char *unserved(const struct package_version *p)
{
	for (size_t i = 0; i < p->n_provides && p->n_own_crds && !p->unread; i++)
		if (!has(p->own_crds, p->n_own_crds, p->provides[i]))
			return p->provides[i];
	return NULL;
}

/* A resource of the version before that is gone without a higher major version. */
static const char *dropped(const struct package_version *old, const struct package_version *new)
{
	if (new->version.major > old->version.major || old->unread || new->unread ||
	    new->withdrawn || old->withdrawn)
		return NULL;
	for (size_t i = 0; i < old->n_provides; i++)
		if (!package_provides(new, old->provides[i]))
			return old->provides[i];
	return NULL;
}

static void check_version(struct lint *l, const struct package_version *p)
{
	if (p->ambiguous)
		lint_add(l, LINT_ERROR, "duplicate", p, p->ambiguous, "remove one of the archives");
	const char *resource = unserved(p);
	if (resource)
		lint_add_field(l, LINT_ERROR, "provides", p, "provides",
			       arena_fmt(l->a,
					 "%s %.*s provides %s, which no CRD of the chart serves",
					 p->package, STR_ARG(p->version.text), resource),
			       "add the CRD to crds/, or take the resource out of provides");
	if (p->n_provides && !p->n_own_crds && !p->unread && !p->withdrawn)
		lint_add_field(l, LINT_WARN, "provides", p, "provides",
			       arena_fmt(l->a, "%s %.*s provides %s, and the chart has no CRDs",
					 p->package, STR_ARG(p->version.text), p->provides[0]),
			       "add the CRD to crds/");
}

static void check_drop(struct lint *l, const struct package_version *old,
		       const struct package_version *new)
{
	const char *resource = dropped(old, new);
	if (resource)
		lint_add_field(l, LINT_ERROR, "drop-in-minor", new, "provides",
			       arena_fmt(l->a, "%s %.*s drops %s of %.*s", new->package,
					 STR_ARG(new->version.text), resource,
					 STR_ARG(old->version.text)),
			       arena_fmt(l->a, "keep it, or publish as %llu.0.0",
					 (unsigned long long)old->version.major + 1));
}

/* Somebody must provide what a package requires. */
static void check_requires(struct lint *l, const struct catalog_index *x,
			   const struct package_version *p)
{
	for (size_t k = 0; k < p->n_requires; k++) {
		size_t n;
		const struct package_requirement *r = &p->
							       requires[
								       k];
		index_by_resource(x, r->resource, &n);
		if (!n && !r->optional)
			lint_add_field(l, LINT_WARN, "requires-nobody", p, "requires",
				       arena_fmt(l->a,
						 "%s %.*s requires %s, which no package here "
						 "provides",
						 p->package, STR_ARG(p->version.text), r->resource),
				       "add a package that provides it, or mark it optional");
	}
}

static void check_package(struct lint *l, const struct catalog_index *x,
			  struct package_version *const *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		check_version(l, all[i]);
		check_requires(l, x, all[i]);
		if (i + 1 < n)
			check_drop(l, all[i + 1], all[i]);
	}
	lint_edges(l, all, n);
}

/* --- two packages --- */

static size_t crd_len(const char *resource)
{
	return strcspn(resource, "/");
}

/* The newest version of the package that provides it: who is named. */
static const struct package_version *provider(const struct catalog_index *x, const char *package,
					      const char *resource)
{
	size_t n;
	struct package_version *const *all = index_package(x, package, &n);
	for (size_t i = 0; i < n; i++)
		if (package_provides(all[i], resource))
			return all[i];
	return n ? all[0] : NULL;
}

/* References of one CRD stand together; each other package is reported once for a CRD. */
static void check_providers(struct lint *l, const struct catalog_index *x)
{
	for (size_t i = 0, end; i < x->n_resources; i = end) {
		const struct index_ref *first = &x->resources[i];
		size_t len = crd_len(first->key);
		const char *told = first->package;
		for (end = i + 1; end < x->n_resources && crd_len(x->resources[end].key) == len &&
				  !strncmp(x->resources[end].key, first->key, len);
		     end++) {
			const struct index_ref *r = &x->resources[end];
			const struct package_version *p = provider(x, r->package, r->key);
			if (!strcmp(r->package, first->package) || !strcmp(r->package, told) || !p)
				continue;
			told = r->package;
			lint_add_field(l, LINT_WARN, "two-providers", p, "provides",
				       arena_fmt(l->a, "%s and %s both provide %.*s",
						 first->package, r->package, (int)len, first->key),
				       "let one of them provide it; a cluster has a CRD once");
		}
	}
}

static bool is_of_digest(enum error_reason reason)
{
	return reason == REASON_MISSING_DIGEST || reason == REASON_DIGEST_MISMATCH;
}

void lint_index(struct lint *l, const struct catalog_index *x)
{
	for (size_t i = 0; i < x->n_rejected && i < INDEX_REJECTED_MAX; i++)
		add(l, &(struct lint_finding){
			       .level = LINT_ERROR,
			       .rule = is_of_digest(x->rejected_for[i]) ? "digest" : "descriptor",
			       .where = arena_strdup(l->a, x->rejected[i]),
			       .text = "the entry cannot be used",
			       .remedy = "correct it and build the package again"});
	for (size_t i = 0, end; i < x->n; i = end) {
		for (end = i + 1;
		     end < x->n && !strcmp(x->versions[i]->package, x->versions[end]->package);)
			end++;
		check_package(l, x, x->versions + i, end - i);
	}
	check_providers(l, x);
}

/* --- archives --- */

static const struct obj **items_of(const struct obj *list, struct arena *a)
{
	const struct obj **items = ARENA_ARRAY(a, const struct obj *, obj_len(list));
	for (size_t i = 0; i < obj_len(list); i++)
		items[i] = obj_at(list, i);
	return items;
}

static void add_break(struct lint *l, const struct package_version *old,
		      const struct package_version *new, const struct obj *f)
{
	bool major = new->version.major > old->version.major;
	const char *rule = obj_str(f, "rule"), *path = obj_str(f, "path");
	const char *resource = obj_str(f, "resource"), *remedy = obj_str(f, "remedy");
	if (!cstr_eq(obj_str(f, "outcome"), "refuse") || cstr_eq(rule, "ResourceDropped"))
		return; /* what is dropped is drop-in-minor's */
	lint_add(l, major ? LINT_WARN : LINT_ERROR, "crd-break", new,
		 arena_fmt(l->a, "%s %.*s after %.*s: %s %s %s", new->package,
			   STR_ARG(new->version.text), STR_ARG(old->version.text), rule ? rule : "",
			   resource ? resource : "", path ? path : ""),
		 remedy && *remedy ? arena_strdup(l->a, remedy) : "add a version to the CRD");
}

void lint_crds(struct lint *l, const struct package_version *old, const struct obj *old_crds,
	       const struct package_version *new, const struct obj *new_crds)
{
	CLEANUP(gate_report_freep) struct gate_report *r = NULL;
	struct error err = ERROR_INIT;
	const struct gate_report_input in = {.before = items_of(old_crds, l->a),
					     .n_before = obj_len(old_crds),
					     .after = items_of(new_crds, l->a),
					     .n_after = obj_len(new_crds)};
	if (gate_report_new(&in, &r, &err) < 0) {
		lint_add(l, LINT_ERROR, "crd-break", new, arena_strdup(l->a, err.msg),
			 "correct the CRD");
		return;
	}
	gate_report_finish(r, false);
	CLEANUP(obj_unrefp) struct obj *o = gate_report_json(r);
	const struct obj *findings = obj_get(o, "findings");
	for (size_t i = 0; i < obj_len(findings); i++)
		add_break(l, old, new, obj_at(findings, i));
}

static void check_images(struct lint *l, const struct package_version *p, const struct obj *o,
			 const char *list)
{
	const struct obj *containers = NULL;
	static const char *const places[] = {"spec.template.spec", "spec",
					     "spec.jobTemplate.spec.template.spec"};
	for (size_t i = 0; i < ARRAY_LEN(places) && !obj_len(containers); i++)
		containers = obj_get(obj_path(o, places[i]), list);
	for (size_t i = 0; i < obj_len(containers); i++) {
		const char *image = obj_str(obj_at(containers, i), "image");
		if (image && !strstr(image, "@sha256:"))
			lint_add(l, LINT_WARN, "unsafe-object", p,
				 arena_fmt(l->a, "%s %s runs %s, which names no digest",
					   obj_str(o, "kind"), obj_str(o, "metadata.name"), image),
				 "name the image as NAME@sha256:...");
	}
}

static void check_object(struct lint *l, const struct package_version *p, const struct obj *o)
{
	const char *kind = obj_str(o, "kind"), *name = obj_str(o, "metadata.name");
	if (!kind || !name)
		return;
	if (!strcmp(kind, "Namespace"))
		lint_add(l, LINT_WARN, "unsafe-object", p,
			 arena_fmt(l->a, "templates make Namespace %s", name),
			 "leave namespaces to spec.installNamespace of the AppType");
	if (!strcmp(kind, "CustomResourceDefinition"))
		lint_add(l, LINT_WARN, "unsafe-object", p,
			 arena_fmt(l->a, "templates make CRD %s", name),
			 "move it to crds/: a catalog knows it there without rendering the chart");
	check_images(l, p, o, "containers");
	check_images(l, p, o, "initContainers");
}

void lint_objects(struct lint *l, const struct package_version *p, const struct obj *rendered)
{
	const struct obj *objects = obj_get(rendered, "objects");
	const struct obj *warnings = obj_get(rendered, "warnings");
	for (size_t i = 0; i < obj_len(objects); i++)
		check_object(l, p, obj_at(objects, i));
	for (size_t i = 0; i < obj_len(warnings); i++) {
		const char *text = obj_as_string(obj_at(warnings, i));
		if (text && strstr(text, "unknown hook"))
			lint_add(l, LINT_WARN, "unsafe-object", p, arena_strdup(l->a, text),
				 "name an event that Helm knows, such as pre-install");
	}
}

/* --- at load --- */

/* Who lists what a package provides promises that a drop is a major version. A plain Helm chart
 * promises nothing, and its user cannot publish it again: there the gate decides, by what is
 * stored. */
static bool promises(const struct package_version *p)
{
	return p->n_provides && p->provides != p->own_crds;
}

/* before: the next lower version that stays in. */
static const char *reason_to_reject(struct catalog_index *x, const struct package_version *p,
				    const struct package_version *before)
{
	const char *resource = unserved(p);
	if (resource)
		return arena_fmt(x->arena, "provides: %s is served by no CRD of the chart",
				 resource);
	bool same = before && !strcmp(before->package, p->package);
	same = same && (promises(before) || promises(p));
	resource = same && !before->ambiguous && !p->ambiguous ? dropped(before, p) : NULL;
	if (!resource)
		return NULL;
	return arena_fmt(x->arena, "drop-in-minor: %s of %.*s is gone; publish it as %llu.0.0",
			 resource, STR_ARG(before->version.text),
			 (unsigned long long)before->version.major + 1);
}

void lint_reject(struct catalog_index *x)
{
	size_t kept = x->n; /* [kept, n) stays; read from the lowest version up */
	for (size_t i = x->n; i-- > 0;) {
		struct package_version *p = x->versions[i];
		const struct package_version *before = kept < x->n ? x->versions[kept] : NULL;
		const char *why = reason_to_reject(x, p, before);
		if (why)
			index_reject(x, file_of(p->locator), why, REASON_NONE);
		else
			x->versions[--kept] = p;
	}
	if (!kept)
		return;
	memmove(x->versions, x->versions + kept, (x->n - kept) * sizeof(struct package_version *));
	x->n -= kept;
	index_lookup_build(x);
}
