#include "tests/lib/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/io/landlock.h"
#include "alm/io/loop.h"
#include "alm/io/process.h"
#include "alm/io/program.h"
#include "tests/lib/http_client.h"

struct fixture {
	struct loop *loop;
	struct programs *programs;
	struct error err;
	int n_done;
	int status;
	struct error failed;
	struct strbuf output, errors;
	char dir[32];
	bool is_users;
	char mark[32]; /* MARK=N: what its processes are known by */
};

static void on_done(void *arg, const struct program_result *result, const struct error *err)
{
	struct fixture *f = arg;
	f->n_done++;
	f->status = result->status;
	strbuf_clear(&f->output);
	strbuf_addstr(&f->output, result->output);
	strbuf_clear(&f->errors);
	strbuf_addstr(&f->errors, result->errors);
	f->failed = err ? *err : ERROR_INIT;
}

static void set_mark(struct fixture *f, int way)
{
	(void)snprintf(f->mark, sizeof(f->mark), "MARK=%d%05d", 100 + way, (int)getpid());
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->loop = loop_event_new();
	strbuf_init(&f->output, (size_t)64 << 20);
	strbuf_init(&f->errors, (size_t)64 << 20);
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/alm-program-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	set_mark(f, 0);
	assert_ok(programs_process_new(f->loop, &f->programs, &f->err), &f->err);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	struct error err = ERROR_INIT;
	char **names = NULL;
	size_t n = 0;
	programs_free(f->programs);
	loop_free(f->loop);
	assert_ok(dir_list(f->dir, 1000, &names, &n, &err), &err);
	for (size_t i = 0; i < n; i++) {
		char path[128];
		(void)snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		(void)unlink(path);
	}
	dir_list_free(names, n);
	(void)rmdir(f->dir);
	strbuf_release(&f->output);
	strbuf_release(&f->errors);
	xfree(f);
	return 0;
}

/* sh is a program as any other; what it runs is in its arguments. */
static struct program_run *begin(struct fixture *f, const char *script,
				 struct program_limits limits)
{
	const char *argv[] = {"sh", "-c", script, "sh", f->dir, NULL};
	const char *env[] = {"PATH=/usr/bin:/bin", f->mark, NULL};
	const struct program_call call = {.path = "/bin/sh",
					  .argv = argv,
					  .env = env,
					  .dir = f->dir,
					  .input = STR("hello\n"),
					  .is_users = f->is_users,
					  .limits = limits};
	return programs_run(f->programs, &call, on_done, f);
}

static int run(struct fixture *f, const char *script, struct program_limits limits)
{
	int want = f->n_done + 1;
	begin(f, script, limits);
	assert_true(turn_until(f->loop, &f->n_done, want));
	return f->failed.code;
}

#define NO_LIMITS ((struct program_limits){0})

static void test_program__bytes_go_in_and_come_out(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(run(f, "cat; echo \"$PWD\"; echo bad >&2; exit 3", NO_LIMITS), 0);
	char want[64];
	(void)snprintf(want, sizeof(want), "hello\n%s\n", f->dir);
	assert_string_equal(f->output.buf, want);
	assert_string_equal(f->errors.buf, "bad\n");
	assert_int_equal(f->status, 3);
	assert_int_equal(run(f, "head -c 5000000 /dev/zero", NO_LIMITS), 0);
	assert_int_equal(f->output.len, 5000000);
	assert_int_equal(f->status, 0);
	/* more than a pipe holds goes in, and nobody has to read it */
	CLEANUP(strbuf_release) struct strbuf big = STRBUF_INIT((size_t)64 << 20);
	strbuf_pad(&big, 'a', 5 << 20);
	const struct program_call reads = {.path = "/usr/bin/wc", .input = strbuf_str(&big)},
				  ignores = {.path = "/bin/true", .input = strbuf_str(&big)};
	programs_run(f->programs, &reads, on_done, f);
	assert_true(turn_until(f->loop, &f->n_done, 3));
	assert_true(strstr(f->output.buf, "5242880") != NULL);
	programs_run(f->programs, &ignores, on_done, f);
	assert_true(turn_until(f->loop, &f->n_done, 4));
	assert_int_equal(f->status, 0);
}

