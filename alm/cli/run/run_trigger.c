#include "alm/cli/run/run_trigger.h"

#include <string.h>

#include "alm/cli/run/run_sql.h"
#include "alm/cli/term.h"
#include "alm/render/plugins.h"
#include "alm/render/render_job.h"
#include "alm/render/sql_rows.h"

#define ANSWER_ARENA ((size_t)64 << 20)

struct run_trigger {
	struct run_trigger_config c;
	struct timer tick;
	struct plugin_call *call;
	struct render_call read; /* of rows */
	struct obj *record;      /* of the plugin; owned; NULL: none */
};

/* One that failed is told and asked again: what runs goes on. */
static void told(struct run_trigger *t, const struct error *err, int64_t after_ns)
{
	if (err) {
		term_error("alm: %s; asked again in an interval\n", err->msg);
		(void)term_flush();
	}
	loop_arm(t->c.loop, &t->tick, after_ns ? after_ns : t->c.interval_ns);
}

static int begin_runs(struct run_trigger *t, const struct obj *runs, struct error *err)
{
	for (size_t i = 0; i < obj_len(runs); i++) {
		const struct obj *one = obj_at(runs, i);
		if (run_key(t->c.run, obj_str(one, "key"), obj_get(one, "config"), err) < 0)
			return -err->code;
	}
	return 0;
}

static void on_answer(void *arg, struct obj *answer, const struct error *failed)
{
	struct run_trigger *t = arg;
	CLEANUP(arena_freep) struct arena *a = arena_new(ANSWER_ARENA);
	struct error err = failed ? *failed : ERROR_INIT;
	struct plugin_answer said = {0};
	t->call = NULL;
	if (answer)
		obj_keep(a, answer);
	if (!failed && plugin_answer_read(answer, PLUGIN_TRIGGER, a, &said, &err) < 0)
		(void)error_wrap(&err, "PluginFailed: trigger-%s", t->c.plugin);
	if (!err.code) {
		obj_unref(STEAL(t->record));
		t->record = said.record ? obj_copy(said.record) : NULL;
		(void)begin_runs(t, said.runs, &err);
	}
	told(t, err.code ? &err : NULL, said.poll_ns);
}

/* --- rows --- */

static void on_rows(void *arg, struct obj *answer, const struct error *failed)
{
	struct run_trigger *t = arg;
	CLEANUP(arena_freep) struct arena *a = arena_new(ANSWER_ARENA);
	struct error err = failed ? *failed : ERROR_INIT;
	const struct obj *runs = NULL;
	if (answer)
		obj_keep(a, answer);
	if (!failed && sql_runs(t->c.sql, obj_get(answer, "rows"), a, &runs, &err) < 0)
		(void)error_wrap(&err, "%s", t->c.sql->path);
	if (!err.code)
		(void)begin_runs(t, runs, &err);
	told(t, err.code ? &err : NULL, 0);
}

static void read_rows(struct run_trigger *t)
{
	struct error err = ERROR_INIT;
	t->read = (struct render_call){.done = on_rows, .arg = t, .name = t->c.sql->path};
	if (sql_rows_start(t->c.sandbox, t->c.sql->path, t->c.sql->query, &t->read, &err) < 0)
		told(t, &err, 0);
}

static void ask(void *arg)
{
	struct run_trigger *t = arg;
	if (t->c.sql) {
		read_rows(t);
		return;
	}
	CLEANUP(obj_unrefp) struct obj *request = obj_map();
	obj_set_str(request, "name", t->c.plugin);
	obj_set(request, "record", t->record ? obj_ref(t->record) : obj_null());
	t->call = plugins_ask(t->c.plugins, PLUGIN_TRIGGER, t->c.plugin, request, 0, on_answer, t);
}

struct run_trigger *run_trigger_new(const struct run_trigger_config *c)
{
	struct run_trigger *t = xcalloc(1, sizeof(*t));
	t->c = *c;
	t->tick = (struct timer){.fn = ask, .arg = t};
	return t;
}

void run_trigger_start(struct run_trigger *t)
{
	ask(t);
}

void run_trigger_free(struct run_trigger *t)
{
	if (!t)
		return;
	loop_disarm(t->c.loop, &t->tick);
	if (t->call)
		plugins_cancel(t->call);
	render_job_cancel(&t->read);
	obj_unref(t->record);
	xfree(t);
}
