#include "catalog/index/index.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/decode.h"
#include "alm/obj/yaml.h"
#include "catalog/index/fbc.h"

#define INDEX_ARENA_BYTES ((size_t)512 << 20)

struct catalog_index *index_new(const char *name, int64_t priority)
{
	struct catalog_index *x = xcalloc(1, sizeof(*x));
	x->arena = arena_new(INDEX_ARENA_BYTES);
	x->name = arena_strdup(x->arena, name);
	x->priority = priority;
	return x;
}

void index_free(struct catalog_index *x)
{
	if (!x)
		return;
	xfree(x->versions);
	arena_free(x->arena);
	xfree(x);
}

/* It names what foreign files say, and ends in a status and on terminals. */
static const char *escaped(struct arena *a, const char *s)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (; *s; s++)
		if (*s < ' ' || *s > '~')
			strbuf_addf(&b, "\\x%02x", (unsigned char)*s);
		else
			strbuf_addc(&b, *s);
	return arena_strdup(a, b.buf);
}

void index_reject(struct catalog_index *x, const char *where, const char *why,
		  enum error_reason reason)
{
	if (x->n_rejected < INDEX_REJECTED_MAX) {
		x->rejected_for[x->n_rejected] = reason;
		x->rejected[x->n_rejected] =
			escaped(x->arena, arena_fmt(x->arena, "%s: %s", where, why));
	}
	x->n_rejected++;
}

void index_add(struct catalog_index *x, const struct package_source *s)
{
	struct error err = ERROR_INIT;
	struct package_version *p = NULL;
	if (x->n >= INDEX_VERSIONS_MAX) {
		x->over = true;
		return;
	}
	if (package_read(s, x->arena, &p, &err) < 0) {
		index_reject(x, s->where ? s->where : s->locator, err.msg, err.reason);
		return;
	}
	if (p->verified_until_s &&
	    (!x->verified_until_s || p->verified_until_s < x->verified_until_s))
		x->verified_until_s = p->verified_until_s;
	ARRAY_GROW(x->versions, x->cap, x->n + 1);
	x->versions[x->n++] = p;
}

static int by_package_newest_first(const void *a, const void *b)
{
	const struct package_version *const *x = a, *const *y = b;
	int r = strcmp((*x)->package, (*y)->package);
	if (!r)
		r = version_cmp(&(*y)->version, &(*x)->version);
	if (!r)
		r = str_cmp((*x)->version.text, (*y)->version.text);
	return r ? r : strcmp((*x)->digest, (*y)->digest);
}

/* Two entries may say one digest and differ in the rest: which of them counts is not of their order. */
static int in_order(const void *a, const void *b)
{
	const struct package_version *const *x = a, *const *y = b;
	int r = by_package_newest_first(a, b);
	return r ? r : strcmp((*x)->descriptor_digest, (*y)->descriptor_digest);
}

void index_sort(struct catalog_index *x)
{
	if (x->n)
		qsort(x->versions, x->n, sizeof(struct package_version *), in_order);
}

/* Equal digests merge; different ones, or 1 beside 1.0.0, make all of them ambiguous. */
static void merge_duplicates(struct catalog_index *x)
{
	size_t kept = 0;
	for (size_t i = 0; i < x->n; i++) {
		struct package_version *p = x->versions[i];
		struct package_version *last = kept ? x->versions[kept - 1] : NULL;
		bool same = last && !strcmp(last->package, p->package) &&
			    !version_cmp(&last->version, &p->version);
		if (same && !strcmp(last->digest, p->digest)) {
			if (last->is_unusable && !p->is_unusable) { /* its copy can be read */
				p->ambiguous = last->ambiguous;
				x->versions[kept - 1] = p;
			}
			continue;
		}
		if (same) {
			p->ambiguous =
				arena_fmt(x->arena, "%.*s (%.12s) and %.*s (%.12s) are one version",
					  STR_ARG(last->version.text), last->digest,
					  STR_ARG(p->version.text), p->digest);
			last->ambiguous = p->ambiguous;
		}
		x->versions[kept++] = p;
	}
	x->n = kept;
}

