/* https://: the index.yaml of a Helm repository, by conditional request; read in the sandbox. */
#include <string.h>

#include "alm/sources/sync_internal.h"

static void lines_read(void *arg, struct str output, const struct error *err)
{
	struct sync *s = arg;
	s->child = NULL;
	if (err) {
		struct error copy = *err;
		error_wrap(&copy, "%s", s->url);
		sync_fail(s, &copy);
		return;
	}
	s->result.bad_digest[0] = 0;
	strbuf_addstr(&s->lines, output);
	sync_build(s);
}

void sync_parse_index(struct sync *s, struct str input)
{
	s->child = sandbox_run(s->host.sandbox, HELM_INDEX_JOB, input, &source_limits_all,
			       lines_read, s);
}

static void keep(char out[SYNC_VALIDATOR_MAX], const char *value)
{
	out[0] = 0;
	if (value && strlen(value) < SYNC_VALIDATOR_MAX)
		memcpy(out, value, strlen(value) + 1);
}

static void index_came(void *arg, const struct remote_reply *reply)
{
	struct sync *s = arg;
	struct error err = ERROR_INIT;
	if (!reply->err && reply->status == 304 && s->is_conditional) {
		sync_unchanged(s);
		return;
	}
	if (remote_check(reply, &err) < 0) {
		sync_fail(s, &err);
		return;
	}
	keep(s->result.validators.etag, http_header(reply->headers, "ETag"));
	keep(s->result.validators.last_modified, http_header(reply->headers, "Last-Modified"));
	sha256_hex(reply->body, s->result.bad_digest);
	CLEANUP(strbuf_release) struct strbuf input =
		STRBUF_INIT(HELM_INDEX_BYTES_MAX + 2 * WEBURL_BYTES_MAX);
	strbuf_addf(&input, "%s\n%s\n", weburl_text(&s->base, s->a),
		    obj_flag(s->catalog, "spec.source.allowUnpinned", false) ? "unpinned" : "");
	strbuf_addstr(&input, reply->body);
	sync_parse_index(s, strbuf_str(&input));
}

/* The URL names the repository, as Helm's do, or the index itself. */
static void name_index(struct sync *s)
{
	const char *path = s->base.path;
	if (cstr_has_suffix(path, ".yaml") || cstr_has_suffix(path, ".json"))
		return;
	s->base.path =
		arena_fmt(s->a, "%s%sindex.yaml", path, cstr_has_suffix(path, "/") ? "" : "/");
}

static const char *some(const char *s)
{
	return *s ? s : NULL;
}

void sync_https(struct sync *s)
{
	name_index(s);
	struct remote_request q = {
		.url = &s->base,
		.authorization = credentials_header(&s->credentials, s->a),
		.accept = "application/yaml, text/yaml, */*",
		.body_max = HELM_INDEX_BYTES_MAX,
	};
	if (s->is_conditional) {
		q.if_none_match = some(s->result.validators.etag);
		q.if_modified_since = some(s->result.validators.last_modified);
	}
	remote_send(s->remote, &q, index_came, s);
}
