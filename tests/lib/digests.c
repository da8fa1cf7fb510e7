#include "tests/lib/digests.h"

#include <archive.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <json-c/json_c_version.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>
#include <zlib.h>

#include "alm/base/file.h"

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define LIBRARIES      "# libraries: "

void digest_add(struct sha256 *h, struct str text)
{
	digest_int(h, (int64_t)text.len);
	sha256_add(h, text.ptr ? text.ptr : "", text.len);
}

void digest_adds(struct sha256 *h, const char *text)
{
	if (text)
		digest_add(h, str_of(text));
	else
		digest_int(h, -1);
}

void digest_int(struct sha256 *h, int64_t n)
{
	unsigned char bytes[8];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)((uint64_t)n >> (8 * i));
	sha256_add(h, bytes, sizeof(bytes));
}

void digest_end(struct sha256 *h, char out[DIGEST_HEX])
{
	unsigned char whole[SHA256_BYTES];
	sha256_final(h, whole);
	hex_encode(whole, (DIGEST_HEX - 1) / 2, out);
}

static struct sha256 *notes;
static bool notes_are_told;

void digest_notes_begin(bool tells)
{
	notes_are_told = tells;
	notes = sha256_new();
}

void digest_note(struct str text)
{
	if (!notes)
		return;
	digest_add(notes, text);
	if (notes_are_told)
		printf("note: %.*s\n", STR_ARG(text));
}

void digest_notes_end(char out[DIGEST_HEX])
{
	digest_end(notes, out);
	sha256_free(notes);
	notes = NULL;
}

/* "# version 2024a" is its first line. */
static void add_zones(struct strbuf *b)
{
	static const char head[] = "# version ";
	char line[32] = "";
	int fd = open("/usr/share/zoneinfo/tzdata.zi", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);
	if (fd >= 0)
		close(fd);
	line[n > 0 ? (size_t)n : 0] = 0;
	line[strcspn(line, "\n")] = 0;
	strbuf_addf(b, ", tzdata %s",
		    cstr_has_prefix(line, head) ? line + sizeof(head) - 1 : "none");
}

void digests_libraries(struct strbuf *b)
{
	strbuf_addf(b, "sqlite %s, json-c %s, libyaml %s, openssl %s, %s, zlib %s, glibc %s",
		    sqlite3_libversion(), json_c_version(), yaml_get_version_string(),
		    OpenSSL_version(OPENSSL_VERSION_STRING), archive_version_string(),
		    zlibVersion(), gnu_get_libc_version());
	add_zones(b);
}

static enum digest_verdict record(const char *to, const char *key, const char *number,
				  struct strbuf *why)
{
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(STRBUF_SMALL);
	int fd = open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	strbuf_addf(&line, "%s %s\n", number, key);
	/* In one write: other tests append, too. */
	bool written = fd >= 0 && write(fd, line.buf, line.len) == (ssize_t)line.len;
	if (fd >= 0)
		close(fd);
	strbuf_addf(why, written ? "digest %s" : "digest %s could not be recorded", number);
	return written ? DIGEST_RECORDED : DIGEST_DIFFERS;
}

/* The number of the key, in file's bytes; STR_NONE if there is none. */
static struct str recorded_number(struct str rest, const char *key)
{
	struct str line, number, name;
	while (str_next(&rest, '\n', &line))
		if (str_cut(line, ' ', &number, &name) && str_is(name, key))
			return number;
	return STR_NONE;
}

static bool has_our_libraries(struct str file, struct strbuf *why)
{
	CLEANUP(strbuf_release) struct strbuf ours = STRBUF_INIT(STRBUF_SMALL);
	struct str first;
	digests_libraries(&ours);
	(void)str_next(&file, '\n', &first);
	if (!str_has_prefix(first, STR(LIBRARIES)))
		first = STR(LIBRARIES);
	first = str_sub(first, sizeof(LIBRARIES) - 1, first.len);
	if (str_eq(first, strbuf_str(&ours)))
		return true;
	strbuf_addf(why, "not compared: recorded with %.*s; here is %s", STR_ARG(first), ours.buf);
	return false;
}

enum digest_verdict digests_compare(const char *file, const char *key, const char *number,
				    struct strbuf *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FILE_BYTES_MAX);
	struct error err = ERROR_INIT;
	const char *to = getenv("DIGESTS_RECORD");
	if (to && *to)
		return record(to, key, number, why);
	if (file_read(file, &b, &err) < 0) {
		strbuf_adds(why, err.msg);
		return DIGEST_UNKNOWN;
	}
	if (!has_our_libraries(strbuf_str(&b), why))
		return DIGEST_SKIPPED;
	struct str known = recorded_number(strbuf_str(&b), key);
	if (!known.ptr) {
		strbuf_addf(why, "digest %s; %s names no %s", number, file, key);
		return DIGEST_UNKNOWN;
	}
	if (str_is(known, number))
		return DIGEST_EQUAL;
	strbuf_addf(why, "digest %s, and %.*s was recorded in %s", number, STR_ARG(known), file);
	return DIGEST_DIFFERS;
}

void digests_begin(void)
{
	const char *to = getenv("DIGESTS_RECORD");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	if (!to || !*to)
		return;
	strbuf_adds(&b, LIBRARIES);
	digests_libraries(&b);
	strbuf_addc(&b, '\n');
	if (file_write_atomic(to, strbuf_str(&b), 0644, &err) < 0)
		fprintf(stderr, "%s\n", err.msg);
}

bool digests_hold(const char *file, const char *key, struct sha256 *h)
{
	char number[DIGEST_HEX];
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(STRBUF_SMALL);
	digest_end(h, number);
	enum digest_verdict v = digests_compare(file, key, number, &why);
	if (v != DIGEST_EQUAL && v != DIGEST_RECORDED)
		fprintf(stderr, "# %s: %s\n", key, why.buf);
	return v != DIGEST_DIFFERS && v != DIGEST_UNKNOWN;
}

static bool is_uid(const char *p, size_t n)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	if (n < sizeof(form) - 1)
		return false;
	for (size_t i = 0; form[i]; i++)
		if (form[i] == '-' ? p[i] != '-' : !strchr("0123456789abcdef", p[i]) || !p[i])
			return false;
	return true;
}

void digest_neutral(struct str body, struct strbuf *b)
{
	for (size_t i = 0; i < body.len; i++) {
		if (!is_uid(body.ptr + i, body.len - i)) {
			strbuf_addc(b, body.ptr[i]);
			continue;
		}
		strbuf_adds(b, "UID");
		i += 35;
	}
}
