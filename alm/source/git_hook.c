#include "alm/source/git_hook.h"

#include <ctype.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json_foreign.h"
#include "alm/obj/meta.h"
#include "alm/source/git_url.h"

#define SECRET_BYTES_MAX ((size_t)64 << 10)

/* --- the body --- */

static void add_url(struct git_hook *h, struct arena *a, const char *url)
{
	if (url && h->n_urls < GIT_HOOK_URLS_MAX)
		h->urls[h->n_urls++] = arena_strdup(a, url);
}

int git_hook_read(struct git_hook *h, struct arena *a, struct error *err)
{
	static const char *const members[] = {
		"repository.clone_url", "repository.html_url", "repository.git_http_url",
		"repository.git_url",   "repository.homepage", "repository.ssh_url",
		"project.git_http_url", "project.http_url",    "project.web_url",
		"project.git_ssh_url",
	};
	struct obj *o = NULL;
	if (json_foreign_parse(h->body, &o, err) < 0)
		return -err->code;
	obj_keep(a, o);
	h->n_urls = 0;
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		add_url(h, a, obj_str(o, members[i]));
	h->ref = obj_str(o, "ref");
	return h->n_urls ? 0 : error_set(err, E_BADREQUEST, "it names no repository");
}

/* Without scheme and user, as a URL: the colon of user@host:path is a slash. */
static char *without_scheme(const char *url, struct arena *a)
{
	const char *at = strstr(url, "://");
	const char *text = at ? at + 3 : url;
	const char *slash = strchr(text, '/');
	const char *user = strchr(text, '@');
	bool is_scp = !at && git_url_is_ssh(url);
	if (user && (is_scp || (slash && user < slash)))
		text = user + 1;
	char *copy = arena_strdup(a, text);
	char *colon = is_scp ? strchr(copy, ':') : NULL;
	if (colon && colon[1] == '/') /* from the root, as all paths of URLs are */
		memmove(colon, colon + 1, strlen(colon + 1) + 1);
	else if (colon)
		*colon = '/';
	return copy;
}

/* The host alone: the port of https and that of ssh name no other server. */
static size_t without_port(const char *host, size_t n)
{
	static const char *const usual[] = {":443", ":22"};
	for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
		size_t len = strlen(usual[i]);
		if (n > len && !strncmp(host + n - len, usual[i], len))
			return n - len;
	}
	return n;
}

/* "host/path" of an address, in one form. */
static const char *plain(const char *url, struct arena *a)
{
	char *copy = without_scheme(url, a);
	char *end = strchr(copy, '/');
	for (char *p = copy; *p && p != end; p++)
		*p = (char)tolower((unsigned char)*p);
	size_t n = strlen(copy);
	while (n && copy[n - 1] == '/')
		copy[--n] = '\0';
	if (n > 4 && !strcmp(copy + n - 4, ".git"))
		copy[n - 4] = '\0';
	size_t host = end && end < copy + strlen(copy) ? (size_t)(end - copy) : strlen(copy);
	return arena_fmt(a, "%.*s%s", (int)without_port(copy, host), copy, copy + host);
}

bool git_hook_is_of(const struct git_hook *h, const char *url, struct arena *a)
{
	const char *want = plain(url, a);
	for (size_t i = 0; i < h->n_urls; i++)
		if (!strcmp(plain(h->urls[i], a), want))
			return true;
	return false;
}

bool git_hook_is_about(const struct git_hook *h, const char *branch)
{
	static const char heads[] = "refs/heads/";
	return !h->ref ||
	       (cstr_has_prefix(h->ref, heads) && !strcmp(h->ref + strlen(heads), branch));
}

/* --- the secret --- */

int git_hook_secret(const struct obj *secret, struct arena *a, struct str *ret, struct error *err)
{
	const char *packed = obj_as_string(obj_get(obj_get(secret, "data"), "secret"));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SECRET_BYTES_MAX);
	if (!cstr_eq(obj_str(secret, "type"), GIT_HOOK_SECRET_TYPE))
		return error_set(err, E_NOTALLOWED,
				 "Secret %s is not there, or is not of type " GIT_HOOK_SECRET_TYPE,
				 meta_name(secret));
	if (!packed || !base64_decode(str_of(packed), &b) || b.len < GIT_HOOK_SECRET_BYTES)
		return error_set(err, E_NOTALLOWED,
				 "Secret %s: data.secret is to have at least %d bytes",
				 meta_name(secret), GIT_HOOK_SECRET_BYTES);
	*ret = str_n(arena_text(a, b.buf, b.len), b.len);
	return 0;
}

static bool is_hmac(const struct git_hook *h, struct str secret)
{
	static const char prefix[] = "sha256=";
	unsigned char want[SHA256_BYTES], got[SHA256_BYTES];
	hmac_sha256(secret, h->body, want);
	if (!cstr_has_prefix(h->signature, prefix) ||
	    !hex_decode(str_of(h->signature + strlen(prefix)), got, sizeof(got)))
		return false;
	return mem_equal(want, got, sizeof(want));
}

/* Of both a MAC, as the time of a comparison would tell a length. */
static bool is_token(const char *token, struct str secret)
{
	unsigned char want[SHA256_BYTES], got[SHA256_BYTES];
	hmac_sha256(STR("token"), secret, want);
	hmac_sha256(STR("token"), str_of(token), got);
	return mem_equal(want, got, sizeof(want));
}

bool git_hook_is_signed(const struct git_hook *h, struct str secret)
{
	if (secret.len < GIT_HOOK_SECRET_BYTES)
		return false;
	if (h->signature)
		return is_hmac(h, secret);
	return h->token && is_token(h->token, secret);
}
