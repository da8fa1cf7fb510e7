/* manager_fixture: see manager_fixture.h. */
#include "tests/lib/manager_fixture.h"

#include <string.h>

#include "alm/audit/audit.h"
#include "alm/base/file.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/render/flat_job.h"
#include "alm/render/render_job.h"
#include "alm/sources/source_jobs.h"
#include "installers/chart/archive.h"
#include "tests/lib/apifake_expect.h"
#include "tests/lib/test.h"

#define STEP_NS         (50 * NS_PER_MS)
#define TEXT_MAX        ((size_t)4 << 20)
#define SENT_MAX        ((size_t)64 << 20)
#define CRD_BYTES       ((size_t)4 << 20)
#define CHART_FILES_MAX 16

struct fixture_file {
	struct strbuf bytes;
	struct file_info info;
};

/* --- the network --- */

static bool matches(const char *pattern, const char *path)
{
	size_t n = strlen(pattern);
	if (n && pattern[n - 1] == '*')
		return strncmp(pattern, path, n - 1) == 0;
	return !strcmp(pattern, path);
}

static struct manager_strike *strike_for(struct manager_fixture *f, const struct http_request *r)
{
	for (size_t i = 0; i < f->n_strikes; i++) {
		struct manager_strike *s = &f->strikes[i];
		if (s->hit < s->times && (!s->method || !strcmp(s->method, r->method)) &&
		    matches(s->path, r->path))
			return s;
	}
	return NULL;
}

static void refuse(struct exchange *x, int status)
{
	struct http_headers h = {0};
	exchange_reply(x, status, &h, STR("struck"));
}

static void handle(void *arg, struct exchange *x)
{
	struct manager_fixture *f = arg;
	const struct http_request *r = x->request;
	const char *as = http_header(&r->headers, "Impersonate-User");
	strbuf_addf(&f->sent, "%s %s%s%s %s\n", r->method, r->path,
		    r->query && *r->query ? "?" : "", r->query ? r->query : "", as ? as : "");
	struct manager_strike *s = strike_for(f, r);
	if (s)
		s->hit++;
	if (!s)
		apiserver_handle(apifake_server(f->server), x);
	else if (s->status)
		refuse(x, s->status);
	else if (f->n_held < FIXTURE_HELD_MAX)
		f->held[f->n_held++] = x;
}

struct manager_strike *manager_fixture_strike(struct manager_fixture *f, const char *method,
					      const char *path, int status, unsigned times)
{
	assert_true(f->n_strikes < FIXTURE_STRIKES_MAX);
	struct manager_strike *s = &f->strikes[f->n_strikes++];
	*s = (struct manager_strike){method, path, status, times, 0};
	return s;
}

/* --- files --- */

static void file_free(void *p)
{
	struct fixture_file *x = p;
	strbuf_release(&x->bytes);
	xfree(x);
}

static void put_file(struct manager_fixture *f, const char *path, struct str bytes)
{
	struct fixture_file *x = xcalloc(1, sizeof(*x));
	strbuf_init(&x->bytes, TEXT_MAX);
	strbuf_addstr(&x->bytes, bytes);
	x->info = (struct file_info){.is_regular = true,
				     .mode = 0644,
				     .size = bytes.len,
				     .mtime_ns = loop_now(f->loop),
				     .inode = ++f->n_files};
	map_set(f->files, path, x);
}

void manager_fixture_file(struct manager_fixture *f, const char *path, const char *text)
{
	if (text)
		put_file(f, path, str_of(text));
	else
		map_del(f->files, path);
}

void manager_fixture_chart_of(struct manager_fixture *f, const char *dir, const char *name,
			      const char *version, const char *const *more)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(TEXT_MAX);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(TEXT_MAX);
	struct error err = ERROR_INIT;
	const char *chart = arena_fmt(a, "apiVersion: v2\nname: %s\nversion: %s\n", name, version);
	struct archive_file items[CHART_FILES_MAX] = {
		{.path = "Chart.yaml", .data = str_of(chart)}};
	struct archive_files files = {.items = items, .n = 1, .cap = CHART_FILES_MAX};
	for (; *more; more += 2) {
		assert_true(files.n < files.cap);
		items[files.n++] = (struct archive_file){.path = more[0], .data = str_of(more[1])};
	}
	assert_ok(archive_write(&files, name, &packed, &err), &err);
	put_file(f, arena_fmt(a, "%s/%s-%s.tgz", dir, name, version), strbuf_str(&packed));
}

void manager_fixture_chart(struct manager_fixture *f, const char *dir, const char *name,
			   const char *version, const char *template)
{
	const char *const more[] = {"templates/all.yaml", template, NULL};
	manager_fixture_chart_of(f, dir, name, version, more);
}

