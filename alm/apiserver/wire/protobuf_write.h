/*
 * protobuf_write: fields of a message, at the end of a buffer. Messages are written inside out, so that each length is known:
 *
 *	size_t start = b->len;
 *	pb_add_bytes(b, 1, STR("name"));
 *	pb_wrap(b, start, 2); // is field 2 of what is around it
 *
 * A wrapped message is moved by the bytes of its head: at most as often as messages nest.
 */
#ifndef ALM_APISERVER_WIRE_PROTOBUF_WRITE_H
#define ALM_APISERVER_WIRE_PROTOBUF_WRITE_H

#include <stdint.h>

#include "alm/base/strbuf.h"

enum pb_wire { PB_VARINT = 0, PB_64 = 1, PB_BYTES = 2, PB_32 = 5 };

void pb_add_tag(struct strbuf *b, unsigned number, enum pb_wire wire);
void pb_add_number(struct strbuf *b, unsigned number, uint64_t v);
void pb_add_bytes(struct strbuf *b, unsigned number, struct str s);
/* What stands in b from start on becomes a field that is a message. */
void pb_wrap(struct strbuf *b, size_t start, unsigned number);

#endif
