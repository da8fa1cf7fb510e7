/* openpgp_clearsign: a signed text, read so that there is one way to read it (openpgp.h). */
#include <string.h>

#include "alm/base/strbuf.h"
#include "catalog/trust/openpgp.h"
#include "catalog/trust/openpgp_packet.h"

static struct str without_blanks(struct str s)
{
	while (s.len && strchr(" \t\r", s.ptr[s.len - 1]) && s.ptr[s.len - 1])
		s.len--;
	return s;
}

static bool read_hash(struct str names, unsigned *hashes)
{
	struct str name;
	while (str_next(&names, ',', &name)) {
		unsigned algorithm = 0;
		for (unsigned i = 8; i <= 10; i++)
			if (str_is(str_trim(name), pgp_hash_name(i)))
				algorithm = i;
		if (!algorithm)
			return false;
		*hashes |= 1u << algorithm;
	}
	return true;
}

static int read_head(struct str *rest, unsigned *hashes, struct error *err)
{
	struct str line;
	if (!pgp_next_line(rest, &line) || !str_is(line, "-----BEGIN PGP SIGNED MESSAGE-----"))
		return error_set(err, E_INVALID,
				 "it does not begin with -----BEGIN PGP SIGNED MESSAGE-----");
	while (pgp_next_line(rest, &line) && line.len)
		if (!str_has_prefix(line, STR("Hash: ")) ||
		    !read_hash(str_skip(line, strlen("Hash: ")), hashes))
			return error_set(err, E_INVALID,
					 "a header other than Hash: SHA256, SHA384 or SHA512");
	if (!*hashes)
		return error_set(err, E_INVALID, "it has no header Hash");
	return 0;
}

/* RFC 4880 7.1: lines that begin with a dash are written "- -". */
static int read_body(struct str *rest, struct strbuf *text, struct strbuf *canonical,
		     struct error *err)
{
	struct str line;
	for (bool first = true; pgp_next_line(rest, &line); first = false) {
		if (str_is(line, "-----BEGIN PGP SIGNATURE-----"))
			return 0;
		if (str_has_prefix(line, STR("- ")))
			line = str_skip(line, 2);
		else if (str_has_prefix(line, STR("-")))
			break;
		line = without_blanks(line);
		strbuf_adds(canonical, first ? "" : "\r\n");
		strbuf_addstr(canonical, line);
		strbuf_addstr(text, line);
		strbuf_addc(text, '\n');
	}
	return error_set(err, E_INVALID, "the signed text is damaged or cut off");
}

int openpgp_clearsigned_read(struct str file, struct arena *a, struct openpgp_clearsigned *ret,
			     struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(OPENPGP_CLEARSIGN_BYTES_MAX + 1);
	CLEANUP(strbuf_release) struct strbuf canonical =
		STRBUF_INIT(OPENPGP_CLEARSIGN_BYTES_MAX * 2);
	struct openpgp_clearsigned c = {0};
	struct pgp_packet p;
	struct str raw;
	if (file.len > OPENPGP_CLEARSIGN_BYTES_MAX)
		return error_set(err, E_LIMIT, "larger than %zu bytes",
				 OPENPGP_CLEARSIGN_BYTES_MAX);
	if (read_head(&file, &c.hashes, err) < 0 || read_body(&file, &text, &canonical, err) < 0 ||
	    pgp_dearmor(&file, "-----END PGP SIGNATURE-----", a, &raw, err) < 0)
		return -err->code;
	if (file.len)
		return error_set(err, E_INVALID, "something follows the signature");
	int more = pgp_next_packet(&raw, &p, err);
	if (more < 0)
		return -err->code;
	if (!more || p.tag != PGP_SIGNATURE || raw.len)
		return error_set(err, E_INVALID, "want exactly one signature");
	c.signature = p.body;
	c.text = str_n(arena_text(a, text.buf, text.len), text.len);
	c.canonical = str_n(arena_text(a, canonical.buf, canonical.len), canonical.len);
	*ret = c;
	return 0;
}
