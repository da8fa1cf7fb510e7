#include "installers/chart/tar_write.h"

#include <string.h>

/* POSIX.1-1988 (ustar), the same offsets in GNU's form. */
#define TAR_BLOCK  512
#define NAME_BYTES 100
#define MODE_AT    100
#define UID_AT     108
#define GID_AT     116
#define SIZE_AT    124
#define MTIME_AT   136
#define SUM_AT     148
#define SUM_BYTES  8
#define TYPE_AT    156
#define MAGIC_AT   257

/* The sum of all bytes, the field of the sum as blanks. */
static unsigned checksum(const char *header)
{
	unsigned sum = 0;
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += i >= SUM_AT && i < SUM_AT + SUM_BYTES ? ' ' : (unsigned char)header[i];
	return sum;
}

static void octal(char *at, size_t digits, uint64_t v)
{
	for (size_t i = digits; i-- > 0; v >>= 3)
		at[i] = (char)('0' + (v & 7));
}

static void write_header(struct strbuf *b, char type, struct str name, uint64_t size)
{
	char h[TAR_BLOCK] = {0};
	memcpy(h, name.ptr, name.len < NAME_BYTES ? name.len : NAME_BYTES);
	octal(h + MODE_AT, 7, 0644);
	octal(h + UID_AT, 7, 0);
	octal(h + GID_AT, 7, 0);
	octal(h + SIZE_AT, 11, size);
	octal(h + MTIME_AT, 11, 0);
	h[TYPE_AT] = type;
	memcpy(h + MAGIC_AT, "ustar  ", 7);
	octal(h + SUM_AT, 6, checksum(h));
	h[SUM_AT + 7] = ' ';
	strbuf_add(b, h, sizeof(h));
}

static void write_body(struct strbuf *b, struct str data, size_t extra)
{
	size_t n = data.len + extra;
	strbuf_addstr(b, data);
	strbuf_pad(b, '\0', extra + (TAR_BLOCK - n % TAR_BLOCK) % TAR_BLOCK);
}

void tar_write_file(struct strbuf *b, struct str name, struct str data)
{
	if (name.len >= NAME_BYTES) {
		write_header(b, 'L', STR("././@LongLink"), name.len + 1);
		write_body(b, name, 1);
	}
	write_header(b, '0', name, data.len);
	write_body(b, data, 0);
}

void tar_write_end(struct strbuf *b)
{
	strbuf_pad(b, '\0', (size_t)2 * TAR_BLOCK);
}