/* Nothing of this process is there: variables, descriptors, a terminal, ignored signals. */
static void test_program__nothing_is_inherited(void **state)
{
	struct fixture *f = *state;
	/* NOLINTNEXTLINE(android-cloexec-open): that is what is tested */
	int leak = open("/etc/passwd", O_RDONLY);
	assert_true(leak >= 0);
	(void)signal(SIGPIPE, SIG_IGN);
	const char *argv[] = {"env", NULL};
	const struct program_call call = {.path = "/usr/bin/env", .argv = argv};
	programs_run(f->programs, &call, on_done, f);
	assert_true(turn_until(f->loop, &f->n_done, 1));
	assert_string_equal(f->output.buf, "");
	assert_int_equal(run(f,
			     "ls /proc/self/fd | tr '\\n' ' '; set -- /proc/self/fd/*; echo $#; "
			     "grep -E '^Sig(Blk|Ign)' /proc/self/status | tr -d '\\n\\t'; "
			     "(: </dev/tty) 2>/dev/null && echo tty",
			     NO_LIMITS),
			 0);
	/* 3 is ls's own, and the shell's own is the folder that it reads */
	assert_string_equal(f->output.buf, "0 1 2 3 4\nSigBlk:0000000000000000"
					   "SigIgn:0000000000000000");
	close(leak);
}

static void test_program__what_cannot_be_run_is_told(void **state)
{
	static const struct {
		const char *name, *text;
		unsigned mode;
		int code;
	} files[] = {
		{"plain", "#!/bin/sh\n", 0644, E_NOTALLOWED},
		{"garbage", "not a program", 0755, E_NOTALLOWED},
		{"lost", "#!/no/such/interpreter\n", 0755, E_NOTFOUND},
		{"empty", "", 0755, E_NOTALLOWED},
		{"absent", NULL, 0, E_NOTFOUND},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		char path[64];
		(void)snprintf(path, sizeof(path), "%s/%s", f->dir, files[i].name);
		if (files[i].text)
			assert_ok(
				file_write_new(path, str_of(files[i].text), files[i].mode, &f->err),
				&f->err);
		const struct program_call call = {.path = path};
		int want = f->n_done + 1;
		programs_run(f->programs, &call, on_done, f);
		assert_true(turn_until(f->loop, &f->n_done, want));
		if (f->failed.code != files[i].code || !cstr_has_prefix(f->failed.msg, path))
			fail_msg("%s: %d %s", files[i].name, f->failed.code, f->failed.msg);
		assert_int_equal(f->status, -1);
	}
	const struct program_call folder = {.path = f->dir},
				  nowhere = {.path = "/bin/true", .dir = "/no/such"};
	programs_run(f->programs, &folder, on_done, f);
	assert_true(turn_until(f->loop, &f->n_done, 6));
	assert_int_equal(f->failed.code, E_NOTALLOWED);
	programs_run(f->programs, &nowhere, on_done, f);
	assert_true(turn_until(f->loop, &f->n_done, 7));
	assert_int_equal(f->failed.code, E_NOTFOUND);
	assert_int_equal(run(f, "exit 0", NO_LIMITS), 0);
}

static void test_program__limits_are_named(void **state)
{
	static const struct {
		const char *script;
		struct program_limits limits;
		int code;
		const char *text;
	} cases[] = {
		{"yes", {.output_bytes = 1999}, E_LIMIT, "more than 1999 bytes"},
		{"trap '' TERM PIPE; while :; do echo x; done",
		 {.output_bytes = 100},
		 E_LIMIT,
		 "100 bytes"},
		{"yes >&2", {0}, E_LIMIT, "64 MiB of errors"},
		{"sleep 1000", {.wall_ns = 50 * NS_PER_MS}, E_LIMIT, "within 50 ms"},
		{"trap '' TERM; while :; do sleep 1000; done",
		 {.wall_ns = 50 * NS_PER_MS},
		 E_LIMIT,
		 "within"},
		/* closes its pipes and stays */
		{"exec >&- 2>&- <&-; sleep 1000", {.wall_ns = 50 * NS_PER_MS}, E_LIMIT, "within"},
		{"while :; do :; done", {.cpu_s = 1}, E_LIMIT, "more than 1 s of processor"},
		{"trap '' XCPU; while :; do :; done", {.cpu_s = 1}, E_LIMIT, "of processor"},
		{"head -c 3000 /dev/zero >\"$1\"/file", {.file_bytes = 2000}, 0, NULL},
		{"kill -SEGV $$", {0}, E_INTERNAL, "signal 11"},
		{"kill -KILL $$", {0}, E_LIMIT, "or was killed"},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int code = run(f, cases[i].script, cases[i].limits);
		if (code != cases[i].code ||
		    (cases[i].text && !strstr(f->failed.msg, cases[i].text)))
			fail_msg("%s: %d %s", cases[i].script, code, f->failed.msg);
	}
	struct program_limits small = {.memory_bytes = (size_t)32 << 20};
	const char *gorge = "x=aaaaaaaa; while :; do x=$x$x; done";
	int code = run(f, gorge, small);
	assert_true(code != 0 || f->status != 0);
	/* only errors are kept to a limit without an end */
	struct program_limits few = {.error_bytes = 10};
	assert_int_equal(run(f, "head -c 100000 /dev/zero | tr '\\0' e >&2; echo ok", few), 0);
	assert_int_equal(f->errors.len, 10);
	assert_string_equal(f->output.buf, "ok\n");
}

