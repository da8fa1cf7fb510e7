/*
 * The machine is at its end while a sandbox, a program, a server and so on begin their work (machine_faults.h). What each fault comes to is
 * recorded (tests/golden/io/machine.txt): nothing hangs, no descriptor stays, the next work is done as ever where it can be, and
 * whatever is confined does not run when a wall of it cannot be built.
 *
 * RECORD=1 writes the file anew; a person reads the difference.
 */
#include "tests/unit/alm/io/machine_faults.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>

#include "alm/base/file.h"
#include "alm/base/sanitizer.h"
#include "alm/base/strbuf.h"
#include "alm/io/beneath.h"
#include "alm/io/data_dir.h"
#include "alm/io/lane.h"
#include "alm/io/program.h"
#include "alm/io/sandbox.h"
#include "alm/io/sandbox_fork.h"
#include "tests/lib/http_client.h"
#include "tests/lib/server_fixture.h"

#define RECORDED "tests/golden/io/machine.txt"
#define TEXT_MAX ((size_t)1 << 20)
#define WAIT_NS  (4 * NS_PER_S)

struct scene {
	const char *name;
	void (*play)(struct scene *s);
	struct fixture f; /* the loop, and a server */
	struct strbuf said;
	int n_done;
	enum fault call; /* the fault */
	int depth, at;
	int hazy; /* of what fails so deep, two processes make a race; 0: nothing */
};

static void arm(struct scene *s)
{
	faults_arm(s->call, s->depth, s->at);
}

static void say_error(struct scene *s, const struct error *err)
{
	strbuf_addf(&s->said, "%s (%s)", err->msg, error_reason(err->code));
}

static void say_result(struct scene *s, struct str output, const struct error *err)
{
	s->n_done++;
	if (err)
		say_error(s, err);
	else
		strbuf_addf(&s->said, "ok %.*s", STR_ARG(output));
}

static void wait_for(struct scene *s, int n)
{
	int64_t end = loop_mono(s->f.loop) + WAIT_NS;
	while (s->n_done < n && loop_mono(s->f.loop) < end)
		loop_turn(s->f.loop);
	if (s->n_done < n)
		strbuf_adds(&s->said, "HANGS");
}

/* --- scenes --- */

static int upper(struct str in, struct strbuf *out, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < in.len; i++)
		strbuf_addc(out, char_upper(in.ptr[i]));
	return 0;
}

static void on_job(void *arg, struct str output, const struct error *err)
{
	say_result(arg, output, err);
}

/* A text and a file in, text out; then once more, without a fault. */
static void play_sandbox(struct scene *s)
{
	static const struct sandbox_job jobs[] = {{.name = "upper", .fn = upper}, {.name = NULL}};
	const struct sandbox_config c = {.jobs = jobs};
	CLEANUP(sandbox_freep) struct sandbox *box = NULL;
	struct error err = ERROR_INIT;
	arm(s);
	if (sandbox_process_new(s->f.loop, &c, &box, &err) < 0) {
		say_error(s, &err);
		return;
	}
	if (*sandbox_process_missing(box))
		strbuf_addf(&s->said, "[%s] ", sandbox_process_missing(box));
	for (int i = 0; i < 2; i++) {
		int file = (int)syscall(SYS_openat, AT_FDCWD, "f", O_RDONLY | O_CLOEXEC);
		strbuf_adds(&s->said, i ? "; then " : "");
		sandbox_run_file(box, "upper", STR("hello "), file, NULL, on_job, s);
		wait_for(s, i + 1);
		faults_disarm();
	}
}

static int ask_twice(void *arg, struct sandbox_peer *p)
{
	CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	(void)arg;
	for (int i = 0; i < 2; i++)
		if (sandbox_ask(p, 'a', STR("question"), &answer, &err) < 0)
			return err.code;
	return (int)answer.len;
}

static int serve(void *arg, char kind, struct str request, struct strbuf *answer, struct error *err)
{
	struct scene *s = arg;
	(void)err;
	strbuf_addf(&s->said, "%c:%.*s ", kind, STR_ARG(request));
	strbuf_adds(answer, "answer");
	return 0;
}

static void play_fork(struct scene *s)
{
	const struct sandbox_limits l = {.memory_bytes = SANDBOX_MEMORY_BYTES,
					 .output_bytes = STRBUF_SMALL,
					 .cpu_s = 2,
					 .wall_ns = WAIT_NS};
	struct error err = ERROR_INIT;
	int status = -1;
	void (*before)(int) = signal(SIGPIPE, SIG_DFL);
	arm(s);
	if (sandbox_fork(&l, ask_twice, serve, s, &status, &err) < 0)
		say_error(s, &err);
	else
		strbuf_addf(&s->said, "status %d", status);
	assert_true(signal(SIGPIPE, before) == SIG_DFL);
}

