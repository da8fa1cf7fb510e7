/*
 * git_signature: by which keys a commit may be signed, and what `git verify-commit --raw` says of its
 * signature. Pure.
 *
 * The keys are the data of a ConfigMap. Each value is one or more armored public keys of OpenPGP, or
 * lines as of ssh-keygen's allowed-signers file: "PRINCIPALS [OPTIONS] KEYTYPE KEY". git judges an
 * SSH key's valid-before by the date that the commit itself claims; a key that is no more valid now
 * is therefore left out here, as gpg does with one that has expired (CWE-324).
 */
#ifndef ALM_SOURCE_GIT_SIGNATURE_H
#define ALM_SOURCE_GIT_SIGNATURE_H

#include "alm/base/arena.h"
#include "alm/base/hash.h"
#include "alm/obj/obj.h"

#define GIT_KEYS_BYTES_MAX ((size_t)256 << 10) /* of all values together */

struct git_keys {
	const char *ssh;         /* lines of allowed signers; "": none */
	const char *pgp;         /* armored keys; "": none */
	char digest[SHA256_HEX]; /* of what was written, valid or not */
};

/* E_INVALID names the key of data, and the line. */
int git_keys_read(const struct obj *data, int64_t now_ns, struct arena *a, struct git_keys *ret,
		  struct error *err);

/* status and errors of verify-commit (it prints there). "alice@example.com (SHA256:..)" in *ret, for
 * people; SignatureInvalid: there is no signature, or none by these keys, and why. */
int git_signature_judge(int status, struct str errors, const char *commit, struct arena *a,
			const char **ret, struct error *err);

#endif