/* Is a process there whose command line has this mark? */
static bool is_alive(const struct fixture *f)
{
	const char *mark = f->mark + strlen("MARK=");
	bool found = false;
	DIR *d = opendir("/proc");
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d)) != NULL && !found;) {
		char path[300], text[4096];
		(void)snprintf(path, sizeof(path), "/proc/%s/cmdline", e->d_name);
		int fd = e->d_name[0] >= '1' && e->d_name[0] <= '9'
				 ? open(path, O_RDONLY | O_CLOEXEC)
				 : -1;
		ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));
		if (fd >= 0)
			close(fd);
		found = n > 0 && str_contains(str_n(text, (size_t)n), str_of(mark));
	}
	closedir(d);
	return found;
}

/* A listing of /proc may end too early while processes end elsewhere, and a shell before what it left
 * running has its name: one look says nothing, three the same do. */
static void wait_until(struct fixture *f, bool there)
{
	int same = 0;
	for (int i = 0; i < 60000 && same < 3; i++) {
		same = is_alive(f) == there ? same + 1 : 0;
		loop_turn(f->loop);
		poll(NULL, 0, 1);
	}
	assert_int_equal(same, 3);
}

static void wait_until_gone(struct fixture *f)
{
	wait_until(f, false);
}

/* In its group, out of it, and as a daemon that is nobody's child: all are gone when done is called
 * after an end of its own. */
static void test_program__what_it_leaves_behind_is_ended(void **state)
{
	static const char *const ways[] = {
		"sleep $MARK & exit 0",
		"setsid sleep $MARK & exit 0",
		"(setsid sh -c 'trap \"\" TERM; sleep $MARK' &) ; exit 0",
		"(setsid sh -c '(setsid sleep $MARK &)' &) ; exit 0",
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		set_mark(f, (int)i);
		assert_int_equal(run(f, ways[i], NO_LIMITS), 0);
		wait_until_gone(f);
	}
}

/* Of who types the command: as in his shell, but for what it prints and how long it takes. */
/* As ulimit prints them: -d in KiB, -t in seconds. */
static void own_limits(char *to, size_t size)
{
	static const struct {
		int what;
		rlim_t unit;
	} each[] = {{RLIMIT_DATA, 1024}, {RLIMIT_CPU, 1}};
	to[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(each); i++) {
		struct rlimit l;
		size_t n = strlen(to);
		assert_int_equal(getrlimit(each[i].what, &l), 0);
		if (l.rlim_cur == RLIM_INFINITY)
			(void)snprintf(to + n, size - n, "unlimited\n");
		else
			(void)snprintf(to + n, size - n, "%llu\n",
				       (unsigned long long)(l.rlim_cur / each[i].unit));
	}
}