static void on_program(void *arg, const struct program_result *r, const struct error *err)
{
	struct scene *s = arg;
	say_result(s, r->output, err);
	if (!err && r->status)
		strbuf_addf(&s->said, " status %d", r->status);
}

static void play_program(struct scene *s)
{
	static const char *const argv[] = {"cat", "-", "f", NULL};
	CLEANUP(programs_freep) struct programs *p = NULL;
	struct error err = ERROR_INIT;
	char dir[64];
	assert_non_null(getcwd(dir, sizeof(dir)));
	const struct program_call call = {.path = "/bin/cat",
					  .argv = argv,
					  .dir = dir,
					  .offline = true,
					  .input = STR("hello "),
					  .limits = {.wall_ns = WAIT_NS / 2}};
	arm(s);
	if (programs_process_new(s->f.loop, &p, &err) < 0) {
		say_error(s, &err);
		return;
	}
	for (int i = 0; i < 2; i++) {
		strbuf_adds(&s->said, i ? "; then " : "");
		programs_run(p, &call, on_program, s);
		wait_for(s, i + 1);
		faults_disarm();
	}
}

static int double_it(struct lane_parent *p, struct str order, struct error *err)
{
	for (int i = 0; i < 2; i++)
		if (!lane_page(p, order))
			return error_set(err, E_IO, "no reader");
	return 0;
}

static void play_lane(struct scene *s)
{
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(LANE_PAGE_BYTES);
	struct error err = ERROR_INIT;
	struct lane *l = NULL;
	arm(s);
	int r = lane_new(double_it, &l, &err);
	if (r >= 0)
		r = lane_order(l, STR("order"), &err);
	while (r >= 0 && (r = lane_read(l, &page, &err)) > 0)
		strbuf_addf(&s->said, "%s ", page.buf);
	lane_free(l);
	if (r < 0 && !strstr(err.msg, "process")) /* else it has a number */
		say_error(s, &err);
	else
		strbuf_adds(&s->said, r < 0 ? error_reason(err.code) : "end");
}

/* Its files, as an administrator's folder: what is no fault is as it was. */
static void play_beneath(struct scene *s)
{
	struct file_info info;
	enum beneath_kind kind;
	char **names = NULL;
	size_t n = 0;
	int root = -1, fd = -1;
	struct error err = ERROR_INIT;
	arm(s);
	int r = beneath_open_root(".", &info, &root, &err);
	strbuf_addf(&s->said, "root %d", r < 0 ? r : 0);
	if (r < 0) {
		say_error(s, &err);
		return;
	}
	for (int plain = 0; plain < 2; plain++) {
		r = (plain ? beneath_open_plain : beneath_open)(root, "f", &info, &fd, &err);
		if (r < 0)
			say_error(s, &err);
		else
			strbuf_addf(&s->said, ", file of %zu", (size_t)info.size);
		file_close(&fd);
		fd = -1;
	}
	if (beneath_info(root, "f", &info, &err) < 0)
		say_error(s, &err);
	else
		strbuf_addf(&s->said, ", of %zu", (size_t)info.size);
	if (beneath_kind(root, "f", &kind, &err) < 0)
		say_error(s, &err);
	else
		strbuf_addf(&s->said, ", kind %d", (int)kind);
	if (beneath_list(root, "", 10, &names, &n, &err) < 0)
		say_error(s, &err);
	else
		strbuf_addf(&s->said, ", %zu names", n);
	dir_list_free(names, n);
	file_close(&root);
}

/* A file that others may read, of which a fault says nothing: it is 0600 behind, or the fault is told. */
static void play_data_dir(struct scene *s)
{
	struct error err = ERROR_INIT;
	struct stat st;
	assert_int_equal(chmod("d/token", 0644), 0);
	arm(s);
	int r = data_dir_make("d", &err);
	faults_disarm();
	if (r < 0)
		say_error(s, &err);
	assert_int_equal(stat("d/token", &st), 0);
	strbuf_addf(&s->said, " %04o", (unsigned)st.st_mode & 07777u);
	faults->is_armed = true;
	if (credentials_check("d/token", &err) < 0)
		say_error(s, &err);
}

static void on_change(void *arg)
{
	say_result(arg, STR("changed"), NULL);
}

static void play_watch(struct scene *s)
{
	struct error err = ERROR_INIT;
	arm(s);
	struct dir_watch *w = loop_watch_dir(s->f.loop, "d", on_change, s, &err);
	faults_disarm();
	if (!w) {
		say_error(s, &err);
		return;
	}
	assert_ok(file_write_atomic("d/other", STR("x"), 0600, &err), &err);
	wait_for(s, 1);
	dir_watch_free(w);
}

