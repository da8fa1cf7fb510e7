/* protobuf_write: see protobuf_write.h. */
#include "alm/apiserver/wire/protobuf_write.h"

#define VARINT_MAX 10
#define HEAD_MAX   ((size_t)2 * VARINT_MAX)

static void add_varint(struct strbuf *b, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		strbuf_addc(b, (char)(v | 0x80));
	strbuf_addc(b, (char)v);
}

void pb_add_tag(struct strbuf *b, unsigned number, enum pb_wire wire)
{
	add_varint(b, (uint64_t)number << 3 | wire);
}

void pb_add_number(struct strbuf *b, unsigned number, uint64_t v)
{
	pb_add_tag(b, number, PB_VARINT);
	add_varint(b, v);
}

void pb_add_bytes(struct strbuf *b, unsigned number, struct str s)
{
	pb_add_tag(b, number, PB_BYTES);
	add_varint(b, s.len);
	strbuf_addstr(b, s);
}

void pb_wrap(struct strbuf *b, size_t start, unsigned number)
{
	CLEANUP(strbuf_release) struct strbuf head = STRBUF_INIT(HEAD_MAX);
	if (b->over) /* start may stand behind its end */
		return;
	pb_add_tag(&head, number, PB_BYTES);
	add_varint(&head, b->len - start);
	strbuf_insert(b, start, strbuf_str(&head));
}