static void test_program__the_users_own_keeps_what_it_leaves_behind(void **state)
{
	struct fixture *f = *state;
	set_mark(f, 0);
	f->is_users = true;
	assert_int_equal(run(f,
			     "sleep $MARK & echo $! >pids; setsid sleep $MARK & echo $! >>pids; "
			     "ulimit -d; ulimit -t; exit 4",
			     (struct program_limits){.memory_bytes = 1 << 20, .cpu_s = 1}),
			 0);
	assert_int_equal(f->status, 4);
	char want[64]; /* the limits of who started us, which a test of tests may have set */
	own_limits(want, sizeof(want));
	assert_string_equal(f->output.buf, want);
	wait_until(f, true);
	f->is_users = false;
	assert_int_equal(run(f, "kill $(cat pids); rm pids", NO_LIMITS), 0);
	wait_until_gone(f);
	f->is_users = true;
	assert_int_equal(run(f, "sleep $MARK & sleep $MARK & wait",
			     (struct program_limits){.wall_ns = 100 * NS_PER_MS}),
			 E_LIMIT);
	wait_until_gone(f);
}

static void test_program__a_deadline_ends_the_whole_group(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(run(f, "sleep $MARK & sleep $MARK & wait",
			     (struct program_limits){.wall_ns = 100 * NS_PER_MS}),
			 E_LIMIT);
	wait_until_gone(f);
}

static void test_program__a_cancelled_one_is_ended_and_silent(void **state)
{
	struct fixture *f = *state;
	struct program_run *r = begin(f, "trap '' TERM; sleep $MARK; sleep $MARK", NO_LIMITS);
	wait_until(f, true);
	programs_cancel(f->programs, r);
	wait_until_gone(f);
	/* one that waits, and one in the same turn */
	programs_cancel(f->programs, begin(f, "exit 0", NO_LIMITS));
	assert_int_equal(run(f, "exit 7", NO_LIMITS), 0);
	assert_int_equal(f->n_done, 1);
	assert_int_equal(f->status, 7);
}

/* The process dies: so does all that it runs. */
static void test_program__nothing_outlives_the_wall(void **state)
{
	struct fixture *f = *state;
	pid_t pid = fork();
	if (pid == 0) {
		struct programs *own = NULL;
		struct loop *l = loop_event_new();
		struct error err = ERROR_INIT;
		struct fixture mine = {.loop = l};
		if (programs_process_new(l, &own, &err) < 0)
			_exit(1);
		mine.programs = own;
		(void)snprintf(mine.dir, sizeof(mine.dir), "/tmp");
		memcpy(mine.mark, f->mark, sizeof(mine.mark));
		begin(&mine, "sleep $MARK", NO_LIMITS);
		while (!is_alive(f))
			loop_turn(l);
		(void)raise(SIGKILL);
	}
	int status;
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	wait_until_gone(f);
	/* and without a kill */
	begin(f, "sleep $MARK", NO_LIMITS);
	while (!is_alive(f))
		loop_turn(f->loop);
	programs_free(STEAL(f->programs));
	wait_until_gone(f);
}

static void test_program__a_hundred_at_once(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 50; i++) {
		begin(f, "cat; exit 1", NO_LIMITS);
		begin(f, "sleep 1000", (struct program_limits){.wall_ns = 20 * NS_PER_MS});
	}
	assert_true(turn_until(f->loop, &f->n_done, 100));
	for (int i = f->n_done; i < 100 + PROGRAM_WAITING_MAX + 1; i++)
		begin(f, "exit 0", NO_LIMITS);
	assert_true(turn_until(f->loop, &f->n_done, 101));
	while (f->failed.code != E_TOOMANY && f->n_done < 101 + PROGRAM_WAITING_MAX)
		loop_turn(f->loop);
	assert_int_equal(f->failed.code, E_TOOMANY);
}

static void test_program__too_much_to_say_is_refused(void **state)
{
	static char big[PROGRAM_ARGS_BYTES + 1];
	struct fixture *f = *state;
	memset(big, 'x', sizeof(big) - 1);
	const char *argv[] = {"true", big, NULL}, *many[PROGRAM_ARGS_MAX + 3] = {NULL};
	const struct program_call wide = {.path = "/bin/true", .argv = argv},
				  long_list = {.path = "/bin/true", .argv = many};
	for (int i = 0; i < PROGRAM_ARGS_MAX + 2; i++)
		many[i] = "x";
	programs_run(f->programs, &wide, on_done, f);
	assert_true(turn_until(f->loop, &f->n_done, 1));
	assert_int_equal(f->failed.code, E_LIMIT);
	programs_run(f->programs, &long_list, on_done, f);
	assert_true(turn_until(f->loop, &f->n_done, 2));
	assert_int_equal(f->failed.code, E_LIMIT);
	many[PROGRAM_ARGS_MAX] = NULL;
	programs_run(f->programs, &long_list, on_done, f);
	assert_true(turn_until(f->loop, &f->n_done, 3));
	assert_int_equal(f->failed.code, 0);
}