/* Fails where it begins to listen, or where it takes a connection, which it takes later then. */
static void play_server(struct scene *s)
{
	static const char *const hosts[] = {"x"};
	const struct server_config c = {.listen = "127.0.0.1:0", .hosts = hosts, .n_hosts = 1};
	struct error err = ERROR_INIT;
	arm(s);
	if (server_listen(s->f.loop, &c, fixture_handle, &s->f, &s->f.server, &err) < 0) {
		say_error(s, &err);
		return;
	}
	faults->is_armed = false;
	int fd = dial(&s->f);
	ask(fd, "GET", "/echo", NULL, "Connection: close" CRLF);
	faults->is_armed = true;
	strbuf_adds(&s->said, strstr(hear(&s->f, fd, ""), "200") ? "ok" : "no answer");
	faults_disarm();
	(void)close(fd);
}

/* --- each fault of each scene --- */

static int n_open(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/fd");
	assert_non_null(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n;
}

/* "SCENE CALL DEPTH AT: what it came to". */
static void play(struct scene *s, struct strbuf *out)
{
	int before = n_open();
	s->f = (struct fixture){.loop = loop_event_new()};
	strbuf_clear(&s->said);
	s->n_done = 0;
	s->play(s);
	faults_disarm();
	server_free(s->f.server);
	loop_free(s->f.loop);
	if (n_open() != before)
		strbuf_addf(&s->said, "; %d DESCRIPTORS STAY", n_open() - before);
	strbuf_addf(out, "%s %s %d %d: %s\n", s->name, s->at ? call_names[s->call] : "-", s->depth,
		    s->at, s->said.buf);
}

static void play_all(struct scene *s, struct strbuf *out)
{
	struct faults counted;
	s->at = 0;
	play(s, out);
	counted = *faults;
	for (int call = 0; call < CALLS_N; call++)
		for (int of_depth = 0; of_depth < DEPTHS; of_depth++) {
			int n = counted.n[call][of_depth];
			bool skip = of_depth && of_depth == s->hazy;
			for (int at = 1; at <= n && at <= TIMES_MAX && !skip; at++) {
				s->call = (enum fault)call;
				s->depth = of_depth;
				s->at = at;
				play(s, out);
			}
		}
	strbuf_release(&s->said);
}

static void assert_lines(struct str found, struct str want)
{
	struct str a, b;
	while (found.len || want.len) {
		a = b = STR_NONE;
		(void)str_next(&found, '\n', &a);
		(void)str_next(&want, '\n', &b);
		if (!str_eq(a, b))
			fail_msg("found  %.*s\nwanted %.*s", STR_ARG(a), STR_ARG(b));
	}
}

static char tree[512];

static const char *in_tree(const char *path)
{
	static char out[1024];
	(void)snprintf(out, sizeof(out), "%s/%s", tree, path);
	return out;
}

static void test_machine_fails__what_each_fault_comes_to(void **state)
{
	static struct scene scenes[] = {
		{.name = "sandbox", .play = play_sandbox},
		{.name = "program", .play = play_program, .hazy = 1},
		{.name = "fork", .play = play_fork},
		{.name = "lane", .play = play_lane},
		{.name = "beneath", .play = play_beneath},
		{.name = "data", .play = play_data_dir},
		{.name = "watch", .play = play_watch},
		{.name = "server", .play = play_server},
	};
	char dir[] = "/tmp/alm-machine-XXXXXX";
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf found = STRBUF_INIT(TEXT_MAX),
					      want = STRBUF_INIT(TEXT_MAX);
	(void)state;
	faults_begin();
	assert_non_null(getcwd(tree, sizeof(tree)));
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(mkdir("d", 0700), 0);
	assert_ok(file_write_atomic("f", STR("file"), 0600, &err), &err);
	assert_ok(file_write_atomic("d/token", STR("t"), 0600, &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(scenes); i++) {
		strbuf_init(&scenes[i].said, TEXT_MAX);
		play_all(&scenes[i], &found);
	}
	assert_int_equal(unlink("d/token") + unlink("d/other") + rmdir("d") + unlink("f"), 0);
	assert_int_equal(chdir("/") + rmdir(dir), 0);
	assert_null(strstr(found.buf, "HANGS"));
	assert_null(strstr(found.buf, "STAY"));
	if (getenv("RECORD"))
		assert_ok(file_write_atomic(in_tree(RECORDED), strbuf_str(&found), 0644, &err),
			  &err);
	assert_ok(file_read(in_tree(RECORDED), &want, &err), &err);
	assert_lines(strbuf_str(&found), strbuf_str(&want));
	assert_int_equal(chdir(tree), 0);
}

int main(void)
{
	if (SANITIZER_RUNS) {
		puts("ok 1 - what each fault comes to # SKIP a sanitizer's calls are not to be "
		     "replaced\n"
		     "1..1");
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine_fails__what_each_fault_comes_to),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
