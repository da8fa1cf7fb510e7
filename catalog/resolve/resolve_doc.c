#include "catalog/resolve/resolve_doc.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/obj/condition.h"
#include "catalog/resolve/resolve_internal.h"
#include "catalog/resolve/resolve_relax.h"
#include "crds/defaults.h"

/* --- status --- */

static void set_list(struct obj *o, const char *key, const char *const *items, size_t n)
{
	obj_del(o, key);
	if (!n)
		return;
	struct obj *list = obj_list();
	for (size_t i = 0; i < n; i++)
		obj_append(list, obj_string(items[i]));
	obj_set(o, key, list);
}

static void set_way_out(const struct resolve_input *in, const struct candidate *c, struct arena *a,
			struct obj *o)
{
	struct relaxation x;
	resolve_relax(in, c->version, a, &x);
	size_t n_kubectl, n_steps;
	const char *const *steps = resolve_steps(&x, a, &n_steps);
	const char *const *kubectl = resolve_kubectl(in, &x, a, &n_kubectl);
	set_list(o, "steps", steps, n_steps);
	set_list(o, "kubectl", kubectl, n_kubectl);
	if (x.stuck)
		obj_set_str(o, "stuck", x.stuck);
}

static const char *chosen_text(const struct resolve_input *in, const struct resolution *r,
			       struct arena *a)
{
	const char *s = in->installed_version ? in->installed_version : "",
		   *gate = resolve_gate_text(r, in->now_ns, a);
	for (size_t i = 0; i < r->n_path; i++)
		s = arena_fmt(a, "%s -> %s", s, r->path[i]);
	for (size_t i = 0; i < r->chosen->n_dependencies; i++) {
		const struct dependency *d = &r->chosen->dependencies[i];
		if (d->add || d->upgrade)
			s = arena_fmt(a, "%s%s%s %s %s", s, *s ? "; " : "",
				      d->add ? "installs" : "upgrades", d->package, d->version);
	}
	return gate ? arena_fmt(a, "%s%s%s", s, *s ? "; " : "", gate) : s;
}

static struct obj *candidate_obj(const struct resolve_input *in, const struct resolution *r,
				 const struct candidate *c, struct arena *a)
{
	char seen[CLOCK_TEXT_MAX];
	struct obj *o = obj_map();
	int64_t first = in->first_seen ? in->first_seen(in->arg, c->version) : 0;
	clock_format(first ? first : in->now_ns, CLOCK_SECONDS, seen);
	obj_set_str(o, "version", c->version);
	obj_set_bool(o, "installable", c->installable || c->installed);
	obj_set_str(o, "reason", c->installed ? "Installed" : c->chosen ? "Chosen" : c->reason);
	const char *message = c->message;
	if (c->chosen)
		message = chosen_text(in, r, a);
	if (!c->installed && message && *message)
		obj_set_str(o, "message", message);
	obj_set_str(o, "firstSeen", seen);
	if (!c->installed) {
		set_list(o, "dropped", c->dropped, c->n_dropped);
		set_list(o, "explanation", c->explanation, c->n_explanation);
	}
	return o;
}

static bool is_newer(const struct resolver *r, const struct candidate *c)
{
	return !r->in->installed_version || version_cmp(&c->parsed, &r->installed) > 0;
}

/* Blocked ones first of all; and the next few that are newer. */
static bool is_told(const struct resolver *r, const struct resolution *x, const struct candidate *c,
		    const char *always, size_t n_told)
{
	if (c->installed || c->installable || !c->reason)
		return false;
	if (c == x->blocked || (always && !strcmp(always, c->version)))
		return true;
	return n_told < DOC_RELAXED_MAX && is_newer(r, c) && strcmp(c->reason, "NotEvaluated") != 0;
}

static void set_candidates(const struct resolve_input *in, const struct resolution *r,
			   const char *always, struct arena *a, struct obj *status)
{
	struct obj *list = obj_list();
	struct resolver parsed = {.in = in, .a = a};
	struct error err;
	size_t must = 0, n_told = 0;
	if (in->installed_version && version_parse(str_of(in->installed_version), VERSION_STRICT,
						   &parsed.installed, &err) < 0)
		parsed.installed = (struct version){0};
#define NEEDED(c)                                              \
	((c)->installed || (c)->chosen || (c) == r->blocked || \
	 (always && !strcmp(always, (c)->version)))
	for (size_t i = 0; i < r->n; i++)
		must += NEEDED(&r->candidates[i]);
	for (size_t i = 0; i < r->n; i++) {
		const struct candidate *c = &r->candidates[i];
		must -= NEEDED(c);
		if (!NEEDED(c) && obj_len(list) + must >= RESOLVE_CANDIDATES_MAX)
			continue;
		struct obj *o = candidate_obj(in, r, c, a);
		if (is_told(&parsed, r, c, always, n_told)) {
			set_way_out(in, c, a, o);
			n_told++;
		}
		obj_append(list, o);
	}
	int64_t omitted = (int64_t)(r->n - obj_len(list));
	obj_del(status, "candidates");
	obj_del(status, "candidatesOmitted");
	if (obj_len(list))
		obj_set(status, "candidates", obj_ref(list));
	if (omitted)
		obj_set_int(status, "candidatesOmitted", omitted);
	obj_unref(list);
}

