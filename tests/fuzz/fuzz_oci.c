/* The texts of a registry: manifests, pages of tags, challenges, references, Link headers. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <string.h>

#include "alm/sources/oci.h"

#define INPUT_BYTES_MAX 65536

static void check_digest(const char *hex)
{
	assert(hex && strlen(hex) == SHA256_HEX - 1);
	assert(strspn(hex, "0123456789abcdef") == SHA256_HEX - 1);
}

static void read_manifest(struct str text, struct arena *a)
{
	struct oci_manifest m;
	struct error err = ERROR_INIT;
	if (fuzz_noted(oci_manifest_parse(text, a, &m, &err), &err) < 0) {
		assert(err.msg[0]);
		return;
	}
	assert(m.n_layers <= OCI_LAYERS_MAX && m.config.media_type);
	fuzz_note_text(m.config.media_type);
	fuzz_note_text(m.config.digest);
	check_digest(m.config.digest);
	for (size_t i = 0; i < m.n_layers; i++)
		check_digest(m.layers[i].digest);
}

static void read_tags(struct str text, struct arena *a)
{
	const char **tags = NULL;
	size_t n = 0, cap = 0;
	struct error err = ERROR_INIT;
	if (fuzz_noted(oci_tags_parse(text, a, &tags, &n, &cap, &err), &err) == 0)
		for (size_t i = 0; i < n; i++)
			assert(strlen(oci_tag_version(tags[i], a)) == strlen(tags[i]));
	assert(n <= OCI_TAGS_MAX);
	xfree(tags);
}

static void read_words(const char *text, struct arena *a)
{
	struct oci_reference ref;
	struct oci_challenge challenge;
	struct error err = ERROR_INIT;
	if (fuzz_noted(oci_reference_parse(str_of(text), a, &ref, &err), &err) == 0)
		assert(ref.name && *ref.name && cstr_has_prefix(ref.registry.origin, "https://"));
	if (fuzz_noted(oci_challenge_parse(text, a, &challenge, &err), &err) == 0)
		assert(challenge.is_basic || challenge.realm);
	struct str page = oci_next_page(text);
	fuzz_note(page);
	assert(page.len <= strlen(text));
	const char *digest = oci_digest(text, a);
	if (digest)
		check_digest(digest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	struct str text = str_n((const char *)data, size);
	if (size > INPUT_BYTES_MAX)
		return 0;
	read_manifest(text, a);
	read_tags(text, a);
	if (!memchr(data, 0, size))
		read_words(arena_strndup(a, (const char *)data, size), a);
	return 0;
}
