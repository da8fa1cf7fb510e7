#include "alm/sources/credentials.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json_foreign.h"
#include "alm/obj/meta.h"
#include "alm/source/git_url.h"
#include "catalog/weburl.h"

#define VALUE_BYTES_MAX ((size_t)1 << 20)
#define TYPE_BASIC      "kubernetes.io/basic-auth"
#define TYPE_DOCKER     "kubernetes.io/dockerconfigjson"
#define TYPE_SSH        "kubernetes.io/ssh-auth"
#define SSH             "ssh://"

static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 0x7f)
			return true;
	return false;
}

/* data.KEY, decoded; NULL if absent. */
static int value(const struct obj *secret, const char *key, bool one_line, struct arena *a,
		 const char **ret, struct error *err)
{
	const char *plain = obj_as_string(obj_get(obj_get(secret, "stringData"), key));
	const char *packed = obj_as_string(obj_get(obj_get(secret, "data"), key));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_BYTES_MAX);
	if (!packed && !plain)
		return 0;
	if (plain)
		strbuf_adds(&b, plain);
	else if (!base64_decode(str_of(packed), &b))
		return error_set(err, E_INVALID, "the Secret's %s is no base64", key);
	struct str s = str_trim(strbuf_str(&b));
	if (one_line ? has_control(s) : s.len && memchr(s.ptr, 0, s.len) != NULL)
		return error_set(err, E_INVALID, "the Secret's %s has a control character", key);
	*ret = s.len ? arena_strndup(a, s.ptr, s.len) : NULL;
	return 0;
}

/* auths.HOST.{auth | username, password} */
static int read_docker(const char *text, const char *origin, struct arena *a,
		       struct credentials *ret, struct error *err)
{
	struct obj *o = NULL;
	const char *host = origin + strlen("https://");
	if (json_foreign_parse(str_of(text), &o, err) < 0)
		return error_set(err, E_INVALID, "the Secret's .dockerconfigjson is no JSON");
	obj_keep(a, o);
	OBJ_EACH (it, obj_get(o, "auths")) {
		struct str name = str_of(it.key), user, password;
		if (str_has_prefix(name, STR("https://")))
			name = str_skip(name, 8);
		str_cut(name, '/', &name, &password);
		if (!str_is(name, host))
			continue;
		ret->username = obj_as_string(obj_get(it.value, "username"));
		ret->password = obj_as_string(obj_get(it.value, "password"));
		const char *auth = obj_as_string(obj_get(it.value, "auth"));
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_BYTES_MAX);
		if (!ret->username && auth && base64_decode(str_of(auth), &b) &&
		    str_cut(strbuf_str(&b), ':', &user, &password)) {
			ret->username = arena_strndup(a, user.ptr, user.len);
			ret->password = arena_strndup(a, password.ptr, password.len);
		}
	}
	return 0;
}

int credentials_check_namespace(const char *ns, struct error *err)
{
	if (!ns || !strcmp(ns, CREDENTIALS_NAMESPACE))
		return 0;
	return error_set(err, E_NOTALLOWED,
			 "namespace %.100s: catalogs use Secrets of " CREDENTIALS_NAMESPACE
			 " only; have an administrator put one there",
			 ns);
}

int credentials_absent(const char *name, struct error *err)
{
	return error_set(err, E_NOTALLOWED,
			 CREDENTIALS_NAMESPACE
			 "/%.253s is no Secret for catalogs: want one of type " CREDENTIALS_TYPE
			 " with username and password, or token, and the key "
			 "origins (https://HOST[:PORT]), or of type " TYPE_DOCKER ", " TYPE_BASIC
			 ", or for ssh:// " TYPE_SSH " with known_hosts",
			 name);
}

static int add_origin(struct str text, struct arena *a, const char **list, size_t *n,
		      struct error *err)
{
	struct weburl u;
	if (*n == CREDENTIALS_ORIGINS_MAX)
		return error_set(err, E_LIMIT, "the Secret's origins: more than %d",
				 CREDENTIALS_ORIGINS_MAX);
	if (str_has_prefix(text, STR(SSH))) {
		if (git_url_ssh_origin(text, a, &list[*n], err) < 0)
			return error_wrap(err, "the Secret's origins");
		(*n)++;
		return 0;
	}
	if (weburl_parse(text, "https", a, &u, err) < 0)
		return error_wrap(err, "the Secret's origins");
	if (strcmp(u.path, "/") != 0 || u.query)
		return error_set(err, E_INVALID,
				 "the Secret's origins: %.*s has a path; want https://HOST[:PORT]",
				 STR_ARG(str_sub(text, 0, 200)));
	list[(*n)++] = u.origin;
	return 0;
}

/* first NULL: only what the Secret says. */
static int read_origins(const struct obj *secret, const char *first, struct arena *a,
			struct credentials *ret, struct error *err)
{
	const char *text = NULL, **list = ARENA_ARRAY(a, const char *, CREDENTIALS_ORIGINS_MAX);
	size_t n = 0;
	if (value(secret, "origins", false, a, &text, err) < 0)
		return -err->code;
	if (first)
		list[n++] = first;
	struct str rest = str_of(text);
	for (rest = str_trim(rest); rest.len; rest = str_trim(rest)) {
		size_t end = 0;
		while (end < rest.len && !char_is_space(rest.ptr[end]))
			end++;
		if (add_origin(str_sub(rest, 0, end), a, list, &n, err) < 0)
			return -err->code;
		rest = str_skip(rest, end);
	}
	ret->origins = list;
	ret->n_origins = n;
	return 0;
}