void resolve_set_status(const struct resolve_input *in, const struct resolution *r,
			const char *always, struct arena *a, struct obj *status)
{
	set_list(status, "path", r->path, r->n_path);
	obj_del(status, "availableVersion");
	if (r->available)
		obj_set_str(status, "availableVersion", r->available->version);
	set_candidates(in, r, always, a, status);
}

struct obj *resolve_doc(const struct resolve_input *in, const struct resolution *r,
			const char *always, struct arena *a)
{
	struct obj *o = obj_map(), *status = obj_map(), *conditions = obj_list();
	obj_set_path(o, "metadata.name", obj_string(in->app));
	obj_set_path(o, "spec.upgrade.mode", obj_string(in->mode ? in->mode : "Automatic"));
	obj_set_path(o, "spec.channel", obj_string(in->channel ? in->channel : APPTYPE_CHANNEL));
	obj_set_path(o, "spec.version", obj_string(in->range ? in->range : ""));
	if (in->installed_version)
		obj_set_str(status, "installedVersion", in->installed_version);
	if (r->catalog)
		obj_set_path(status, "source.catalog", obj_string(r->catalog));
	resolve_set_status(in, r, always, a, status);
	struct condition resolved = {.type = "Resolved",
				     .status = "Unknown",
				     .reason = r->reason ? r->reason : "NoCandidate",
				     .message = r->message ? r->message : ""};
	condition_set(conditions, &resolved, in->now_ns);
	obj_set(status, "conditions", conditions);
	obj_set(o, "status", status);
	return o;
}

/* --- text --- */

static const char *or_else(const char *s, const char *fallback)
{
	return s && *s ? s : fallback;
}

struct columns {
	int version, reason;
};

static void widen(int *width, const char *text)
{
	int n = text ? (int)strlen(text) : 0;
	if (n > *width && n <= 40)
		*width = n;
}

static bool is_counted(const struct obj *c)
{
	return cstr_eq(obj_str(c, "reason"), "NotNewer");
}

static struct columns measure(const struct obj *list, bool wide)
{
	struct columns w = {11, 16};
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *c = obj_at(list, i);
		if (!wide && is_counted(c))
			continue;
		widen(&w.version, obj_str(c, "version"));
		widen(&w.reason, obj_str(c, "reason"));
	}
	return w;
}

static void print_row(const struct obj *c, struct columns w, struct strbuf *b)
{
	const char *reason = or_else(obj_str(c, "reason"), "installable"),
		   *message = or_else(obj_str(c, "message"), ""),
		   *verdict = obj_flag(c, "installable", false) ? "yes" : "no";
	if (!strcmp(reason, "Installed")) {
		verdict = "-";
		reason = "installed";
	} else if (!strcmp(reason, "Chosen")) {
		reason = "chosen";
	} else if (!strcmp(reason, "NotEvaluated")) {
		verdict = "?";
	}
	visible_addf(b, "  %-*s %-4s ", w.version, obj_str(c, "version"), verdict);
	if (*message)
		visible_addf(b, "%-*s %s\n", w.reason, reason, message);
	else
		visible_addf(b, "%s\n", reason);
}

static void print_head(const struct obj *o, const char *revision, struct strbuf *b)
{
	const char *installed = obj_str(o, "status.installedVersion"),
		   *catalog = obj_str(o, "status.source.catalog");
	if (!catalog)
		catalog = obj_str(o, "spec.catalog");
	visible_addf(b, "%s  %s%s  %s", obj_str(o, "metadata.name"),
		     installed ? "installed " : "not installed", or_else(installed, ""),
		     or_else(obj_str(o, "spec.upgrade.mode"), "Automatic"));
	if (catalog)
		visible_addf(b, "  %s", catalog);
	if (catalog && revision)
		visible_addf(b, "@sha256:%.4s…", revision);
	visible_addf(b, "  channel %s  range %s\n",
		     or_else(obj_str(o, "spec.channel"), APPTYPE_CHANNEL),
		     or_else(obj_str(o, "spec.version"), "*"));
}

static void print_foot(int64_t n_lower, const char *seq, struct strbuf *b)
{
	if (n_lower)
		visible_addf(b, "  %lld lower version%s: NotNewer", (long long)n_lower,
			     n_lower == 1 ? "" : "s");
	if (seq)
		visible_addf(b, "%saudit #%s", n_lower ? "    " : "  ", seq);
	if (n_lower || seq)
		visible_addf(b, "\n");
}

void resolve_print(const struct obj *apptype, const char *revision, const char *seq, bool wide,
		   struct strbuf *b)
{
	const struct obj *list = obj_path(apptype, "status.candidates");
	int64_t n_lower = obj_i64(apptype, "status.candidatesOmitted", 0);
	struct columns w = measure(list, wide);
	struct condition resolved;
	print_head(apptype, revision, b);
	for (size_t i = 0; i < obj_len(list); i++) {
		if (!wide && is_counted(obj_at(list, i)))
			n_lower++;
		else
			print_row(obj_at(list, i), w, b);
	}
	if (!obj_len(list) && condition_get(apptype, "Resolved", &resolved))
		visible_addf(b, "  %s: %s\n", resolved.reason, resolved.message);
	print_foot(n_lower, seq, b);
}