struct notice {
	const char *package, *channel, *versions, *message, *replaced_by;
};

#define MEMBER(name, type, member) {name, type, offsetof(struct notice, member)}
static const struct decode_field members_of_notice[] = {
	MEMBER("package", DECODE_STR, package),        MEMBER("channel", DECODE_STR, channel),
	MEMBER("versions", DECODE_VERSION, versions),  MEMBER("message", DECODE_STR, message),
	MEMBER("replacedBy", DECODE_STR, replaced_by), {0},
};
#undef MEMBER

/* One row of deprecations[] or withdrawn[] of catalog.yaml. */
static int apply_notice(struct catalog_index *x, const struct obj *row, const char *where,
			bool withdrawn, struct error *err)
{
	struct notice q = {.versions = "*-0", .message = withdrawn ? "withdrawn" : "deprecated"};
	struct range range;
	if (decode_members(row, where, members_of_notice, &q, x->arena, err) < 0)
		return -err->code;
	if (!q.package)
		return error_set(err, E_INVALID, "%s.package: want a name", where);
	if (range_parse(str_of(q.versions), x->arena, &range, err) < 0)
		return error_wrap(err, "%s.versions", where);
	const char *message = arena_strdup(x->arena, q.message);
	size_t n;
	struct package_version *const *all = index_package(x, q.package, &n);
	for (size_t i = 0; i < n; i++) {
		struct package_version *p = all[i];
		if (!range_matches(&range, &p->version) ||
		    (q.channel && !package_has_channel(p, q.channel)))
			continue;
		*(withdrawn ? &p->withdrawn : &p->deprecation) = message;
		p->deprecated = p->deprecated || !withdrawn;
	}
	return 0;
}

struct notices {
	const struct obj *deprecations, *withdrawn;
};

static int apply_notices(struct catalog_index *x, const struct obj *o, struct error *err)
{
	static const struct decode_field members[] = {
		{"deprecations", DECODE_LIST, offsetof(struct notices, deprecations)},
		{"withdrawn", DECODE_LIST, offsetof(struct notices, withdrawn)},
		{0},
	};
	struct notices n = {0};
	if (decode_members(o, "catalog.yaml", members, &n, x->arena, err) < 0)
		return -err->code;
	for (int k = 0; k < 2; k++) {
		const struct obj *list = k ? n.withdrawn : n.deprecations;
		for (size_t i = 0; i < obj_len(list); i++) {
			const char *where = arena_fmt(x->arena, "catalog.yaml: %s[%zu]",
						      k ? "withdrawn" : "deprecations", i);
			if (apply_notice(x, obj_at(list, i), where, k == 1, err) < 0)
				return -err->code;
		}
	}
	return 0;
}

static int apply_catalog_yaml(struct catalog_index *x, struct str text, struct error *err)
{
	struct obj *parsed = NULL;
	const struct obj *o = x->notices;
	if (!str_trim(text).len)
		return 0;
	if (x->notices_error)
		return error_set(err, E_INVALID, "catalog.yaml: %s", x->notices_error);
	if (!o && yaml_parse_one(text, &parsed, err) < 0)
		return error_wrap(err, "catalog.yaml");
	if (!o)
		o = obj_keep(x->arena, parsed);
	return apply_notices(x, o, err);
}

static void compute_revision(struct catalog_index *x, struct str catalog_yaml)
{
	CLEANUP(sha256_freep) struct sha256 *h = sha256_new();
	unsigned char raw[SHA256_BYTES];
	for (size_t i = 0; i < x->n; i++) {
		const struct package_version *p = x->versions[i];
		CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&line, "%s %.*s %s %s\n", p->package, STR_ARG(p->version.text),
			    p->digest, p->descriptor_digest);
		sha256_add(h, line.buf, line.len);
		if (p->overlay)
			sha256_add(h, p->overlay, strlen(p->overlay));
		if (p->is_unusable)
			sha256_add(h, p->withdrawn, strlen(p->withdrawn));
	}
	sha256_add(h, catalog_yaml.ptr ? catalog_yaml.ptr : "", catalog_yaml.len);
	sha256_final(h, raw);
	hex_encode(raw, sizeof(raw), x->revision);
}

