/*
 * fuzz_release: a release record of helm, as the Secret's text and as the JSON in it. What is read
 * is written, and reads back as the same release.
 */
#include <assert.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "installers/chart/gzip.h"
#include "installers/release.h"
#include "tests/fuzz/fuzz.h"

#define INPUT_BYTES_MAX 65536

static void read_back(struct str data, struct arena *a)
{
	struct error err = ERROR_INIT;
	struct release r, back;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)4 << 20);
	if (fuzz_noted(release_decode(data, a, &r, &err), &err) < 0) {
		assert(*err.msg);
		return;
	}
	assert(r.name && r.status && r.manifest);
	fuzz_note_number(release_is_pending(r.status));
	fuzz_note_text(r.name);
	fuzz_note_text(r.manifest);
	fuzz_note_text(r.status);
	if (release_encode(&r, &b, &err) < 0)
		return;
	int ok = release_decode(strbuf_str(&b), a, &back, &err);
	assert(ok == 0 && strcmp(back.name, r.name) == 0 && back.revision == r.revision);
	assert(strcmp(back.manifest, r.manifest) == 0 && strcmp(back.status, r.status) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT((size_t)1 << 20);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT((size_t)2 << 20);
	struct error err = ERROR_INIT;
	struct str input = str_n((const char *)data, size);
	if (size > INPUT_BYTES_MAX)
		return 0;
	read_back(input, a);
	if (gzip_pack(input, &packed, &err) < 0)
		return 0;
	base64_encode(strbuf_str(&packed), &text);
	read_back(strbuf_str(&text), a);
	return 0;
}