/* A process that may run nothing itself any more still has its launcher. */
static void test_program__works_behind_closed_doors(void **state)
{
	struct fixture *f = *state;
	struct error err = ERROR_INIT;
	pid_t pid = fork();
	if (pid == 0) {
		struct loop *l = loop_event_new();
		struct fixture mine = {.loop = l};
		strbuf_init(&mine.output, STRBUF_SMALL);
		strbuf_init(&mine.errors, STRBUF_SMALL);
		(void)snprintf(mine.dir, sizeof(mine.dir), "/tmp");
		if (programs_process_new(l, &mine.programs, &err) < 0 || process_confine(&err) < 0)
			_exit(1);
		begin(&mine, "cat", NO_LIMITS);
		while (mine.n_done < 1)
			loop_turn(l);
		_exit(strcmp(mine.output.buf, "hello\n") ? 2 : 0);
	}
	int status;
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	assert_int_equal(status, 0);
	(void)f;
}

/* Neither the network nor files that it was not given; what it starts has no more. */
static void test_program__doors_are_closed(void **state)
{
	static const char *const reads[] = {"/usr", "/lib", "/lib64", "/bin", NULL};
	static const char *const writes[] = {"/dev/null", NULL};
	struct fixture *f = *state;
	static const char script[] =
		"cat /etc/passwd >/dev/null 2>&1 && echo read; "
		"(echo x >\"$1/new\") 2>/dev/null && echo written; "
		"python3 -c 'import socket; socket.socket()' 2>/dev/null && echo net; "
		"ls /usr >/dev/null && echo usr";
	const char *argv[] = {"sh", "-c", script, "sh", f->dir, NULL};
	struct program_call call = {.path = "/bin/sh", .argv = argv};
	programs_run(f->programs, &call, on_done, f);
	assert_true(turn_until(f->loop, &f->n_done, 1));
	assert_string_equal(f->output.buf, "read\nwritten\nnet\nusr\n");
	call.reads = reads;
	call.writes = writes;
	call.offline = true;
	programs_run(f->programs, &call, on_done, f);
	assert_true(turn_until(f->loop, &f->n_done, 2));
	assert_int_equal(f->failed.code, 0);
	assert_string_equal(f->output.buf, landlock_is_there() ? "usr\n" : "read\nwritten\nusr\n");
}

static size_t n_open(void)
{
	char **names = NULL;
	size_t n = 0;
	struct error err = ERROR_INIT;
	assert_ok(dir_list("/proc/self/fd", 100000, &names, &n, &err), &err);
	dir_list_free(names, n);
	return n;
}

static void test_program__no_descriptor_stays(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(run(f, "exit 0", NO_LIMITS), 0);
	size_t n = n_open();
	for (int i = 0; i < 20; i++) {
		(void)run(f, i % 2 ? "exit 0" : "yes", (struct program_limits){.output_bytes = 10});
		programs_cancel(f->programs, begin(f, "exit 0", NO_LIMITS));
		const struct program_call absent = {.path = "/no/such"};
		programs_run(f->programs, &absent, on_done, f);
	}
	assert_true(turn_until(f->loop, &f->n_done, 41));
	assert_int_equal(run(f, "exit 0", NO_LIMITS), 0);
	assert_int_equal(n_open(), n);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_program__bytes_go_in_and_come_out),
		T(test_program__nothing_is_inherited),
		T(test_program__what_cannot_be_run_is_told),
		T(test_program__limits_are_named),
		T(test_program__what_it_leaves_behind_is_ended),
		T(test_program__the_users_own_keeps_what_it_leaves_behind),
		T(test_program__a_deadline_ends_the_whole_group),
		T(test_program__a_cancelled_one_is_ended_and_silent),
		T(test_program__nothing_outlives_the_wall),
		T(test_program__a_hundred_at_once),
		T(test_program__too_much_to_say_is_refused),
		T(test_program__works_behind_closed_doors),
		T(test_program__doors_are_closed),
		T(test_program__no_descriptor_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
