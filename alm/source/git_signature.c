#include "alm/source/git_signature.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/json.h"

#define SIGNER_BYTES 200
#define GNUPG        "[GNUPG:] "

/* --- keys --- */

static bool is_key_type(struct str word)
{
	return str_has_prefix(word, STR("ssh-")) || str_has_prefix(word, STR("ecdsa-")) ||
	       str_has_prefix(word, STR("sk-"));
}

static bool has_key_type(struct str line)
{
	struct str word;
	while (line.len && str_next(&line, ' ', &word))
		if (is_key_type(word))
			return true;
	return false;
}

static bool read_number(struct str s, size_t at, size_t n, int64_t *ret)
{
	return at + n <= s.len && str_parse_i64(str_sub(s, at, n), ret);
}

/* YYYYMMDD[HHMM[SS]][Z]; taken as UTC. False: of another form, which ssh-keygen will not take. */
static bool read_time(struct str s, int64_t *ret_ns)
{
	int64_t y, mo, d, h = 0, mi = 0, sec = 0;
	if (!read_number(s, 0, 4, &y) || !read_number(s, 4, 2, &mo) || !read_number(s, 6, 2, &d))
		return false;
	if (mo < 1 || mo > 12 || d < 1 || d > 31)
		return false;
	if (read_number(s, 8, 2, &h) && read_number(s, 10, 2, &mi))
		(void)read_number(s, 12, 2, &sec);
	*ret_ns = clock_ns(days_from_civil(y, (int)mo, (int)d), NS_PER_DAY) + (h * NS_PER_HOUR) +
		  (mi * NS_PER_MIN) + (sec * NS_PER_S);
	return true;
}

/* By the option valid-before="TIME". */
static bool is_expired(struct str line, int64_t now_ns)
{
	static const char option[] = "valid-before=";
	int64_t ns;
	ptrdiff_t at = str_find(line, STR(option));
	if (at < 0)
		return false;
	struct str time = str_skip(line, (size_t)at + sizeof(option) - 1);
	if (time.len && *time.ptr == '"')
		time = str_skip(time, 1);
	return read_time(time, &ns) && ns <= now_ns;
}

static int bad_line(const char *name, int line, const char *what, struct error *err)
{
	return error_set(err, E_INVALID, "data \"%s\", line %d: %s", name, line, what);
}

static int add_signers(struct str text, const char *name, int64_t now_ns, struct strbuf *ssh,
		       struct error *err)
{
	struct str line, first, rest;
	for (int n = 1; str_next_line(&text, &line); n++) {
		line = str_trim(line);
		if (str_find_char(line, '\t') >= 0)
			return bad_line(name, n, "blanks are wanted, and no tabs", err);
		if (!line.len || *line.ptr == '#')
			continue;
		(void)str_cut(line, ' ', &first, &rest);
		if (is_key_type(first))
			return bad_line(name, n,
					"an SSH key stands behind who signs with it, as in "
					"\"alice@example.com ssh-ed25519 AAAA..\"",
					err);
		if (!has_key_type(rest))
			return bad_line(name, n,
					"neither a line of allowed signers (PRINCIPAL ssh-ed25519 "
					"AAAA..) nor an armored public key of OpenPGP",
					err);
		if (!is_expired(line, now_ns))
			strbuf_addf(ssh, "%.*s\n", STR_ARG(line));
	}
	return 0;
}

static int add_value(struct str text, const char *name, int64_t now_ns, struct strbuf *ssh,
		     struct strbuf *pgp, struct error *err)
{
	if (str_contains(text, STR("PRIVATE KEY")))
		return error_set(err, E_INVALID,
				 "data \"%s\": this is a private key, which belongs to nobody but "
				 "who signs; put the public one there",
				 name);
	text = str_trim(text);
	if (!str_has_prefix(text, STR("-----BEGIN PGP PUBLIC KEY BLOCK-----")))
		return add_signers(text, name, now_ns, ssh, err);
	strbuf_addf(pgp, "%.*s\n", STR_ARG(text));
	return 0;
}

