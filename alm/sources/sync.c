#include "alm/sources/sync_internal.h"

#include <stdio.h>
#include <string.h>

#include "alm/obj/meta.h"
#include "alm/sources/inplace.h"
#include "alm/sources/inspect.h"
#include "alm/sources/pull.h"
#include "catalog/index/entry.h"
#include "catalog/lint/lint.h"

#define LINES_A_LOOK 64 /* entries between two looks at the clock */

static void sync_free(struct sync *s)
{
	loop_unpost(s->host.loop, &s->step);
	if (s->child)
		sandbox_cancel(s->host.sandbox, s->child);
	signatures_free(s->signatures);
	oci_sync_free(s->oci);
	pull_cancel(s->pull);
	remote_free(s->remote);
	index_free(s->index);
	local_files_free(s);
	kept_free(s->kept);
	dir_list_free(s->names, s->n_names);
	strbuf_release(&s->lines);
	obj_unref(s->keys);
	obj_unref(s->catalog);
	arena_free(s->a);
	xfree(s);
}

void sync_cancel(struct sync *s)
{
	if (s)
		sync_free(s);
}

static void run_step(void *arg)
{
	struct sync *s = arg;
	s->go(s);
}

void sync_next(struct sync *s, void (*go)(struct sync *s))
{
	s->go = go;
	loop_post(s->host.loop, &s->step);
}

static void deliver(struct sync *s)
{
	s->result.err = s->err.code ? &s->err : NULL;
	s->result.index = s->err.code ? NULL : STEAL(s->index);
	s->result.lines = strbuf_str(&s->lines);
	s->done(s->arg, &s->result);
	index_free(s->result.index);
	sync_free(s);
}

void sync_fail(struct sync *s, const struct error *err)
{
	s->err = *err;
	sync_next(s, deliver);
}

void sync_unchanged(struct sync *s)
{
	index_free(STEAL(s->index));
	sync_next(s, deliver);
}

static void finish_index(struct sync *s)
{
	struct error err = ERROR_INIT;
	if (index_finish(s->index, str_of(s->index->catalog_yaml), &err) < 0) {
		sha256_hex(strbuf_str(&s->lines), s->result.bad_digest);
		error_wrap(&err, "%s", s->url);
		sync_fail(s, &err);
		return;
	}
	if (!s->host.take_all)
		lint_reject(s->index);
	deliver(s);
}

static void build_some(struct sync *s)
{
	struct error err = ERROR_INIT;
	int64_t until = loop_mono(s->host.loop) + SYNC_SLICE_NS;
	int more;
	do {
		more = entry_read_lines(s->index, &s->rest, LINES_A_LOOK, &err);
	} while (more > 0 && loop_mono(s->host.loop) < until);
	if (more < 0 && s->cache)
		source_cache_clear(s->cache); /* what was told is damaged: ask again */
	if (more < 0)
		sync_fail(s, &err);
	else
		sync_next(s, more ? build_some : finish_index);
}

bool sync_is_verdict(const struct error *err)
{
	return err->code != E_INTERNAL && err->code != E_IO && err->code != E_TOOMANY &&
	       err->code != E_TIMEOUT;
}

void sync_build(struct sync *s)
{
	if (s->cache)
		source_cache_sweep(s->cache);
	if (s->keys)
		sync_verify(s);
	else
		sync_build_lines(s);
}

void sync_build_lines(struct sync *s)
{
	struct error err = ERROR_INIT;
	if (strbuf_check(&s->lines, s->url, &err) < 0) {
		sync_fail(s, &err);
		return;
	}
	s->rest = strbuf_str(&s->lines);
	sync_next(s, build_some);
}

static bool sync_open(struct sync *s, const char *scheme, const struct obj *secret)
{
	struct error err = ERROR_INIT;
	if (weburl_parse(str_of(s->url), scheme, s->a, &s->base, &err) < 0 ||
	    credentials_read(secret, s->base.origin, s->a, &s->credentials, &err) < 0) {
		error_wrap(&err, secret ? "spec.source.secretRef" : "spec.source.url");
		sync_fail(s, &err);
		return false;
	}
	s->remote = remote_new(s->host.loop, s->credentials.ca_pem, s->host.addresses);
	return true;
}

static void start(struct sync *s, const struct sync_request *r)
{
	struct error err = ERROR_INIT;
	if (r->saved.len) {
		strbuf_addstr(&s->lines, r->saved);
		sync_build_lines(s); /* they say what was verified */
	} else if (cstr_has_prefix(s->url, "dir://")) {
		sync_next(s, sync_dir);
	} else if (cstr_has_prefix(s->url, "file://")) {
		sync_next(s, sync_file);
	} else if (cstr_has_prefix(s->url, "https://")) {
		if (sync_open(s, "https", r->secret))
			sync_https(s);
	} else if (cstr_has_prefix(s->url, "oci://")) {
		if (sync_open(s, "oci", r->secret))
			sync_oci(s);
	} else if (cstr_has_prefix(s->url, INPLACE_URL)) {
		sync_next(s, sync_inplace);
	} else {
		error_set(&err, E_UNSUPPORTED,
			  "spec.source.url: %.200s is not read; use dir://, file://, https:// or "
			  "oci://",
			  s->url);
		sync_fail(s, &err);
	}
}

struct sync *sync_start(const struct sync_host *h, const struct sync_request *r, sync_done done,
			void *arg)
{
	struct sync *s = xcalloc(1, sizeof(*s));
	const char *url = obj_str(r->catalog, "spec.source.url");
	s->host = *h;
	s->a = arena_new(SYNC_ARENA_BYTES);
	s->catalog = obj_ref(r->catalog);
	s->cache = r->cache;
	s->last = r->last;
	s->last_arg = r->last_arg;
	s->secret = r->secret ? obj_keep(s->a, obj_ref(r->secret)) : NULL;
	s->url = arena_strdup(s->a, url ? url : "");
	s->step = (struct task){.fn = run_step, .arg = s};
	s->is_conditional = r->validators != NULL;
	if (r->validators)
		s->result.validators = *r->validators;
	strbuf_init(&s->lines, HELM_LINES_BYTES_MAX);
	s->index = index_new(meta_name(r->catalog), obj_i64(r->catalog, "spec.priority", 0));
	snprintf(s->index->policy, sizeof(s->index->policy), "%s", r->policy);
	if (r->keys && *r->policy)
		s->keys = obj_ref(r->keys);
	s->done = done;
	s->arg = arg;
	start(s, r);
	return s;
}
