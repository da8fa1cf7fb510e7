/* What an object of a cache says: informer.h. Below the caches and the trees, which both need it. */
#include "alm/client/informer.h"
#include "alm/obj/json.h"

struct str informer_text(const struct informer_object *o, struct strbuf *room)
{
	return o->pack ? pack_read(o->pack, &o->text, room) : str_n(o->text.bytes, o->text.len);
}

struct obj *informer_decode(const struct informer_object *o)
{
	CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT(UINT32_MAX);
	struct error err;
	struct obj *ret = NULL;
	return json_parse(informer_text(o, &room), &ret, &err) == 0 ? ret : NULL;
}