int git_keys_read(const struct obj *data, int64_t now_ns, struct arena *a, struct git_keys *ret,
		  struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf ssh = STRBUF_INIT(GIT_KEYS_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf pgp = STRBUF_INIT(GIT_KEYS_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(GIT_KEYS_BYTES_MAX * 6);
	OBJ_EACH (it, data) {
		const char *text = obj_as_string(it.value);
		if (add_value(str_of(text ? text : ""), it.key, now_ns, &ssh, &pgp, err) < 0)
			return -err->code;
	}
	json_print_canonical(data, &all);
	if (strbuf_check(&ssh, "the keys", err) < 0 || strbuf_check(&pgp, "the keys", err) < 0 ||
	    strbuf_check(&all, "the keys", err) < 0)
		return -err->code;
	if (!ssh.len && !pgp.len)
		return error_set(err, E_INVALID,
				 "there is no key that is valid now; each value of data is an "
				 "armored public key of OpenPGP, or lines of allowed signers");
	ret->ssh = arena_strndup(a, ssh.buf, ssh.len);
	ret->pgp = arena_strndup(a, pgp.buf, pgp.len);
	sha256_hex(strbuf_str(&all), ret->digest);
	return 0;
}

/* --- what git says --- */

/* The rest of the line behind a word. */
static bool find(struct str text, const char *word, struct str *ret)
{
	struct str line;
	while (str_next_line(&text, &line))
		if (str_has_prefix(line, str_of(word))) {
			*ret = str_skip(line, strlen(word));
			return true;
		}
	return false;
}

static const char *shown(struct str s, struct arena *a)
{
	s = str_clip(s, SIGNER_BYTES);
	return utf8_valid(s) ? arena_strndup(a, s.ptr, s.len) : "(not UTF-8)";
}

/* "KEYID NAME <MAIL>" and "FINGERPRINT DATE .."; or "PRINCIPAL with TYPE key SHA256:..". */
static const char *signer_of(struct str errors, struct arena *a)
{
	struct str who, id, rest;
	if (find(errors, GNUPG "GOODSIG ", &who) && find(errors, GNUPG "VALIDSIG ", &id)) {
		(void)str_cut(who, ' ', &rest, &who);
		(void)str_cut(id, ' ', &id, &rest);
		return arena_fmt(a, "%s (%s)", shown(who, a), shown(id, a));
	}
	if (!find(errors, "Good \"git\" signature for ", &who))
		return NULL;
	ptrdiff_t at = str_find(who, STR(" with "));
	if (at < 0 || !str_rcut(who, ' ', &rest, &id))
		return NULL;
	return arena_fmt(a, "%s (%s)", shown(str_sub(who, 0, (size_t)at), a), shown(id, a));
}

/* Each word of git or gpg, and what it means; behind the word stands the key, if has_key. */
static const struct {
	const char *word, *says;
	bool has_key;
} words[] = {
	{GNUPG "BADSIG ", "its signature is of other content", true},
	{GNUPG "EXPKEYSIG ", "the key of its signature has expired", true},
	{GNUPG "REVKEYSIG ", "the key of its signature was revoked", true},
	{GNUPG "EXPSIG ", "its signature has expired", true},
	{GNUPG "NO_PUBKEY ", "the key of its signature is none of these", true},
	{"Good \"git\" signature with ", "the key of its signature is none of these, or not valid",
	 true},
	{"Could not verify signature", "its signature is of other content", false},
	{"Signature verification failed", "its signature is of other content", false},
};

static const char *why_not(struct str errors, struct arena *a)
{
	struct str rest;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (find(errors, words[i].word, &rest))
			return words[i].has_key
				       ? arena_fmt(a, "%s: %s", words[i].says, shown(rest, a))
				       : words[i].says;
	if (!str_trim(errors).len)
		return "it is not signed";
	(void)str_next_line(&errors, &rest);
	return arena_fmt(a, "git cannot judge its signature: %s", shown(rest, a));
}

int git_signature_judge(int status, struct str errors, const char *commit, struct arena *a,
			const char **ret, struct error *err)
{
	const char *signer = status == 0 ? signer_of(errors, a) : NULL;
	if (!signer)
		return error_because(err, E_INVALID, REASON_SIGNATURE_INVALID, "%.12s: %s", commit,
				     why_not(errors, a));
	*ret = signer;
	return 0;
}