bool credentials_are_for(const struct credentials *c, const char *origin)
{
	for (size_t i = 0; i < c->n_origins; i++)
		if (!strcmp(c->origins[i], origin))
			return true;
	return false;
}

static int read_values(const struct obj *secret, struct arena *a, struct credentials *c,
		       struct error *err)
{
	if (value(secret, "username", true, a, &c->username, err) < 0 ||
	    value(secret, "password", true, a, &c->password, err) < 0 ||
	    value(secret, "token", true, a, &c->token, err) < 0)
		return -err->code;
	return 0;
}

/* ssh, which cannot ask anybody, would take a key that it cannot open for none, and say nothing of
 * it. OpenSSH's own form begins with a magic and the name of its cipher, here "none". */
static bool is_locked(const char *key)
{
	static const char own[] = "-----BEGIN OPENSSH PRIVATE KEY-----";
	static const char open[] = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU";
	if (!cstr_has_prefix(key, own))
		return strstr(key, "ENCRYPTED") != NULL; /* PKCS #8, and PEM before it */
	struct str body = str_trim(str_skip(str_of(key), strlen(own)));
	return !str_has_prefix(body, STR(open));
}

static int read_ssh(const struct obj *secret, struct arena *a, struct credentials *c,
		    struct error *err)
{
	const char *lacks = NULL;
	if (value(secret, "ssh-privatekey", false, a, &c->ssh_key, err) < 0 ||
	    value(secret, "known_hosts", false, a, &c->known_hosts, err) < 0)
		return -err->code;
	if (!c->ssh_key)
		lacks = "ssh-privatekey";
	else if (!c->known_hosts)
		lacks = "known_hosts, the host keys of the server as ssh-keyscan prints them";
	else if (!strstr(c->ssh_key, " PRIVATE KEY-----"))
		lacks = "ssh-privatekey, and what it has is no private key";
	else if (is_locked(c->ssh_key))
		lacks = "ssh-privatekey without a passphrase, as nobody is here to type it";
	return lacks ? error_set(err, E_NOTALLOWED,
				 CREDENTIALS_NAMESPACE "/%.253s: ssh takes the key %s",
				 meta_name(secret) ? meta_name(secret) : "", lacks)
		     : 0;
}

static int read_secret(const struct obj *secret, const char *origin, struct arena *a,
		       struct credentials *c, struct error *err)
{
	const char *type = obj_str(secret, "type"), *docker = NULL;
	bool is_docker = cstr_eq(type, TYPE_DOCKER), is_ssh = cstr_has_prefix(origin, SSH);
	bool is_known = cstr_eq(type, CREDENTIALS_TYPE) || cstr_eq(type, TYPE_BASIC) ||
			cstr_eq(type, TYPE_SSH);
	if (!is_known && (!is_docker || is_ssh))
		return credentials_absent(meta_name(secret) ? meta_name(secret) : "", err);
	if (is_ssh)
		return read_ssh(secret, a, c, err) < 0 ? -err->code
						       : read_origins(secret, NULL, a, c, err);
	if (value(secret, "ca.crt", false, a, &c->ca_pem, err) < 0 ||
	    value(secret, ".dockerconfigjson", false, a, &docker, err) < 0)
		return -err->code;
	if (is_docker ? docker && read_docker(docker, origin, a, c, err) < 0
		      : read_values(secret, a, c, err) < 0)
		return -err->code;
	return read_origins(secret, c->username && is_docker ? origin : NULL, a, c, err);
}

int credentials_read(const struct obj *secret, const char *origin, struct arena *a,
		     struct credentials *ret, struct error *err)
{
	struct credentials c = {0};
	if (secret && read_secret(secret, origin, a, &c, err) < 0)
		return -err->code;
	if (secret && !credentials_are_for(&c, origin))
		return error_set(
			err, E_NOTALLOWED,
			CREDENTIALS_NAMESPACE
			"/%.253s is not for %s; if it shall be sent there, an administrator "
			"adds that to the key origins",
			meta_name(secret) ? meta_name(secret) : "", origin);
	*ret = c;
	return 0;
}

const char *credentials_basic(const char *username, const char *password, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_BYTES_MAX * 2);
	const char *pair = arena_fmt(a, "%s:%s", username, password ? password : "");
	base64_encode(str_of(pair), &b);
	return arena_fmt(a, "Basic %s", b.buf);
}

const char *credentials_header(const struct credentials *c, struct arena *a)
{
	if (c->token)
		return arena_fmt(a, "Bearer %s", c->token);
	return c->username ? credentials_basic(c->username, c->password, a) : NULL;
}

void credentials_hidden(const struct credentials *c, struct arena *a, const char *ret[4])
{
	const char *header = c ? credentials_header(c, a) : NULL;
	const char *value = header ? strchr(header, ' ') : NULL;
	size_t n = 0;
	if (value)
		ret[n++] = value + 1;
	if (c && c->password)
		ret[n++] = c->password;
	if (c && c->token)
		ret[n++] = c->token;
	ret[n] = NULL;
}
