#include "alm/audit/row_text.h"

#include <inttypes.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/obj/json.h"

#define CHANGED_MAX 4

int64_t row_time_us(const struct obj *row)
{
	int64_t us = obj_i64(row, "time", 0), max = INT64_MAX / NS_PER_US;
	return us > max ? max : us < -max ? -max : us;
}

void row_span(int64_t us, struct strbuf *b)
{
	int64_t s = us / 1000000;
	if (s < 1)
		visible_addf(b, "%" PRId64 " ms", us / 1000);
	else if (s < 60)
		visible_addf(b, "%" PRId64 " s", s);
	else if (s < 3600)
		visible_addf(b, "%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
	else if (s < 48 * 3600)
		visible_addf(b, "%" PRId64 " h %" PRId64 " min", s / 3600, s / 60 % 60);
	else
		visible_addf(b, "%" PRId64 " d %" PRId64 " h", s / 86400, s / 3600 % 24);
}

/* "91aa03c4" of "sha256:91aa03c4d2..." */
static void row_digest(const char *digest, size_t digits, struct strbuf *b)
{
	struct str s = str_of(digest);
	if (str_has_prefix(s, STR("sha256:")))
		s = str_skip(s, 7);
	visible_add(b, str_sub(s, 0, digits));
}

void row_time(const struct obj *row, bool micros, struct strbuf *b)
{
	char time[CLOCK_TEXT_MAX];
	clock_format(row_time_us(row) * NS_PER_US, micros ? CLOCK_MICROS : CLOCK_SECONDS, time);
	visible_adds(b, time);
}

void row_head(const struct obj *row, bool with_date, struct strbuf *b)
{
	char time[CLOCK_TEXT_MAX];
	const char *type = obj_str(row, "type"), *reason = obj_str(row, "reason");
	const char *version = obj_str(row, "body.version.to");
	clock_format(row_time_us(row) * NS_PER_US, CLOCK_SECONDS, time);
	visible_addf(b, "#%" PRId64 " ", obj_i64(row, "seq", 0));
	if (with_date)
		visible_adds(b, time);
	else
		visible_addf(b, "%.8s", strlen(time) > 11 ? time + 11 : time);
	visible_addf(b, " %s %s", type ? type : "", reason ? reason : "");
	if (version && type && !strcmp(type, "Transition"))
		visible_addf(b, " %s", version);
}

void row_subject(const struct obj *row, struct strbuf *b)
{
	const char *cluster = obj_str(row, "subject.cluster"),
		   *ns = obj_str(row, "subject.namespace");
	const char *kind = obj_str(row, "subject.kind"), *name = obj_str(row, "subject.name");
	if (cluster && *cluster)
		visible_addf(b, "%s:", cluster);
	visible_addf(b, "%s/", kind ? kind : "");
	if (ns && *ns)
		visible_addf(b, "%s/", ns);
	visible_adds(b, name ? name : "");
}

/* "(git, committed by bob, signed by alice@example.com (SHA256:...))"; nobody has checked what no signature
 * says. */
static void add_commit_names(const struct obj *row, struct strbuf *b)
{
	const char *committer = obj_str(row, "body.who.committer");
	const char *signer = obj_str(row, "body.who.signer");
	visible_adds(b, signer ? " (git" : " (claimed by a commit of git");
	if (committer)
		visible_addf(b, ", committed by %s", committer);
	if (signer)
		visible_addf(b, ", signed by %s", signer);
	strbuf_addc(b, ')');
}

void row_who(const struct obj *row, struct strbuf *b)
{
	const char *actor = obj_str(row, "actor"), *trust = obj_str(row, "body.who.trust");
	const char *via = obj_str(row, "body.who.via"), *address = obj_str(row, "body.who.address");
	if (!actor) {
		visible_adds(b, "ALM");
		return;
	}
	visible_adds(b, actor);
	if (!trust)
		return;
	if (!strcmp(trust, "managedFields")) {
		visible_addf(b, " (claimed by manager %s)", via ? via : "unknown");
		return;
	}
	if (!strcmp(trust, "git")) {
		add_commit_names(row, b);
		return;
	}
	visible_addf(b, " (%s", trust);
	if (via) /* the product of a User-Agent */
		visible_addf(b, ", %.*s", (int)strcspn(via, "/ "), via);
	struct str host = str_of(address), port;
	if (!cstr_has_prefix(address ? address : "", "["))
		(void)str_cut(host, ':', &host, &port);
	if (host.len && !str_has_prefix(host, STR("127.")) && !str_has_prefix(host, STR("[::1]")))
		visible_addf(b, "%s%.*s", via ? " " : ", ", STR_ARG(host));
	strbuf_addc(b, ')');
}

static void add_sep(struct strbuf *b, size_t from)
{
	if (b->len > from)
		visible_adds(b, ", ");
}

static void add_plan(const struct obj *row, const char *path, size_t from, struct strbuf *b)
{
	const char *digest = obj_str(row, path);
	if (!digest)
		return;
	add_sep(b, from);
	visible_adds(b, "plan ");
	row_digest(digest, 8, b);
}

/* The status goes into a row as text. */
static int64_t status_objects(const struct obj *row)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *status = NULL;
	const char *text = obj_str(row, "body.status");
	if (!text || json_parse(str_of(text), &status, &err) < 0)
		return 0;
	const struct obj *objects = obj_path(status, "plan.objects");
	return obj_type(objects) == OBJ_LIST ? (int64_t)obj_len(objects)
					     : obj_i64(status, "plan.objects", 0);
}

