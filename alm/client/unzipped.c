/*
 * unzipped: see unzipped.h. In place of a value stands a mark, then what was packed. No JSON has a MARK,
 * as it escapes control characters; what was packed may have any.
 */
#include "alm/client/unzipped.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "alm/base/error.h"
#include "alm/base/hash.h"
#include "installers/chart/gzip.h"

#define MARK        '\1'
#define EXTRA_FLAGS 8              /* where they are in a stream */
#define RATIO_MAX   ((size_t)1100) /* more than deflate can reach: the size is the bound */

/* How a value begins that has the magic of gzip (RFC 1952 2.3.1), in base64 once and twice. */
static const char *const beginnings[] = {"\"H4sI", "\"SDRz"};

typedef int (*packer)(struct str bytes, struct strbuf *b, struct error *err);
static const packer packers[] = {gzip_pack_fast, gzip_pack_soon, gzip_pack};

/* In place of a value, before what was packed. */
struct mark {
	char begin;
	uint8_t layers, packer; /* of packers[] */
	uint32_t len;
};

/* Packed and encoded as the mark says. */
static bool zip(const struct mark *m, struct str bytes, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(2 * UNZIPPED_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf once = STRBUF_INIT(4 * UNZIPPED_BYTES_MAX);
	struct error err;
	if (packers[m->packer](bytes, &packed, &err) < 0)
		return false;
	if (m->layers == 2)
		base64_encode(strbuf_str(&packed), &once);
	base64_encode(strbuf_str(m->layers == 2 ? &once : &packed), out);
	return true;
}

/* By the extra flags of the stream's head (RFC 1952 2.3.1): 4 packed fast, 2 packed best. */
static uint8_t packer_of(struct str packed)
{
	char flags = packed.len > EXTRA_FLAGS ? packed.ptr[EXTRA_FLAGS] : 0;
	return flags == 4 ? 0 : flags == 2 ? 2 : 1;
}

/* Out of base64, that often. */
static bool decode(struct str value, unsigned layers, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf once = STRBUF_INIT(UNZIPPED_BYTES_MAX);
	if (layers == 1)
		return base64_decode(value, out);
	return base64_decode(value, &once) && base64_decode(strbuf_str(&once), out);
}

/* Appends what stands for value; false: it stays. */
static bool unzip(struct str value, uint8_t layers, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(UNZIPPED_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT(UNZIPPED_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf again = STRBUF_INIT(8 * UNZIPPED_BYTES_MAX);
	struct error err;
	if (!decode(value, layers, &packed) ||
	    gzip_unpack(strbuf_str(&packed), RATIO_MAX, &bytes, &err) < 0)
		return false;
	const struct mark m = {.begin = MARK,
			       .layers = layers,
			       .packer = packer_of(strbuf_str(&packed)),
			       .len = (uint32_t)bytes.len};
	if (!zip(&m, strbuf_str(&bytes), &again) || !str_eq(strbuf_str(&again), value))
		return false;
	strbuf_add(out, &m, sizeof(m));
	strbuf_addstr(out, strbuf_str(&bytes));
	return true;
}

/* The first value that may be one, without its quotes. */
static bool next_value(struct str json, struct str *ret, uint8_t *ret_layers)
{
	const char *first = NULL;
	for (size_t i = 0; i < ARRAY_LEN(beginnings); i++) {
		const char *at = memmem(json.ptr, json.len, beginnings[i], strlen(beginnings[i]));
		if (!at || (first && at > first))
			continue;
		first = at;
		*ret_layers = (uint8_t)(i + 1);
	}
	if (!first)
		return false;
	struct str rest = str_skip(json, (size_t)(first + 1 - json.ptr));
	const char *end = memchr(rest.ptr, '"', rest.len);
	*ret = end ? str_n(rest.ptr, (size_t)(end - rest.ptr)) : STR_NONE;
	return end;
}

struct str unzipped(struct str json, struct strbuf *room)
{
	struct str rest = json, value;
	uint8_t layers;
	unsigned n = 0;
	bool any = false;
	if (json.len > UNZIPPED_BYTES_MAX)
		return json;
	strbuf_clear(room);
	while (n++ < UNZIPPED_VALUES_MAX && next_value(rest, &value, &layers)) {
		size_t before = (size_t)(value.ptr - rest.ptr);
		strbuf_addstr(room, str_sub(rest, 0, before));
		if (unzip(value, layers, room))
			any = true;
		else
			strbuf_addstr(room, value);
		rest = str_skip(rest, before + value.len);
	}
	strbuf_addstr(room, rest);
	return any && room->len <= UNZIPPED_BYTES_MAX ? strbuf_str(room) : json;
}

struct str unzipped_restore(struct str kept, struct strbuf *room)
{
	CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(UINT32_MAX);
	struct str rest = kept;
	struct mark m;
	for (const char *at; (at = memchr(rest.ptr, MARK, rest.len));) {
		strbuf_addstr(&json, str_sub(rest, 0, (size_t)(at - rest.ptr)));
		rest = str_skip(rest, (size_t)(at - rest.ptr));
		assert(rest.len >= sizeof(m));
		memcpy(&m, rest.ptr, sizeof(m));
		rest = str_skip(rest, sizeof(m));
		bool ok = m.len <= rest.len && zip(&m, str_sub(rest, 0, m.len), &json);
		assert(ok);
		rest = str_skip(rest, m.len);
	}
	if (rest.len == kept.len)
		return kept;
	strbuf_addstr(&json, rest);
	strbuf_clear(room);
	strbuf_addstr(room, strbuf_str(&json));
	return strbuf_str(room);
}
