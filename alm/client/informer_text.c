/* What an object of a cache says: informer.h. Below the caches and the trees, which both need it. */
#include "alm/client/informer.h"
#include "alm/client/unzipped.h"

#include <string.h>

#include "alm/obj/json.h"

const char *informer_bytes(const struct informer_object *o)
{
	return o->resource_version + strlen(o->resource_version) + 1;
}

struct str informer_text(const struct informer_object *o, struct strbuf *room)
{
	const char *bytes = informer_bytes(o);
	const struct packed text = {.bytes = bytes,
				    .len = o->len,
				    .text_len = o->text_len,
				    .dictionary = o->dictionary};
	if (!o->pack)
		return str_n(bytes, o->len);
	struct str read = pack_read(o->pack, &text, str_n(o->ns, (size_t)(bytes - o->ns)), room);
	return unzipped_restore(read, room);
}

struct obj *informer_decode(const struct informer_object *o)
{
	CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT(UINT32_MAX);
	struct error err;
	struct obj *ret = NULL;
	return json_parse(informer_text(o, &room), &ret, &err) == 0 ? ret : NULL;
}
