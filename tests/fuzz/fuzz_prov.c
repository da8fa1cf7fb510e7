/* Provenance, its keys, and signatures of cosign: the first byte says which. Nothing is valid but
 * what the seeds are. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/base/pubkey.h"
#include "alm/base/strbuf.h"
#include "catalog/trust/cosign.h"
#include "catalog/trust/provenance.h"
#include "catalog/trust/verify.h"

#define INPUT_BYTES_MAX 65536
#define NOW_S           INT64_C(1798761600)

static struct strbuf keys_text = STRBUF_INIT(INPUT_BYTES_MAX);

/* The key of the seeds, so that mutants come as far as the check of the signature. */
static void load_keys(struct arena *a, struct openpgp_keyring *ring)
{
	struct error err = ERROR_INIT;
	if (!keys_text.len && file_read("tests/golden/verify/ed.asc", &keys_text, &err) < 0)
		return;
	assert(openpgp_keyring_add(ring, strbuf_str(&keys_text), NOW_S, a, &err) == 0);
}

static void read_provenance(struct str text, struct arena *a)
{
	struct openpgp_keyring ring = {0};
	struct openpgp_clearsigned c;
	struct archive_subject subject = {.digest = ""};
	struct error err = ERROR_INIT;
	int64_t until = 0;
	load_keys(a, &ring);
	if (openpgp_clearsigned_read(text, a, &c, &err) == 0) {
		assert(c.text.len <= text.len + 1 && c.signature.len <= text.len);
		(void)openpgp_check(&ring, &c, NOW_S, &until, &err);
	}
	assert(provenance_check(&ring, text, &subject, NOW_S, &until, &err) < 0 && *err.msg);
	fuzz_note_text(err.msg);
}

static void read_keys(struct str text, struct arena *a)
{
	struct openpgp_keyring ring = {0};
	struct pubkey *k = NULL;
	struct error err = ERROR_INIT;
	if (fuzz_noted(openpgp_keyring_add(&ring, text, NOW_S, a, &err), &err) == 0)
		for (size_t i = 0; i < ring.n; i++)
			assert(ring.items[i].key || ring.items[i].problem);
	if (pubkey_pem(text, &k, &err) == 0)
		assert(pubkey_bytes(k) > 0);
	pubkey_free(k);
}

static void read_cosign(struct str text)
{
	struct str payload, signature;
	struct error err = ERROR_INIT;
	str_cut(text, '\n', &signature, &payload);
	assert(cosign_check(NULL, 0, payload, signature, "", &err) < 0 && *err.msg);
	fuzz_note_text(err.msg);
}

static void run_job(struct str text)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	if (verify_job(text, &out, &err) < 0)
		assert(*err.msg);
	fuzz_note(strbuf_str(&out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	struct str text = str_n((const char *)data + 1, size - 1);
	if (!size || size > INPUT_BYTES_MAX)
		return 0;
	switch (data[0] & 3) {
	case 0:
		read_provenance(text, a);
		break;
	case 1:
		read_keys(text, a);
		break;
	case 2:
		read_cosign(text);
		break;
	default:
		run_job(text);
	}
	return 0;
}