static int64_t plan_objects(const struct obj *plan)
{
	const struct obj *counts = obj_path(plan, "body.counts");
	int64_t n = status_objects(plan);
	OBJ_EACH (it, counts) {
		int64_t v = 0;
		if (obj_as_i64(it.value, &v))
			n += v;
	}
	return n ? n : (int64_t)obj_len(obj_path(plan, "body.actions"));
}

/* Digests of 64 digits are cut to 8: a line is for reading. */
static void add_message(const char *message, struct strbuf *b)
{
	struct str rest = str_of(message);
	ptrdiff_t at;
	while ((at = str_find(rest, STR("sha256:"))) >= 0) {
		size_t n = 0;
		visible_add(b, str_sub(rest, 0, (size_t)at + 7));
		rest = str_skip(rest, (size_t)at + 7);
		while (n < rest.len && char_is_hex(rest.ptr[n]))
			n++;
		visible_add(b, str_sub(rest, 0, n == 64 ? 8 : n));
		rest = str_skip(rest, n);
	}
	visible_add(b, rest);
}

bool row_tells_plan(const struct obj *row)
{
	static const char *const begun[] = {"Installing", "Succeeded", NULL};
	return obj_str(row, "body.plan") && cstr_in(obj_str(row, "reason"), begun);
}

static void transition(const struct obj *row, const struct obj *plan, const struct obj *cause,
		       struct strbuf *b)
{
	size_t from = b->len;
	const char *message = obj_str(row, "body.message");
	int64_t us = row_time_us(row) - row_time_us(cause);
	if (cause && us >= 1000000)
		row_span(us, b);
	int64_t n = plan ? plan_objects(plan) : 0;
	if (n > 0) {
		add_sep(b, from);
		visible_addf(b, "%" PRId64 " object%s", n, n == 1 ? "" : "s");
	}
	add_plan(obj_str(row, "body.plan") ? row : plan, "body.plan", from, b);
	if (!message || cstr_eq(message, obj_str(row, "body.version.to")) || row_tells_plan(row))
		return;
	add_sep(b, from);
	add_message(message, b);
}

/* ", 0.9.6 -> 0.9.5" */
static void add_versions(const struct obj *row, struct strbuf *b)
{
	const char *from = obj_str(row, "body.version.from"), *to = obj_str(row, "body.version.to");
	if (to)
		visible_addf(b, ", %s%s%s", from ? from : "", from ? " -> " : "", to);
}

/* ", ResourceDropped of etcds.etcd.coreos.com/v1 spec.size" */
static void add_waiver(const struct obj *waiver, struct strbuf *b)
{
	const char *rule = obj_str(waiver, "rule"), *resource = obj_str(waiver, "resource");
	const char *path = obj_str(waiver, "path");
	visible_addf(b, ", %s of %s%s%s", rule ? rule : "", resource ? resource : "",
		     path ? " " : "", path ? path : "");
}

static void approval(const struct obj *row, struct strbuf *b)
{
	const char *why = obj_str(row, "body.justification");
	size_t from = b->len;
	row_who(row, b);
	if (why)
		visible_addf(b, " \"%s\"", why);
	add_plan(row, "body.approves", from, b);
	if (obj_str(row, "body.message"))
		visible_addf(b, ", %s", obj_str(row, "body.message"));
	else if (!obj_str(row, "body.approves"))
		add_versions(row, b);
	if (obj_path(row, "body.waiver"))
		add_waiver(obj_path(row, "body.waiver"), b);
}

/* Details of the rules that did not allow; all of them say why a version is out. */
static void rules(const struct obj *row, struct strbuf *b)
{
	const struct obj *list = obj_path(row, "body.rules");
	size_t from = b->len;
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *rule = obj_at(list, i);
		const char *verdict = obj_str(rule, "verdict"), *id = obj_str(rule, "id");
		const char *detail = obj_str(rule, "detail");
		if (verdict && !strcmp(verdict, "allow"))
			continue;
		if (b->len > from)
			visible_adds(b, "; ");
		visible_addf(b, "%s%s%s", id ? id : "", detail ? "  " : "", detail ? detail : "");
	}
}