static int list(void *arg, const char *dir, char ***ret_names, size_t *ret_n, struct error *err)
{
	struct manager_fixture *f = arg;
	CLEANUP(strbuf_release) struct strbuf prefix = STRBUF_INIT(STRBUF_SMALL);
	char **names = xcalloc(map_count(f->files) + 1, sizeof(*names));
	size_t n = 0;
	strbuf_addf(&prefix, "%s/", dir);
	for (const struct map_entry *e = map_first(f->files); e; e = map_next(e))
		if (cstr_has_prefix(e->key, prefix.buf))
			names[n++] = xstrdup(e->key + prefix.len);
	if (!n) {
		xfree(names);
		return error_set(err, E_NOTFOUND, "%s: no such folder", dir);
	}
	*ret_names = names;
	*ret_n = n;
	return 0;
}

static int info(void *arg, const char *path, struct file_info *ret, struct error *err)
{
	struct manager_fixture *f = arg;
	const struct fixture_file *x = map_get(f->files, path);
	if (x)
		*ret = x->info;
	else if (!strcmp(path, FIXTURE_GIT))
		*ret = (struct file_info){.is_dir = true, .mode = 0755};
	else
		return error_set(err, E_NOTFOUND, "%s: no such file", path);
	return 0;
}

static int read_bytes(void *arg, const char *path, struct strbuf *b, struct error *err)
{
	struct manager_fixture *f = arg;
	const struct fixture_file *x = map_get(f->files, path);
	if (!x)
		return error_set(err, E_NOTFOUND, "%s: no such file", path);
	strbuf_addstr(b, strbuf_str(&x->bytes));
	return 0;
}

/* --- life --- */

static int resolve(void *arg UNUSED, const struct program_call *call UNUSED, struct strbuf *output,
		   struct strbuf *errors UNUSED)
{
	strbuf_adds(output, "93.184.215.14 STREAM host\n");
	return 0;
}

static void define_kinds(struct manager_fixture *f)
{
	static const char *const names[] = {"apptype", "bundle",  "catalog",
					    "install", "rollout", "strategy"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(CRD_BYTES);
		struct error err = ERROR_INIT;
		strbuf_addf(&path, "crds/%s.yaml", names[i]);
		assert_ok(file_read(path.buf, &text, &err), &err);
		struct answer a =
			apifake_do_type(f->server, "POST",
					"/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
					"application/yaml", text.buf);
		assert_int_equal(a.status, 201);
	}
}

static void open_log(struct manager_fixture *f)
{
	struct error err = ERROR_INIT;
	struct db_config dc = {.path = ":memory:"};
	assert_ok(db_open(&dc, &f->db, &err), &err);
	struct audit_config ac = {.db = f->db, .loop = f->loop};
	assert_ok(audit_open(&ac, &f->audit, &err), &err);
}

static void begin(struct manager_fixture *f)
{
	f->transport = transport_local_new(f->loop, handle, f, "secret");
	f->client = client_new(f->loop, f->transport);
	if (f->c.commits)
		f->programs = programs_fake_new(f->loop, f->rows, NULL, NULL);
	struct manager_config c = {
		.loop = f->loop,
		.client = f->client,
		.audit = f->db ? f->audit : apifake_audit(f->server),
		.db = f->db ? f->db : apifake_db(f->server),
		.same_process = !f->db,
		.files = &f->source,
		.addresses = f->c.addresses,
		.watch_dirs = f->c.watch_dirs,
		.settings = {.verify_soak_ns = 10 * NS_PER_S, .simulated = true},
		.sandbox = f->sandbox,
		.programs = f->programs,
		.metrics = f->metrics,
		.git_dir = "mirrors", /* it is not there: git_table has no files */
	};
	f->manager = manager_new(&c);
	manager_start(f->manager);
}

static void end(struct manager_fixture *f)
{
	manager_free(STEAL(f->manager));
	programs_free(STEAL(f->programs));
	client_free(f->client);
	while (f->n_held)
		refuse(f->held[--f->n_held], 500);
	transport_free(f->transport);
}

void manager_fixture_init(struct manager_fixture *f, const struct manager_fixture_config *c)
{
	static const struct sandbox_job jobs[] = {
		{RENDER_JOB, render_job, NULL}, {FILES_JOB, files_job, NULL}, SOURCE_JOBS, {0}};
	*f = (struct manager_fixture){.c = c ? *c : (struct manager_fixture_config){0}};
	const struct apifake_options o = {
		.with_audit = true, .simulate = true, .own_controllers = !f->c.beside};
	f->server = apifake_new(&o);
	f->loop = apifake_loop(f->server);
	f->metrics = metrics_new();
	f->sandbox = sandbox_inline_new(f->loop, f->c.jobs ? f->c.jobs : jobs);
	f->files = map_new(file_free);
	f->source = (struct source_files){.list = list, .info = info, .read = read_bytes, .arg = f};
	f->git = (struct git_table){.commits = f->c.commits};
	const struct program_fake_row rows[] = {{"git", git_table, &f->git},
						{"rm", git_table_nothing, NULL},
						{"mv", git_table_nothing, NULL},
						{"getent", resolve, NULL},
						{0}};
	memcpy(f->rows, rows, sizeof(rows));
	strbuf_init(&f->sent, SENT_MAX);
	f->a = arena_new(TEXT_MAX);
	define_kinds(f);
	if (f->c.beside) {
		manager_fixture_do(f, "POST", "/api/v1/namespaces",
				   "{\"metadata\":{\"name\":\"alm-system\"}}", 201);
		open_log(f);
	}
	begin(f);
	manager_fixture_run(f, NS_PER_S);
	assert_true(manager_is_synced(f->manager));
}

