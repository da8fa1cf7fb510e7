/* `alm crd migrate CRD --to VERSION`: the work is alm/live/migration.c; here are its options, its
 * progress on a terminal, and what is said at the end. Can be stopped and started anew. */
#include <string.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/cli/app/app_session.h"
#include "alm/cli/cmds.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"
#include "alm/live/migration.h"

#define BAR_CELLS 30

struct run {
	struct cli *c;
	struct session *s;
	const char *crd, *to;
	bool terminal, bar, dry_run, done, data;
	struct obj *report; /* with data */
	int64_t started_ns;
	struct error err;
};

static void draw(void *arg, const struct migration_progress *p)
{
	struct run *r = arg;
	static const char cells[] = "##############################";
	int full = p->total ? (int)(BAR_CELLS * p->done / p->total) : 0;
	if (full > BAR_CELLS)
		full = BAR_CELLS;
	if (!strcmp(p->doing, "waiting")) {
		long long seconds = p->wait_ns / NS_PER_S + 1;
		term_error("waiting %lld s: %s became the storage version just now\n", seconds,
			   r->to);
	} else if (r->terminal && !strcmp(p->doing, "reading")) {
		term_error("\r%zu objects read", p->done);
		r->bar = true;
	} else if (r->terminal && !strcmp(p->doing, "writing")) {
		term_error("\r[%.*s%*s] %zu of %zu written as %s", full, cells, BAR_CELLS - full,
			   "", p->done, p->total, r->to);
		r->bar = true;
	}
}

static void tell_writers(const struct migration_result *m, const char *to, bool refused)
{
	for (size_t i = 0; i < m->n_writers; i++)
		term_error("first change apiVersion to %s in what writes this: %s\n", to,
			   m->writers[i]);
	if (refused && m->n_forget)
		term_error("an entry stays in managedFields when its client writes nothing more, "
			   "as kubectl create; then this forgets it:\n");
	for (size_t i = 0; refused && i < m->n_forget; i++)
		term_error("  %s\n", m->forget[i]);
}

static void set_texts(struct obj *o, const char *key, const char *const *texts, size_t n)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < n; i++)
		obj_append(list, obj_string(texts[i]));
	obj_set(o, key, list);
}

static void set_words(struct obj *o, const char *key, const char *text)
{
	struct obj *list = obj_list();
	struct str rest = str_of(text), word;
	while (str_next(&rest, ' ', &word))
		obj_append(list, obj_stringn(word));
	obj_set(o, key, list);
}

static struct obj *report_of(const struct run *r, const struct migration_result *m, bool refused)
{
	struct obj *o = obj_map();
	obj_set_str(o, "crd", r->crd);
	obj_set_str(o, "to", r->to);
	obj_set_bool(o, "dryRun", r->dry_run);
	obj_set_bool(o, "refused", refused);
	obj_set_int(o, "objects", (int64_t)m->n);
	if (m->was)
		set_words(o, "storedVersionsBefore", m->was);
	if (m->is)
		set_words(o, "storedVersions", m->is);
	set_texts(o, "writers", m->writers, m->n_writers);
	set_texts(o, "steps", m->forget, m->n_forget);
	return o;
}

static void finished(void *arg, const struct migration_result *m, const struct error *err)
{
	struct run *r = arg;
	r->done = true;
	loop_stop(session_loop(r->s));
	if (r->bar)
		term_error("\r%70s\r", "");
	if (r->data && (!err || err->code == E_REFUSED))
		r->report = obj_keep(r->c->arena, report_of(r, m, err != NULL));
	else
		tell_writers(m, r->to, err != NULL);
	if (err) {
		r->err = *err;
		return;
	}
	if (r->data)
		return;
	if (m->n == 1)
		term_print("%s %swritten as %s", m->first, r->dry_run ? "would be " : "", r->to);
	else
		term_print("%zu objects %swritten as %s", m->n, r->dry_run ? "would be " : "",
			   r->to);
	if (m->is)
		term_print("; storedVersions [%s] -> [%s]", m->was, m->is);
	term_print("\n");
}

/* One process keeps all its requests to one definition; others need time to see a new one. */
static int settle_time(struct session *s, int64_t *ret, struct error *err)
{
	const struct obj *version = NULL;
	if (session_get(s, "/version", &version, err) < 0)
		return -err->code;
	const char *git = obj_str(version, "gitVersion");
	*ret = git && strstr(git, "+alm") ? 0 : MIGRATION_SETTLE_NS;
	return 0;
}

static int migrate(struct cli *c, struct run *r, struct error *err)
{
	uint64_t rate = MIGRATION_RATE;
	const char *text = cli_value(c, "rate");
	if (text && (!str_parse_u64(str_of(text), &rate) || rate > 1000000))
		return error_set(err, E_USAGE, "--rate %s: want a number of objects a second",
				 text);
	struct migration_config config = {.client = session_client(r->s),
					  .crd = r->crd,
					  .to = r->to,
					  .by = r->dry_run ? NULL : session_user(r->s),
					  .dry_run = r->dry_run,
					  .ignore_writers = cli_flag(c, "ignore-writers"),
					  .rate = (unsigned)rate,
					  .progress = draw,
					  .done = finished,
					  .arg = r};
	if (settle_time(r->s, &config.settle_ns, err) < 0)
		return -err->code;
	CLEANUP(migration_freep) struct migration *m = migration_start(&config);
	while (!r->done)
		loop_run(session_loop(r->s));
	return r->err.code ? error_copy(err, &r->err) : 0;
}

static int migrate_run(struct cli *c, struct error *err)
{
	struct run r = {.c = c,
			.crd = c->args[0],
			.to = cli_value(c, "to"),
			.dry_run = cli_flag(c, "dry-run"),
			.terminal = isatty(STDERR_FILENO)};
	if (cli_output_data(c, &r.data, err) < 0)
		return -err->code;
	if (!r.to)
		return error_set(err, E_USAGE, "--to VERSION is required");
	int rc = session_open(c, &r.s, err);
	if (!rc)
		rc = migrate(c, &r, err);
	struct error lost = ERROR_INIT;
	if (r.report && cli_print_data(c, r.report, &lost) < 0 && rc >= 0)
		rc = error_copy(err, &lost);
	session_free(r.s);
	return rc;
}

static const struct cmd_option options[] = {
	{"to", "VERSION", "the storage version to write every object as (required)", 0},
	{"rate", "N", "objects a second at most (2000; 0: as fast as the server takes them)", 0},
	{"ignore-writers", NULL, "also while a manager writes through an older version", 0},
	{"dry-run", NULL, "only read: how many objects, and who writes", 0},
	CLI_OUTPUT_OPTION,
	{0},
};

const struct cmd cmd_crd_migrate = {
	.name = "migrate",
	.usage = "alm crd migrate CRD --to VERSION [--dry-run] [-o json]",
	.examples = "alm crd migrate etcds.etcd.coreos.com --to v2",
	.summary = "write every object as the storage version",
	.description =
		"Can be stopped and started anew: it goes on where it was. Refused while a "
		"manager\n"
		"writes through an older version than the one that is stored by now; entries of\n"
		"clients that write nothing more are forgotten by the commands it prints.",
	.options = options,
	.args = {1, 1},
	.run = migrate_run,
};