static void decision(const struct obj *row, struct strbuf *b)
{
	const char *verdict = obj_str(row, "body.verdict"), *message = obj_str(row, "body.message");
	if (verdict)
		visible_addf(b, "%s: ", verdict);
	if (message)
		add_message(message, b);
	else
		rules(row, b);
}

static void changed_paths(const struct obj *row, struct strbuf *b)
{
	const struct obj *changed = obj_path(row, "body.changed");
	size_t n = obj_len(changed);
	for (size_t i = 0; i < n && i < CHANGED_MAX; i++) {
		const char *path = obj_as_string(obj_at(changed, i));
		visible_addf(b, "%s%s", i ? ", " : " ", path ? path : "");
	}
	if (n > CHANGED_MAX)
		visible_addf(b, " and %zu more", n - CHANGED_MAX);
}

static void observe(const struct obj *row, bool beside, struct strbuf *b)
{
	const char *catalog = obj_str(row, "body.catalog.name"), *what = obj_str(row, "body.what");
	const char *from = obj_str(row, "body.catalog.from"), *to = obj_str(row, "body.catalog.to");
	if (catalog) {
		visible_addf(b, "%s ", catalog);
		row_digest(from ? from : "none", 4, b);
		visible_adds(b, " -> ");
		row_digest(to ? to : "none", 4, b);
		return;
	}
	const char *message = obj_str(row, "body.message");
	if (what && !(message && cstr_eq(what, obj_str(row, "reason"))))
		visible_adds(b, what);
	else if (message)
		add_message(message, b);
	else if (obj_has(obj_get(row, "body"), "generation"))
		visible_addf(b, "generation %" PRId64, obj_i64(row, "body.generation", 0));
	else if (!beside)
		row_subject(row, b);
	changed_paths(row, b);
	if (obj_has(row, "actor")) {
		visible_adds(b, " by ");
		row_who(row, b);
	}
}

static void write_row(const struct obj *row, bool beside, struct strbuf *b)
{
	const char *verb = obj_str(row, "body.verb"), *outcome = obj_str(row, "body.outcome");
	int64_t code = obj_i64(row, "body.code", 0), more = obj_i64(row, "body.suppressed", 0);
	visible_adds(b, verb ? verb : "write");
	if (!beside) {
		visible_adds(b, " ");
		row_subject(row, b);
	}
	if (outcome && strcmp(outcome, obj_str(row, "reason") ? obj_str(row, "reason") : "") != 0)
		visible_addf(b, " %s", outcome);
	if (code >= 400)
		visible_addf(b, " (%" PRId64 ")", code);
	if (obj_has(row, "actor")) {
		visible_adds(b, " by ");
		row_who(row, b);
	}
	if (obj_len(obj_path(row, "body.changed")))
		strbuf_addc(b, ':');
	changed_paths(row, b);
	if (obj_str(row, "body.message"))
		visible_addf(b, ": %s", obj_str(row, "body.message"));
	if (more > 0)
		visible_addf(b, ", and %" PRId64 " more like it", more);
}

static void plan_row(const struct obj *row, struct strbuf *b)
{
	const struct obj *counts = obj_path(row, "body.counts");
	size_t from = b->len;
	OBJ_EACH (it, counts) {
		int64_t v = 0;
		add_sep(b, from);
		if (obj_as_i64(it.value, &v))
			visible_addf(b, "%" PRId64 " to %s", v, it.key);
	}
	int64_t n = obj_i64(row, "body.count", 0);
	if (n && b->len == from)
		visible_addf(b, "%" PRId64 " write%s", n, n == 1 ? "" : "s");
	add_plan(row, "body.plan", from, b);
}

static void detail(const struct obj *row, const struct obj *plan, const struct obj *cause,
		   bool beside, struct strbuf *b)
{
	const char *type = obj_str(row, "type");
	if (!type)
		return;
	if (!strcmp(type, "Transition"))
		transition(row, plan, cause, b);
	else if (!strcmp(type, "Approval"))
		approval(row, b);
	else if (!strcmp(type, "Decision"))
		decision(row, b);
	else if (!strcmp(type, "Observe"))
		observe(row, beside, b);
	else if (!strcmp(type, "Write"))
		write_row(row, beside, b);
	else if (!strcmp(type, "Plan"))
		plan_row(row, b);
	else {
		const char *message = obj_str(row, "body.message");
		const char *what = obj_str(row, "body.what");
		visible_adds(b, message ? message : what ? what : "");
	}
}

void row_detail(const struct obj *row, const struct obj *plan, const struct obj *cause,
		struct strbuf *b)
{
	detail(row, plan, cause, false, b);
}

void row_detail_beside(const struct obj *row, const struct obj *plan, const struct obj *cause,
		       struct strbuf *b)
{
	detail(row, plan, cause, true, b);
}