int index_finish(struct catalog_index *x, struct str catalog_yaml, struct error *err)
{
	if (catalog_yaml.len)
		x->catalog_yaml = arena_text(x->arena, catalog_yaml.ptr, catalog_yaml.len);
	if (x->over)
		return error_set(err, E_LIMIT, "catalog %s has more than %d versions", x->name,
				 INDEX_VERSIONS_MAX);
	index_sort(x);
	merge_duplicates(x);
	if (x->olm) {
		fbc_apply(x);
		merge_duplicates(x);
	}
	for (size_t i = 0; i < x->n; i++)
		if (!i || strcmp(x->versions[i]->package, x->versions[i - 1]->package) != 0)
			x->n_packages++;
	if (apply_catalog_yaml(x, catalog_yaml, err) < 0)
		return -err->code;
	index_lookup_build(x);
	compute_revision(x, catalog_yaml);
	if (arena_over(x->arena))
		return error_set(err, E_LIMIT, "catalog %s is larger than %zu bytes in memory",
				 x->name, INDEX_ARENA_BYTES);
	return 0;
}

void index_restore(struct catalog_index *x, const char *revision)
{
	index_sort(x);
	index_lookup_build(x);
	for (size_t i = 0; i + 1 < sizeof(x->revision) && revision && revision[i]; i++)
		x->revision[i] = revision[i];
}

struct package_version *const *index_package(const struct catalog_index *x, const char *package,
					     size_t *ret_n)
{
	size_t lo = 0, hi = x->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (strcmp(x->versions[mid]->package, package) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	size_t end = lo;
	while (end < x->n && !strcmp(x->versions[end]->package, package))
		end++;
	*ret_n = end - lo;
	return x->versions ? x->versions + lo : NULL;
}

bool index_holds(const struct catalog_index *x, const struct package_version *p)
{
	return x->n &&
	       bsearch(&p, x->versions, x->n, sizeof(x->versions[0]), by_package_newest_first);
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_same_version(const struct package_version *a, const struct package_version *b)
{
	return str_eq(a->version.text, b->version.text) && !strcmp(a->digest, b->digest) &&
	       !strcmp(a->descriptor_digest, b->descriptor_digest) &&
	       a->deprecated == b->deprecated && is_same_text(a->deprecation, b->deprecation) &&
	       is_same_text(a->withdrawn, b->withdrawn) && is_same_text(a->overlay, b->overlay) &&
	       is_same_text(a->ambiguous, b->ambiguous);
}

/* The end of the package that begins at i. */
static size_t package_end(const struct catalog_index *x, size_t i)
{
	size_t end = i;
	while (end < x->n && !strcmp(x->versions[end]->package, x->versions[i]->package))
		end++;
	return end;
}

static bool is_same_package(const struct catalog_index *x, size_t i, size_t n,
			    const struct catalog_index *y, size_t k, size_t m)
{
	bool same = n == m;
	for (size_t j = 0; same && j < n; j++)
		same = is_same_version(x->versions[i + j], y->versions[k + j]);
	return same;
}

void index_changes(const struct catalog_index *from, const struct catalog_index *to,
		   void (*fn)(void *arg, const char *package), void *arg)
{
	static const struct catalog_index none;
	const struct catalog_index *x = from ? from : &none, *y = to ? to : &none;
	size_t i = 0, k = 0;
	while (i < x->n || k < y->n) {
		int order = i == x->n   ? 1
			    : k == y->n ? -1
					: strcmp(x->versions[i]->package, y->versions[k]->package);
		size_t i_end = order <= 0 ? package_end(x, i) : i;
		size_t k_end = order >= 0 ? package_end(y, k) : k;
		if (order || !is_same_package(x, i, i_end - i, y, k, k_end - k))
			fn(arg, (i_end > i ? x->versions[i] : y->versions[k])->package);
		i = i_end;
		k = k_end;
	}
}
