/* signers: who approves a CertificateSigningRequest, or puts a certificate into one, needs verb approve or sign on its
 * signer (admission plugins CertificateApproval and CertificateSigning of a default server). */
#include <string.h>

#include "alm/apiserver/auth/auth_internal.h"
#include "alm/obj/meta.h"

#define GROUP  "certificates.k8s.io"
#define PLURAL "certificatesigningrequests"

static bool may(struct auth *a, struct request *r, const char *verb, const char *signer)
{
	const struct rbac_attributes at = {.verb = verb,
					   .is_resource = true,
					   .group = GROUP,
					   .resource = "signers",
					   .subresource = "",
					   .ns = "",
					   .name = signer,
					   .path = ""};
	return rbac_allows(&a->source, &r->user, &at);
}

static bool same(const struct obj *before, const struct obj *after, const char *path)
{
	const struct obj *x = obj_path(before, path), *y = obj_path(after, path);
	return x && y ? obj_equal(x, y) : !obj_is_set(x) && !obj_is_set(y);
}

int signers_check_write(struct auth *a, struct request *r, const struct obj *before,
			const struct obj *after, struct error *err)
{
	if (!before || !cstr_eq(r->group, GROUP) || !cstr_eq(r->resource, PLURAL))
		return 0;
	bool approves = cstr_eq(r->subresource, "approval");
	bool signs =
		cstr_eq(r->subresource, "status") && !(same(before, after, "status.certificate") &&
						       same(before, after, "status.conditions"));
	const char *verb = approves ? "approve" : "sign";
	const char *signer = obj_str(before, "spec.signerName");
	if ((!approves && !signs) || !signer)
		return 0;
	const char *slash = strchr(signer, '/');
	const char *all =
		slash ? arena_fmt(r->arena, "%.*s/*", (int)(slash - signer), signer) : signer;
	if (may(a, r, verb, signer) || may(a, r, verb, all))
		return 0;
	return error_set(err, E_FORBIDDEN,
			 PLURAL "." GROUP " \"%s\" is forbidden: user not permitted to %s requests "
				"with signerName \"%s\"",
			 meta_name(before), verb, signer);
}