const struct obj *resolve_doc_candidate(const struct obj *apptype, const char *version)
{
	const struct obj *list = obj_path(apptype, "status.candidates");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "version"), version))
			return obj_at(list, i);
	return NULL;
}

/* "COMMAND # what it does; what comes first" over two lines. */
static void print_step(size_t n, const char *step, struct strbuf *b)
{
	struct str command, rest, first;
	if (!str_cut(str_of(step), '#', &command, &rest)) {
		visible_addf(b, "  %zu. %s\n", n, step);
		return;
	}
	bool more = str_cut(str_trim(rest), ';', &rest, &first);
	command = str_trim(command);
	visible_addf(b, command.len > 51 ? "  %zu. %.*s\n     %.*s\n" : "  %zu. %-51.*s %.*s\n", n,
		     STR_ARG(command), STR_ARG(str_trim(rest)));
	if (more)
		visible_addf(b, "     %.*s\n", STR_ARG(str_trim(first)));
}

static void print_list(const struct obj *list, const char *indent, struct strbuf *b)
{
	for (size_t i = 0; i < obj_len(list); i++)
		visible_addf(b, "%s%s\n", indent, obj_as_string(obj_at(list, i)));
}

static void print_why(const struct obj *c, struct strbuf *b)
{
	const struct obj *dropped = obj_get(c, "dropped");
	const char *reason = obj_str(c, "reason"), *message = obj_str(c, "message");
	if (cstr_eq(reason, "ResourceDropped") && obj_len(dropped)) {
		visible_adds(b, "it no longer manages ");
		for (size_t i = 0; i < obj_len(dropped); i++)
			visible_addf(b, "%s%s", i ? ", " : "", obj_as_string(obj_at(dropped, i)));
	} else {
		visible_addf(b, "%s%s%s", or_else(reason, "unknown"), message ? ": " : "",
			     or_else(message, ""));
	}
}

static bool has_step(const struct obj *steps, const char *command)
{
	for (size_t i = 0; i < obj_len(steps); i++)
		if (cstr_has_prefix(obj_as_string(obj_at(steps, i)), command))
			return true;
	return false;
}

static void print_waiver(const struct obj *c, const char *name, const char *resource,
			 struct strbuf *b)
{
	CLEANUP(strbuf_release) struct strbuf command = STRBUF_INIT(STRBUF_SMALL);
	visible_addf(&command, "alm upgrade %s --to %s --accept-dropped %s --reason TEXT", name,
		     obj_str(c, "version"), resource);
	if (!has_step(obj_get(c, "steps"), command.buf))
		visible_addf(b, "  %s   # never covers a stored version\n", command.buf);
}

/* What lifts nothing but is another answer: the version is no longer wanted. */
static void print_wide(const struct obj *apptype, const struct obj *c, struct strbuf *b)
{
	const struct obj *kubectl = obj_get(c, "kubectl");
	if (obj_len(kubectl)) {
		visible_addf(b, "With kubectl alone:\n");
		print_list(kubectl, "  ", b);
	}
	const char *name = obj_str(apptype, "metadata.name"), *version = obj_str(c, "version");
	visible_addf(b, "Other ways out:\n");
	const struct obj *dropped = obj_get(c, "dropped");
	for (size_t i = 0; i < obj_len(dropped) && !obj_has(c, "stuck"); i++)
		print_waiver(c, name, obj_as_string(obj_at(dropped, i)), b);
	visible_addf(b,
		     "  kubectl patch apptype %s --type=merge -p '{\"spec\":{\"version\":\"<%s\"}}'"
		     "   # stay below it\n",
		     name, version);
}

void resolve_print_refusal(const struct obj *apptype, const struct obj *c, bool wide,
			   struct strbuf *b)
{
	const struct obj *steps = obj_get(c, "steps"), *lines = obj_get(c, "explanation");
	const char *stuck = obj_str(c, "stuck");
	visible_addf(b, "%s %s is not installable: ", obj_str(apptype, "metadata.name"),
		     obj_str(c, "version"));
	if (obj_len(lines)) {
		visible_addf(b, "what it requires cannot be had.\n");
		print_list(lines, "  ", b);
		if (obj_len(steps))
			visible_addf(b, "It would be after (checked by resolving again):\n");
	} else {
		print_why(c, b);
		visible_addf(b, obj_len(steps)
					? ". It would be after (checked by resolving again):\n"
					: ".\n");
	}
	for (size_t i = 0; i < obj_len(steps); i++)
		print_step(i + 1, obj_as_string(obj_at(steps, i)), b);
	if (stuck)
		visible_addf(b, "No change to this app helps: %s.\n", stuck);
	if (wide)
		print_wide(apptype, c, b);
}
