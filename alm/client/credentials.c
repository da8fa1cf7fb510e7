#include "alm/client/credentials.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json.h"

#define VALUE_BYTES_MAX ((size_t)1 << 20)

static bool has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
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
	const char *text = arena_strndup(a, s.len ? s.ptr : "", s.len);
	if (one_line && has_control(text))
		return error_set(err, E_INVALID, "the Secret's %s has a control character", key);
	*ret = *text ? text : NULL;
	return 0;
}

/* auths.HOST.{auth | username, password} */
static int read_docker(const char *text, const char *origin, struct arena *a,
		       struct credentials *ret, struct error *err)
{
	struct obj *o = NULL;
	const char *host = origin + strlen("https://");
	if (json_parse(str_of(text), &o, err) < 0)
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

int credentials_read(const struct obj *secret, const char *origin, struct arena *a,
		     struct credentials *ret, struct error *err)
{
	struct credentials c = {0};
	const char *docker = NULL;
	if (value(secret, "username", true, a, &c.username, err) < 0 ||
	    value(secret, "password", true, a, &c.password, err) < 0 ||
	    value(secret, "token", true, a, &c.token, err) < 0 ||
	    value(secret, "ca.crt", false, a, &c.ca_pem, err) < 0 ||
	    value(secret, ".dockerconfigjson", false, a, &docker, err) < 0)
		return -err->code;
	if (docker && !c.username && read_docker(docker, origin, a, &c, err) < 0)
		return -err->code;
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
