#include "alm/cli/kube/transition_log.h"

#include <string.h>

#include "alm/audit/row_text.h"
#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/cli/term.h"
#include "alm/obj/obj.h"

static const struct resource records = {"audit.app.coreos.com", "v1alpha1", "auditrecords",
					"AuditRecord", false};

struct transition_log {
	struct session_watch *watch;
	const char *name, *dotted; /* ".NAME." */
};

/* The object's own transitions and decisions, those of its strategies, and news of catalogs. */
static bool concerns(const struct transition_log *l, const struct obj *row)
{
	const char *type = obj_str(row, "type"), *reason = obj_str(row, "reason");
	const char *name = obj_str(row, "subject.name"), *app = obj_str(row, "body.app");
	if (!type || !reason || !strcmp(reason, "Refreshed"))
		return false;
	if (!strcmp(reason, "CatalogChanged"))
		return true;
	if (strcmp(type, "Transition") != 0 && strcmp(type, "Decision") != 0 &&
	    strcmp(type, "Approval") != 0)
		return false;
	if (name && !strcmp(name, l->name))
		return true;
	/* install.VERSION.NAME.TYPE is a strategy of the app */
	if (name && cstr_has_prefix(name, "install.") &&
	    str_contains(str_of(name), str_of(l->dotted)))
		return true;
	return app && !strcmp(app, l->name);
}

static void on_event(void *arg, const struct obj *event)
{
	const struct transition_log *l = arg;
	const struct obj *row = obj_get(event, "object");
	const char *type = obj_str(event, "type"), *message = obj_str(row, "body.message");
	const char *reason = obj_str(row, "reason"), *version = obj_str(row, "body.version.to");
	char time[CLOCK_TEXT_MAX];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	if (!type || strcmp(type, "ADDED") != 0 || !concerns(l, row))
		return;
	clock_format(row_time_us(row) * NS_PER_US, CLOCK_SECONDS, time);
	/* a plan is one of its strategy: story.md 4 */
	if (message && row_tells_plan(row))
		visible_addf(&b, "%s, ", obj_str(row, "subject.name"));
	if (message)
		visible_adds(&b, message);
	else if (version)
		visible_adds(&b, version);
	else
		row_detail(row, NULL, NULL, &b);
	term_error("%.8s %-15s %s\n", strlen(time) > 11 ? time + 11 : time, reason, b.buf);
}

/* The wait goes on without. */
static void on_closed(void *arg, const struct error *err)
{
	(void)arg;
	term_error("--logs: the log tells no more: %s\n",
		   err && err->code ? err->msg : "the server has ended its watch");
}

const char *transition_log_missing(const struct error *err, struct arena *a)
{
	const char *todo =
		err->code == E_FORBIDDEN
			? "ClusterRole alm-audit-reader gives the right to read them"
		: err->code == E_UNAVAILABLE
			? "whoever serves them (alm controller --records-listen) does not "
			  "answer"
			: "on a cluster the chart serves them with --set "
			  "auditRecords.enabled=true (deploy/README.md)";
	return arena_fmt(a,
			 "--logs: no transitions are told, as auditrecords."
			 "audit.app.coreos.com cannot be read: %s; %s",
			 err->msg, todo);
}

struct transition_log *transition_log_start(struct session *s, struct arena *a, const char *name)
{
	struct error err = ERROR_INIT;
	const struct obj *list = NULL;
	if (session_get(s, session_target(s, &records, NULL, NULL, "limit=1"), &list, &err) < 0) {
		term_error("%s\n", transition_log_missing(&err, a));
		return NULL;
	}
	if (!obj_len(obj_get(list, "items"))) { /* a log has the entry that opened it */
		term_error("--logs: no transitions are told: the server keeps no audit log "
			   "(--no-audit)\n");
		return NULL;
	}
	struct transition_log *l = xcalloc(1, sizeof(*l));
	const char *rv = obj_str(list, "metadata.resourceVersion");
	l->name = name;
	l->dotted = arena_fmt(a, ".%s.", name);
	l->watch = session_watch_start(
		s,
		session_target(s, &records, NULL, NULL,
			       arena_fmt(a, "watch=true&resourceVersion=%s", rv ? rv : "")),
		ACCEPT_JSON, on_event, on_closed, l);
	return l;
}

void transition_log_free(struct transition_log *l)
{
	if (!l)
		return;
	session_watch_free(l->watch);
	xfree(l);
}
