/* apptype://: the package of an AppType, made of spec.inPlace (inplace.h). */
#include <string.h>

#include "alm/obj/json.h"
#include "alm/sources/inplace.h"
#include "alm/sources/inspect.h"
#include "alm/sources/pull.h"
#include "alm/sources/sync_internal.h"
#include "catalog/index/entry.h"

#define LOCATOR "inPlace"

static void inspected(void *arg, struct str output, const struct error *err)
{
	struct sync *s = arg;
	struct error failed = err ? *err : ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *entry = NULL;
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(SOURCE_ARCHIVE_BYTES_MAX * 2);
	s->child = NULL;
	if (err || json_parse(output, &entry, &failed) < 0) {
		error_wrap(&failed, "%s", s->url);
		sync_fail(s, &failed);
		return;
	}
	obj_set_str(entry, "where", LOCATOR);
	obj_set_str(entry, "locator", LOCATOR);
	entry_print(entry, &line);
	strbuf_addstr(&s->lines, strbuf_str(&line));
	sync_build(s);
}

static void build(struct sync *s, struct str operator_chart)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SOURCE_ARCHIVE_BYTES_MAX);
	if (inplace_archive(obj_path(s->catalog, "spec.inPlace"), operator_chart, &b, &err) < 0) {
		sync_fail(s, &err);
		return;
	}
	s->child = sandbox_run(s->host.sandbox, INSPECT_JOB, strbuf_str(&b), &inspect_limits,
			       inspected, s);
}

static void operator_came(void *arg, const struct pull_result *result)
{
	struct sync *s = arg;
	struct error err = ERROR_INIT;
	const char *ref = "";
	s->pull = NULL;
	if (result->err)
		err = *result->err;
	else if (inplace_operator(obj_path(s->catalog, "spec.inPlace"), s->a, &ref, &err) == 0 &&
		 !strchr(ref, '@'))
		/* a tag is no package: what it stands for may be another archive when that is read */
		error_set(&err, E_UNAVAILABLE, "%s: its digest is looked up", ref);
	if (err.code)
		sync_fail(s, &err);
	else
		build(s, result->bytes);
}

void sync_inplace(struct sync *s)
{
	struct error err = ERROR_INIT;
	const char *ref;
	char digest[SHA256_HEX];
	json_digest(obj_path(s->catalog, "spec.inPlace"), digest);
	if (s->is_conditional && !strcmp(s->result.validators.etag, digest)) {
		sync_unchanged(s); /* the same fields are the same bytes */
		return;
	}
	memcpy(s->result.validators.etag, digest, sizeof(digest));
	if (inplace_operator(obj_path(s->catalog, "spec.inPlace"), s->a, &ref, &err) < 0)
		sync_fail(s, &err);
	else if (ref)
		s->pull = pull_start(s->host.loop, s->host.addresses, s->secret, ref, operator_came,
				     s);
	else
		build(s, STR_NONE);
}
