#include "alm/io/zones.h"

#include "alm/base/file.h"

#define ZONE_BYTES_MAX ((size_t)64 << 10)

/* Letters, digits, _ + - and / between parts that are not empty: never out of the folder. */
static bool is_name(struct str name)
{
	struct str part;
	if (name.len > 128)
		return false;
	while (str_next(&name, '/', &part)) {
		if (part.len == 0)
			return false;
		for (size_t i = 0; i < part.len; i++) {
			char c = part.ptr[i];
			if (!char_is_alnum(c) && c != '_' && c != '-' && c != '+')
				return false;
		}
	}
	return true;
}

int zones_read(void *ctx, struct arena *a, struct str name, struct str *ret)
{
	struct error err = ERROR_INIT;
	(void)ctx;
	if (name.len == 0 || !is_name(name))
		return -E_NOTFOUND;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ZONE_BYTES_MAX);
	const char *path = arena_fmt(a, "/usr/share/zoneinfo/%.*s", STR_ARG(name));
	if (file_read(path, &b, &err) < 0)
		return -err.code;
	*ret = str_n(arena_memdup(a, b.buf, b.len), b.len);
	return 0;
}