void manager_fixture_restart(struct manager_fixture *f)
{
	end(f);
	begin(f);
}

void manager_fixture_release(struct manager_fixture *f)
{
	end(f);
	if (f->db) {
		audit_close(f->audit);
		db_close(f->db);
	}
	sandbox_free(f->sandbox);
	metrics_free(f->metrics);
	map_free(f->files);
	strbuf_release(&f->sent);
	arena_free(f->a);
	apifake_free(f->server);
}

/* --- what a test does and sees --- */

struct answer manager_fixture_do(struct manager_fixture *f, const char *method, const char *target,
				 const char *body, int status)
{
	apifake_forget(f->server); /* what was borrowed before is over */
	return apifake_expect(f->server, method, target, body, status);
}

void manager_fixture_run(struct manager_fixture *f, int64_t ns)
{
	for (int64_t at = 0; at < ns; at += STEP_NS)
		apifake_advance(f->server, ns - at < STEP_NS ? ns - at : STEP_NS);
}

/* "reason" of "@Ready/reason". */
static const char *condition_text(const struct obj *o, const char *field, struct arena *a)
{
	struct str type, part;
	struct condition c;
	if (!str_rcut(str_of(field), '/', &type, &part) ||
	    !condition_get(o, arena_strndup(a, type.ptr, type.len), &c))
		return NULL;
	if (str_is(part, "status"))
		return c.status;
	return str_is(part, "reason") ? c.reason : c.message;
}

const char *manager_fixture_str(struct manager_fixture *f, const char *target, const char *field)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
	apifake_forget(f->server);
	struct answer a = apifake_do(f->server, "GET", target, NULL);
	if (a.status != 200)
		return "";
	const struct obj *o = *field == '@' ? NULL : obj_path(a.json, field);
	const char *ret =
		*field == '@' ? condition_text(a.json, field + 1, f->a) : obj_as_string(o);
	if (!ret && o) {
		json_print(o, &text);
		ret = text.buf;
	}
	return ret ? arena_strdup(f->a, ret) : "";
}

void manager_fixture_await(struct manager_fixture *f, const char *target, const char *field,
			   const char *value, int64_t ns)
{
	for (int64_t at = 0; at <= ns; at += STEP_NS) {
		if (!strcmp(manager_fixture_str(f, target, field), value))
			return;
		apifake_advance(f->server, STEP_NS);
	}
	fail_msg("%s: %s is %s, wanted %s\n%s", target, field,
		 manager_fixture_str(f, target, field), value,
		 manager_fixture_str(f, target, "status"));
}

size_t manager_fixture_sent(const struct manager_fixture *f, const char *method, const char *path)
{
	struct str rest = strbuf_str(&f->sent), line, verb, target, tail;
	size_t n = 0;
	while (str_next_line(&rest, &line)) {
		if (!str_cut(line, ' ', &verb, &tail) || !str_cut(tail, ' ', &target, &tail))
			continue;
		CLEANUP(xfreep) char *text = str_dup(target);
		n += str_is(verb, method) && matches(path, text);
	}
	return n;
}

void manager_fixture_forget(struct manager_fixture *f)
{
	strbuf_clear(&f->sent);
}

size_t manager_fixture_rows(struct manager_fixture *f, const char *type, const char *reason,
			    const char *name)
{
	static const char sql[] = "SELECT count(*) FROM audit WHERE type = ? AND (? = '' OR reason "
				  "= ?) AND (? = '' OR "
				  "name = ?)";
	struct error err = ERROR_INIT;
	struct stmt *s;
	assert_ok(db_prepare(f->db ? f->db : apifake_db(f->server), sql, &s, &err), &err);
	stmt_bind_cstr(s, 1, type);
	for (int i = 0; i < 2; i++) {
		stmt_bind_cstr(s, 2 + i, reason ? reason : "");
		stmt_bind_cstr(s, 4 + i, name ? name : "");
	}
	assert_ok(stmt_step(s, &err), &err);
	size_t n = (size_t)stmt_int(s, 0);
	stmt_reset(s);
	return n;
}

const char *manager_fixture_metric(struct manager_fixture *f, const char *series)
{
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(TEXT_MAX);
	struct str rest, line, name, value;
	metrics_print(f->metrics, &all);
	rest = strbuf_str(&all);
	while (str_next_line(&rest, &line))
		if (str_rcut(line, ' ', &name, &value) && str_is(name, series))
			return arena_strndup(f->a, value.ptr, value.len);
	return "";
}
