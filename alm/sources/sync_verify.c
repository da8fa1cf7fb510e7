/*
 * The policy of a Catalog (policy.h), applied to what its source told: for every entry the
 * signature is found (beside the archive, or in its registry) and judged in the sandbox. An entry
 * without a valid one is rejected as SignatureInvalid; a catalog artifact is signed as a whole, and
 * without a valid signature nothing of it is used. A source that cannot be asked fails the sync:
 * the last good revision stays.
 *
 * Entries are judged some at a time and kept in their order. What was found valid is not asked for
 * again as long as entry, policy and the end of the signature's life stay the same.
 */
#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "alm/sources/signature.h"
#include "alm/sources/sync_internal.h"
#include "catalog/index/entry.h"

#define ANSWER_MAX ((size_t)4 << 20)

void signatures_free(struct signatures *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n; i++)
		signature_release(&g->items[i]);
	signature_release(&g->artifact);
	obj_unref(g->provenances);
	strbuf_release(&g->out);
	xfree(g);
}

static void judge_some(struct sync *s);

/* --- line by line --- */

static const char *note_of(struct judged *j)
{
	char hex[SHA256_HEX];
	sha256_hex(j->line, hex);
	return arena_fmt(j->a, "verified:%s:%s", j->s->index->policy, hex);
}

/* It was found valid before, and that has not ended. */
static bool use_known(struct judged *j)
{
	struct str known = j->s->cache ? source_note(j->s->cache, note_of(j)) : STR_NONE;
	if (!known.len || !str_parse_i64(known, &j->until_s))
		return false;
	return !j->until_s || loop_now(j->s->host.loop) / NS_PER_S < j->until_s;
}

static bool is_entry(const struct obj *o)
{
	return obj_type(o) == OBJ_MAP && obj_str(o, "locator") && obj_str(o, "digest") &&
	       !obj_str(o, "error");
}

static void start_line(struct sync *s, struct str line)
{
	struct signatures *g = s->signatures;
	struct judged *j = &g->items[g->n++];
	struct error ignored;
	*j = (struct judged){.s = s, .a = arena_new(ANSWER_MAX), .line = line};
	if (json_parse(line, &j->entry, &ignored) < 0 || !is_entry(j->entry)) {
		obj_unref(STEAL(j->entry));
		j->done = true;
		return;
	}
	obj_del(j->entry, "verified"); /* only this file says that */
	if (g->artifact.done) {
		j->until_s = g->artifact.until_s;
		j->done = true;
		return;
	}
	if (use_known(j)) {
		j->done = true;
		return;
	}
	signature_ask(j);
	obj_set_str(j->question, "digest", obj_str(j->entry, "digest"));
	obj_set(j->question, "chart", obj_ref(obj_get(j->entry, "chart")));
	signature_find(j);
}

static void write_line(struct sync *s, struct judged *j)
{
	struct signatures *g = s->signatures;
	if (!j->entry) {
		strbuf_addstr(&g->out, j->line);
		strbuf_addc(&g->out, '\n');
		return;
	}
	if (j->problem) {
		const char *where = obj_str(j->entry, "where");
		CLEANUP(obj_unrefp) struct obj *o =
			entry_error(where ? where : "", j->problem, REASON_SIGNATURE_INVALID);
		entry_print(o, &g->out);
		g->rejected = true;
		return;
	}
	if (s->cache && j->question)
		source_note_set(s->cache, note_of(j),
				str_of(arena_fmt(j->a, "%lld", (long long)j->until_s)));
	obj_set_path(j->entry, "verified.by", obj_string(s->index->policy));
	obj_set_path(j->entry, "verified.until", obj_int(j->until_s));
	entry_print(j->entry, &g->out);
}

/* What is missing may come without a change of the index. */
static void finish(struct sync *s)
{
	struct signatures *g = s->signatures;
	if (g->rejected)
		s->result.validators = (struct sync_validators){0};
	strbuf_release(&s->lines);
	s->lines = g->out;
	strbuf_init(&g->out, HELM_LINES_BYTES_MAX);
	sync_build_lines(s);
}

static bool all_done(const struct signatures *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (!g->items[i].done)
			return false;
	return true;
}

static void flush(struct sync *s)
{
	struct signatures *g = s->signatures;
	for (size_t i = 0; i < g->n; i++) {
		write_line(s, &g->items[i]);
		signature_release(&g->items[i]);
	}
	g->n = 0;
}

static void judge_some(struct sync *s)
{
	struct signatures *g = s->signatures;
	int64_t until = loop_mono(s->host.loop) + SYNC_SLICE_NS;
	struct str line;
	if (g->artifact.problem) {
		struct error err;
		error_set(&err, E_INVALID, "%s", g->artifact.problem);
		err.reason =
			REASON_SIGNATURE_INVALID; /* as each problem of a signature: refuse() */
		signature_fail(&g->artifact, &err);
		return;
	}
	while (all_done(g)) {
		flush(s);
		if (!g->rest.len) {
			finish(s);
			return;
		}
		if (loop_mono(s->host.loop) >= until) {
			sync_next(s, judge_some);
			return;
		}
		while (g->n < SIGNATURES_AT_ONCE && str_next_line(&g->rest, &line))
			if (line.len)
				start_line(s, line);
	}
}

/* --- what comes before the lines --- */

static void provenances_told(void *arg, struct str output, const struct error *err)
{
	struct sync *s = arg;
	struct error failed = err ? *err : ERROR_INIT;
	s->child = NULL;
	if (!failed.code)
		json_parse(output, &s->signatures->provenances, &failed);
	if (!failed.code) {
		sync_next(s, judge_some);
		return;
	}
	error_wrap(&failed, "%s", s->url);
	sync_fail(s, &failed);
}

static void read_provenances(struct sync *s)
{
	struct error err = ERROR_INIT;
	s->child = source_run(s->host.files, s->host.sandbox, SOURCE_JOB_SIGNED, STR(""),
			      source_path(s->catalog, "file://"), provenances_told, s, &err);
	if (!s->child)
		sync_fail(s, &err);
}

/* Its one manifest names the index, and that every archive. */
static void judge_artifact(struct sync *s, const char *manifest)
{
	struct judged *j = &s->signatures->artifact;
	*j = (struct judged){.s = s, .a = arena_new(ANSWER_MAX)};
	signature_ask(j);
	obj_set_str(j->question, "manifest", manifest);
	signature_find_cosign(j);
}

static void note_key_kinds(struct sync *s)
{
	struct signatures *g = s->signatures;
	OBJ_EACH (it, s->keys) {
		struct str text = obj_as_str(it.value);
		g->pgp = g->pgp || str_contains(text, STR(OPENPGP_KEY_BEGIN));
		g->pem = g->pem || str_contains(text, STR(VERIFY_PEM_BEGIN));
	}
}

void sync_verify(struct sync *s)
{
	struct signatures *g = xcalloc(1, sizeof(*g));
	const char *manifest = oci_sync_artifact(s);
	s->signatures = g;
	g->judged = judge_some;
	g->rest = strbuf_str(&s->lines);
	strbuf_init(&g->out, HELM_LINES_BYTES_MAX);
	note_key_kinds(s);
	if (manifest)
		judge_artifact(s, manifest);
	else if (g->pgp && source_path(s->catalog, "file://"))
		read_provenances(s);
	else
		judge_some(s);
}
