/* request_check: see request_check.h. */
#include "alm/apiserver/kinds/request_check.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/base/hash.h"
#include "alm/base/strbuf.h"
#include "alm/obj/condition.h"

#define PEM_BYTES_MAX ((size_t)1 << 20)
#define SECONDS_LEAST 600

/* Base64 of a text with such a block. */
static bool has_block(const struct obj *v, const char *begin)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PEM_BYTES_MAX);
	return base64_decode(obj_as_str(v), &b) && str_find(strbuf_str(&b), str_of(begin)) >= 0;
}

/* Each part of it, by the rule; a is all of it. */
static size_t check_parts(struct field_errors *e, const char *path, enum name_rule rule,
			  const char *a)
{
	struct str rest = str_of(a), part;
	size_t n = 0;
	while (!field_errors_full(e) && str_next(&rest, '.', &part)) {
		const char *all[NAME_FAULTS_MAX];
		size_t faults = name_faults(rule, part, all);
		for (size_t i = 0; i < faults; i++)
			check_invalid_text(e, path, a,
					   arena_fmt(e->arena, "validating label \"%.*s\": %s",
						     STR_ARG(part), all[i]));
		n++;
	}
	return n;
}

static void check_signer(struct field_errors *e, const char *path, const char *name)
{
	const char *slash = strchr(name, '/');
	if (!*name) {
		check_required(e, path, NULL);
		return;
	}
	if (strcmp(name, "kubernetes.io/legacy-unknown") == 0) {
		check_invalid_text(e, path, name,
				   "the legacy signerName is not allowed via this API version");
		return;
	}
	if (!slash || strchr(slash + 1, '/')) {
		check_invalid_text(e, path, name,
				   "must be a fully qualified domain and path of the form "
				   "'example.com/signer-name'");
		return;
	}
	const char *domain = arena_strndup(e->arena, name, (size_t)(slash - name));
	if (check_parts(e, path, NAME_DNS_LABEL, domain) < 2)
		check_invalid_text(e, path, domain,
				   "should be a domain with at least two segments separated by "
				   "dots");
	check_parts(e, path, NAME_DNS_SUBDOMAIN, slash + 1);
}

void check_certificate_request(struct field_errors *e, const struct obj *o)
{
	static const char *const usages[] = {"any",
					     "cert sign",
					     "client auth",
					     "code signing",
					     "content commitment",
					     "crl sign",
					     "data encipherment",
					     "decipher only",
					     "digital signature",
					     "email protection",
					     "encipher only",
					     "ipsec end system",
					     "ipsec tunnel",
					     "ipsec user",
					     "key agreement",
					     "key encipherment",
					     "microsoft sgc",
					     "netscape sgc",
					     "ocsp signing",
					     "s/mime",
					     "server auth",
					     "signing",
					     "timestamping",
					     NULL};
	const struct obj *list = obj_path(o, "spec.usages"), *request = obj_path(o, "spec.request");
	const struct obj *seconds = obj_path(o, "spec.expirationSeconds");
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	int64_t n = SECONDS_LEAST;
	if (!has_block(request, "-----BEGIN CERTIFICATE REQUEST-----"))
		check_invalid(e, "spec.request", request,
			      "PEM block type must be CERTIFICATE REQUEST");
	if (!obj_len(list))
		check_required(e, "spec.usages", NULL);
	for (size_t i = 0; i < obj_len(list); i++)
		field_errors_one_of(e, check_at(e, "spec.usages", i),
				    obj_as_string(obj_at(list, i)), usages);
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *usage = obj_as_string(obj_at(list, i));
		if (check_again(seen, usage ? usage : ""))
			field_errors_add_text(e, FIELD_DUPLICATE, check_at(e, "spec.usages", i),
					      usage ? usage : "");
	}
	check_signer(e, "spec.signerName", check_text(o, "spec.signerName"));
	if (obj_as_i64(seconds, &n) && n < SECONDS_LEAST)
		check_invalid(e, "spec.expirationSeconds", seconds,
			      "may not specify a duration less than 600 seconds (10 minutes)");
}

/* What was signed: base64 of PEM. */
static void check_certificate(struct field_errors *e, const struct obj *v, const struct obj *was)
{
	if (obj_as_str(v).len && !has_block(v, "-----BEGIN CERTIFICATE-----") &&
	    !(was && obj_equal(v, was)))
		check_invalid_text(e, "status.certificate", "<certificate data>",
				   "must contain at least one CERTIFICATE PEM block");
}

/* Which faults its conditions have: what had one before may have it still. */
struct faults {
	bool unnamed, opposed, twice;
};

static bool is_decision(const char *type)
{
	return strcmp(type, "Approved") == 0 || strcmp(type, "Denied") == 0;
}

static struct faults faults_of(const struct obj *list)
{
	struct faults f = {false, false, false};
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *type = check_text(obj_at(list, i), "type");
		f.unnamed |= !*type;
		for (size_t k = 0; k < i; k++) {
			const char *other = check_text(obj_at(list, k), "type");
			f.twice |= strcmp(type, other) == 0;
			f.opposed |=
				is_decision(type) && is_decision(other) && strcmp(type, other) != 0;
		}
	}
	return f;
}

/* Condition i of the list. A decision is True, or it is none. */
static void check_condition(struct field_errors *e, const struct obj *list, size_t i,
			    struct faults may)
{
	static const char *const any[] = {"False", "True", "Unknown", NULL}, *const yes[] = {"True",
											     NULL};
	static const char path[] = "status.conditions";
	const char *at = check_at(e, path, i), *type = check_text(obj_at(list, i), "type");
	const char *status = check_text(obj_at(list, i), "status");
	bool decides = is_decision(type) || strcmp(type, "Failed") == 0, opposed = false,
	     again = false;
	for (size_t k = 0; k < i; k++) {
		const char *other = check_text(obj_at(list, k), "type");
		again |= strcmp(type, other) == 0;
		opposed |= is_decision(type) && is_decision(other) && strcmp(type, other) != 0;
	}
	if (!*type && !may.unnamed)
		check_required(e, check_below(e, at, "type"), NULL);
	if (!*status)
		check_required(e, check_below(e, at, "status"), NULL);
	else
		field_errors_one_of(e, check_below(e, at, "status"), status, decides ? yes : any);
	if (opposed && !may.opposed)
		check_invalid_text(e, path, type,
				   "Approved and Denied conditions are mutually exclusive");
	if (again && !may.twice)
		field_errors_add_text(e, FIELD_DUPLICATE, check_below(e, at, "type"), type);
}

/* In the order of a real server. */
void check_decision(struct field_errors *e, const struct obj *o, const struct obj *before,
		    bool decides)
{
	static const char *const types[] = {"Approved", "Denied", "Failed"};
	static const char at[] = "status.conditions";
	const struct obj *is = obj_path(o, at), *was = obj_path(before, at);
	for (size_t i = 0; i < obj_len(is) && !field_errors_full(e); i++)
		check_condition(e, is, i, faults_of(was));
	check_certificate(e, obj_path(o, "status.certificate"),
			  obj_path(before, "status.certificate"));
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (condition_find(was, types[i]) && !condition_find(is, types[i]))
			field_errors_add(
				e, FIELD_FORBIDDEN, at,
				"Forbidden: updates may not remove a condition of type \"%s\"",
				types[i]);
	for (size_t i = 0; i < 2 && !decides; i++)
		if (!condition_find(was, types[i]) && condition_find(is, types[i]))
			field_errors_add(
				e, FIELD_FORBIDDEN, at,
				"Forbidden: updates may not add a condition of type \"%s\"",
				types[i]);
}
