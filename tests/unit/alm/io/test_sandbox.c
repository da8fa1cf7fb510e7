#include "tests/lib/test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/io/sandbox.h"
#include "alm/io/sandbox_child.h"
#include "alm/io/sandbox_fork.h"
#include "tests/lib/http_client.h"

#if defined(__SANITIZE_ADDRESS__)
#define RELAXED true
#else
#define RELAXED false
#endif

static int upper(struct str in, struct strbuf *out, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < in.len; i++)
		strbuf_addc(out, char_upper(in.ptr[i]));
	return 0;
}

static int count(struct str in, struct strbuf *out, struct error *err)
{
	size_t n = 0;
	(void)err;
	for (size_t i = 0; i < in.len; i++)
		n += in.ptr[i] == 'x';
	strbuf_addf(out, "%zu", n);
	return 0;
}

static int refuse(struct str in, struct strbuf *out, struct error *err)
{
	(void)out;
	return error_because(err, E_INVALID, REASON_SIGNATURE_INVALID, "line %.*s is wrong",
			     STR_ARG(in));
}

static int crash(struct str in, struct strbuf *out, struct error *err)
{
	(void)in;
	(void)out;
	(void)err;
	(void)raise(SIGSEGV);
	__builtin_trap();
}

static int spin(struct str in, struct strbuf *out, struct error *err)
{
	(void)in;
	(void)out;
	(void)err;
	volatile unsigned i = 1;
	while (i | 1)
		i++;
	return 0;
}

static int gorge(struct str in, struct strbuf *out, struct error *err)
{
	(void)in;
	(void)err;
	while (!out->over) {
		char *p = xmalloc(1 << 20);
		memset(p, 1, 1 << 20);
		strbuf_addf(out, "%p", (void *)p);
	}
	return 0;
}

static int flood(struct str in, struct strbuf *out, struct error *err)
{
	(void)in;
	(void)err;
	strbuf_pad(out, 'x', 2000);
	return 0;
}

static pid_t tester; /* known beforehand: to ask for it is forbidden as well */

static int forbidden(struct str in, struct strbuf *out, struct error *err)
{
	(void)err;
	int r = 0;
	if (str_is(in, "open"))
		r = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	else if (str_is(in, "socket"))
		r = socket(AF_INET, SOCK_STREAM, 0);
	else if (str_is(in, "fork"))
		r = fork();
	else if (str_is(in, "kill"))
		r = kill(tester, SIGKILL);
	else if (str_is(in, "exec"))
		r = execl("/bin/true", "true", (char *)NULL);
	else if (str_is(in, "ptrace"))
		r = (int)ptrace(PTRACE_ATTACH, tester, NULL, NULL);
	else if (str_is(in, "unlink"))
		r = unlink("/tmp/alm-test-nothing");
	else if (str_is(in, "mprotect"))
		r = mprotect(NULL, 4096, PROT_READ | PROT_EXEC);
	strbuf_addf(out, "%d", r);
	return 0;
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, 64);
}

/* What glibc asks the kernel when it sorts 10 MB, and what libraries do that look for a file. */
static int libraries(struct str in, struct strbuf *out, struct error *err)
{
	(void)in;
	(void)err;
	char *rows = xcalloc(160000, 64);
	for (size_t i = 0; i < 160000; i++)
		rows[i * 64] = (char)(i * 7);
	qsort(rows, 160000, 64, compare);
	int fd = open("/etc/localtime", O_RDONLY | O_CLOEXEC);
	strbuf_addf(out, "%d %d", rows[0] < 0 ? rows[0] : 0, fd);
	xfree(rows);
	return 0;
}

/* As the kernel does it that is out of memory. */
static int killed(struct str in, struct strbuf *out, struct error *err)
{
	(void)in;
	(void)out;
	(void)err;
	return raise(SIGKILL);
}

static int prepared = -1;

/* Files are there, as a library would need them; in the job they are not. */
static void prepare(void)
{
	prepared = open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0;
}

static int is_prepared(struct str in, struct strbuf *out, struct error *err)
{
	(void)in;
	(void)err;
	strbuf_addf(out, "%d %d", prepared, open("/etc/passwd", O_RDONLY | O_CLOEXEC));
	return 0;
}

/* It has been taken over: it says what it likes instead of an answer, and that all was well. */
static int hostile(struct str in, struct strbuf *out, struct error *err)
{
	(void)out;
	(void)err;
	size_t n = in.len;
	while (n) {
		ssize_t r = write(1, in.ptr + in.len - n, n);
		if (r <= 0)
			_exit(1);
		n -= (size_t)r;
	}
	_exit(0);
}

static const struct sandbox_job jobs[] = {
	{"hostile", hostile, NULL},     {"prepared", is_prepared, prepare},
	{"bare", is_prepared, NULL},    {"upper", upper, NULL},
	{"refuse", refuse, NULL},       {"crash", crash, NULL},
	{"killed", killed, NULL},       {"spin", spin, NULL},
	{"gorge", gorge, NULL},         {"flood", flood, NULL},
	{"forbidden", forbidden, NULL}, {"libraries", libraries, NULL},
	{"count", count, NULL},         {0},
};

struct fixture {
	struct loop *loop;
	struct sandbox *sandbox;
	struct error err;
	struct strbuf output;
	int n_done;
	struct error failed;
};

static void on_done(void *arg, struct str output, const struct error *err)
{
	struct fixture *f = arg;
	f->n_done++;
	strbuf_clear(&f->output);
	strbuf_addstr(&f->output, output);
	f->failed = err ? *err : ERROR_INIT;
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->loop = loop_event_new();
	strbuf_init(&f->output, (size_t)64 << 20);
	struct sandbox_config c = {.jobs = jobs};
	assert_ok(sandbox_process_new(f->loop, &c, &f->sandbox, &f->err), &f->err);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	sandbox_free(f->sandbox);
	loop_free(f->loop);
	strbuf_release(&f->output);
	xfree(f);
	return 0;
}

static int run(struct fixture *f, const char *job, struct str input, struct sandbox_limits limits)
{
	int want = f->n_done + 1;
	sandbox_run(f->sandbox, job, input, &limits, on_done, f);
	assert_true(turn_until(f->loop, &f->n_done, want));
	return f->failed.code;
}

static void test_sandbox__bytes_go_in_and_come_out(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(run(f, "upper", STR("hello"), (struct sandbox_limits){0}), 0);
	assert_string_equal(f->output.buf, "HELLO");
	assert_int_equal(run(f, "upper", STR_NONE, (struct sandbox_limits){0}), 0);
	assert_int_equal(f->output.len, 0);
	CLEANUP(strbuf_release) struct strbuf big = STRBUF_INIT((size_t)64 << 20);
	strbuf_pad(&big, 'a', 5 << 20);
	assert_int_equal(run(f, "upper", strbuf_str(&big), (struct sandbox_limits){0}), 0);
	assert_int_equal(f->output.len, 5 << 20);
	assert_int_equal(f->output.buf[(5 << 20) - 1], 'A');
}

static void test_sandbox__errors_come_back_as_they_are(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(run(f, "refuse", STR("7"), (struct sandbox_limits){0}), E_INVALID);
	assert_string_equal(f->failed.msg, "SignatureInvalid: line 7 is wrong");
	assert_int_equal(f->failed.reason, REASON_SIGNATURE_INVALID);
}

static void test_sandbox__a_child_is_not_believed(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	const struct {
		struct sandbox_verdict v;
		size_t head; /* of the verdict, so many bytes */
		const char *text;
		size_t times;
		int want;
		const char *why;
	} rows[] = {
		{{0, 0}, 0, "", 0, E_INTERNAL, "gave no answer"},
		{{0, 0}, sizeof(rows[0].v) - 1, "", 0, E_INTERNAL, "gave no answer"},
		{{0, 0}, sizeof(rows[0].v), "", 0, 0, ""},
		{{0, 0}, sizeof(rows[0].v), "x", 3, 0, ""},
		{{E_INVALID, 0}, sizeof(rows[0].v), "", 0, E_INVALID, ""},
		{{E_INVALID, 0}, sizeof(rows[0].v), "x", ERROR_MSG_MAX, E_INVALID, "xxx"},
		{{E_INVALID, 0},
		 sizeof(rows[0].v),
		 "x",
		 ERROR_MSG_MAX + 1,
		 E_INTERNAL,
		 "malformed"},
		{{E_INVALID, 0}, sizeof(rows[0].v), "\xff", 1, E_INTERNAL, "malformed"},
		{{E_INVALID, REASON_TEST_FAILED}, sizeof(rows[0].v), "x", 1, E_INVALID, "x"},
		{{E_INVALID, REASON_TEST_FAILED + 1},
		 sizeof(rows[0].v),
		 "x",
		 1,
		 E_INTERNAL,
		 "malformed"},
		{{E_INVALID, -1}, sizeof(rows[0].v), "x", 1, E_INTERNAL, "malformed"},
		{{E_ALTERED, 0}, sizeof(rows[0].v), "x", 1, E_ALTERED, "x"},
		{{E_ALTERED + 1, 0}, sizeof(rows[0].v), "x", 1, E_INTERNAL, "malformed"},
		{{-1, 0}, sizeof(rows[0].v), "x", 1, E_INTERNAL, "malformed"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		strbuf_clear(&b);
		strbuf_add(&b, &rows[i].v, rows[i].head);
		for (size_t k = 0; k < rows[i].times; k++)
			strbuf_adds(&b, rows[i].text);
		int code = run(f, "hostile", strbuf_str(&b), (struct sandbox_limits){0});
		if (code != rows[i].want || !strstr(f->failed.msg, rows[i].why))
			fail_msg("row %zu: %d %s", i, code, f->failed.msg);
		assert_int_equal(f->failed.reason, code == E_INVALID ? rows[i].v.reason : 0);
		assert_int_equal(f->output.len, code ? 0 : rows[i].times);
	}
}

/* As many as may wait, and one more; that one is told. Nothing that was not begun has a descriptor to close. */
static void test_sandbox__too_many_that_wait(void **state)
{
	enum { WAITING = 1024 };
	struct fixture *f = *state;
	struct sandbox_run *runs[WAITING];
	struct stat before, after;
	bool has_input = fstat(STDIN_FILENO, &before) == 0;
	for (size_t i = 0; i < WAITING; i++)
		runs[i] = sandbox_run(f->sandbox, "spin", STR_NONE, NULL, on_done, f);
	sandbox_run(f->sandbox, "upper", STR("x"), NULL, on_done, f);
	assert_true(turn_until(f->loop, &f->n_done, 1));
	assert_int_equal(f->failed.code, E_TOOMANY);
	assert_non_null(strstr(f->failed.msg, "1024"));
	for (size_t i = 0; i < WAITING; i++)
		sandbox_cancel(f->sandbox, runs[i]);
	for (size_t i = 0; i < 2 * WAITING; i++)
		loop_turn(f->loop);
	assert_int_equal(run(f, "upper", STR("x"), (struct sandbox_limits){0}), 0);
	assert_int_equal(f->n_done, 2);
	assert_int_equal(fstat(STDIN_FILENO, &after) == 0, has_input);
	assert_true(!has_input || before.st_ino == after.st_ino);
}

/* An open, nameless file of n times c. */
static int file_of(char c, size_t n)
{
	char path[] = "/tmp/alm-sandbox-XXXXXX";
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)256 << 20);
	int fd = mkstemp(path);
	assert_true(fd >= 0 && unlink(path) == 0);
	strbuf_pad(&b, c, n);
	assert_true(!n || pwrite(fd, b.buf, n, 0) == (ssize_t)n);
	return fd;
}

static int run_file(struct fixture *f, const char *job, struct str text, int file,
		    struct sandbox_limits limits)
{
	int want = f->n_done + 1;
	sandbox_run_file(f->sandbox, job, text, file, &limits, on_done, f);
	assert_true(turn_until(f->loop, &f->n_done, want));
	return f->failed.code;
}

static void check_file(struct fixture *f, const char *text, size_t n)
{
	assert_int_equal(
		run_file(f, "upper", str_of(text), file_of('x', n), (struct sandbox_limits){0}), 0);
	assert_int_equal(f->output.len, strlen(text) + n);
	for (size_t i = 0; i < f->output.len; i++)
		assert_int_equal(f->output.buf[i], i < strlen(text) ? char_upper(text[i]) : 'X');
}

static void test_sandbox__a_file_follows_the_text(void **state)
{
	static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 1 << 20};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		check_file(f, "name\n", sizes[i]);
		check_file(f, "", sizes[i]);
	}
	/* it does not count against the memory of the child */
	struct sandbox_limits small = {.memory_bytes = (size_t)32 << 20};
	assert_int_equal(run_file(f, "count", STR(""), file_of('x', (size_t)64 << 20), small), 0);
	assert_string_equal(f->output.buf, "67108864");
	/* one that is waiting when it is cancelled */
	struct sandbox_run *r =
		sandbox_run_file(f->sandbox, "upper", STR(""), file_of('x', 1), NULL, on_done, f);
	sandbox_cancel(f->sandbox, r);
	loop_turn(f->loop);
}

static void test_sandbox__a_file_that_is_too_large(void **state)
{
	struct fixture *f = *state;
	int fd = file_of('x', 0);
	assert_int_equal(ftruncate(fd, (off_t)SANDBOX_FILE_BYTES + 1), 0);
	assert_int_equal(run_file(f, "upper", STR(""), fd, (struct sandbox_limits){0}), E_LIMIT);
}

/* Nor is more text taken, and none of it is looked at: it is not there. */
static void test_sandbox__a_text_that_is_too_large(void **state)
{
	struct fixture *f = *state;
	size_t n = SANDBOX_INPUT_BYTES + 1;
	void *text = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(text, MAP_FAILED);
	assert_int_equal(run(f, "upper", str_n(text, n), (struct sandbox_limits){0}), E_LIMIT);
	assert_non_null(strstr(f->failed.msg, "want at most"));
	assert_int_equal(munmap(text, n), 0);
}

static void test_sandbox__inline_is_the_same_without_a_child(void **state)
{
	struct fixture *f = *state;
	sandbox_free(f->sandbox);
	f->sandbox = sandbox_inline_new(f->loop, jobs);
	check_file(f, "name\n", 5000);
	assert_int_equal(run(f, "upper", STR("ok"), (struct sandbox_limits){0}), 0);
	assert_string_equal(f->output.buf, "OK");
	assert_int_equal(run(f, "refuse", STR("7"), (struct sandbox_limits){0}), E_INVALID);
	assert_int_equal(run(f, "flood", STR(""), (struct sandbox_limits){.output_bytes = 1999}),
			 E_LIMIT);
	struct sandbox_run *r = sandbox_run(f->sandbox, "upper", STR("y"), NULL, on_done, f);
	int n = f->n_done;
	sandbox_cancel(f->sandbox, r);
	loop_turn(f->loop);
	assert_int_equal(f->n_done, n);
	sandbox_run(f->sandbox, "upper", STR("y"), NULL, on_done, f); /* dies with the sandbox */
}

static void test_sandbox__a_crash_costs_one_run(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(run(f, "crash", STR_NONE, (struct sandbox_limits){0}), E_INTERNAL);
	/* no limit of its own, and no fact about its input */
	assert_int_equal(run(f, "killed", STR_NONE, (struct sandbox_limits){0}), E_INTERNAL);
	assert_string_equal(f->failed.msg,
			    "was killed: this machine is short of memory, or somebody did it");
	assert_int_equal(run(f, "upper", STR("ok"), (struct sandbox_limits){0}), 0);
	assert_string_equal(f->output.buf, "OK");
}

static void test_sandbox__limits_are_named(void **state)
{
	struct fixture *f = *state;
	struct sandbox_limits wall = {.wall_ns = 50 * NS_PER_MS},
			      cpu = {.cpu_s = 1, .wall_ns = 60 * NS_PER_S},
			      memory = {.memory_bytes = (size_t)128 << 20},
			      output = {.output_bytes = 1999};
	assert_int_equal(run(f, "spin", STR_NONE, wall), E_TIMEOUT);
	assert_non_null(strstr(f->failed.msg, "took longer"));
	assert_int_equal(run(f, "spin", STR_NONE, cpu), E_LIMIT);
	assert_non_null(strstr(f->failed.msg, "processor"));
	assert_int_equal(run(f, "flood", STR_NONE, output), E_LIMIT);
	assert_non_null(strstr(f->failed.msg, "1999 bytes"));
	if (RELAXED)
		return;
	assert_int_equal(run(f, "gorge", STR_NONE, memory), E_LIMIT);
	assert_non_null(strstr(f->failed.msg, "128 MiB"));
}

static void test_sandbox__only_computing_is_allowed(void **state)
{
	static const char *const tries[] = {"socket", "fork",   "kill",    "exec",
					    "ptrace", "unlink", "mprotect"};
	struct fixture *f = *state;
	if (RELAXED) /* the box is open in sanitizer builds */
		return;
	tester = getpid();
	for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
		int code = run(f, "forbidden", str_of(tries[i]), (struct sandbox_limits){0});
		if (code != E_INTERNAL || !strstr(f->failed.msg, "forbidden system call"))
			fail_msg("%s: %d %s", tries[i], code, f->failed.msg);
	}
	assert_int_equal(run(f, "forbidden", STR("open"), (struct sandbox_limits){0}), 0);
	assert_string_equal(f->output.buf, "-1");
}

static void test_sandbox__a_row_prepares_before_the_doors_close(void **state)
{
	struct fixture *f = *state;
	if (RELAXED)
		return;
	assert_int_equal(run(f, "prepared", STR_NONE, (struct sandbox_limits){0}), 0);
	assert_string_equal(f->output.buf, "1 -1");
	assert_int_equal(run(f, "bare", STR_NONE, (struct sandbox_limits){0}), 0);
	assert_string_equal(f->output.buf, "-1 -1");
}

/* ---- sandbox_fork ---- */

static int child(void *arg, struct sandbox_peer *p)
{
	CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	const char *what = *(const char **)arg;
	if (!strcmp(what, "crash"))
		return crash(STR_NONE, NULL, NULL);
	if (!strcmp(what, "spin"))
		return spin(STR_NONE, NULL, NULL);
	if (!strcmp(what, "socket"))
		return socket(AF_INET, SOCK_STREAM, 0);
	if (!strcmp(what, "flood"))
		strbuf_pad(&answer, 'x', 5000);
	if (sandbox_ask(p, 'u', answer.len ? strbuf_str(&answer) : STR("abc"), &answer, &err) < 0)
		return 1;
	if (!str_is(strbuf_str(&answer), "ABC"))
		return 2;
	return sandbox_ask(p, 'x', STR("no"), &answer, &err) == -E_FORBIDDEN &&
			       !strcmp(err.msg, "not no")
		       ? 7
		       : 3;
}

static int serve(void *arg, char kind, struct str request, struct strbuf *answer, struct error *err)
{
	(void)arg;
	if (kind != 'u')
		return error_set(err, E_FORBIDDEN, "not %.*s", STR_ARG(request));
	return upper(request, answer, err);
}

static void test_sandbox__fork_serves_and_survives(void **state)
{
	static const struct {
		const char *what;
		int code, status;
		const char *text;
	} cases[] = {
		{"talk", 0, 7, ""},
		{"crash", E_INTERNAL, 0, "crashed with signal 11"},
		{"spin", E_TIMEOUT, 0, "longer than 1 s"},
		{"flood", E_LIMIT, 0, "4000 bytes"},
		{"socket", E_INTERNAL, 0, "forbidden system call"},
	};
	const struct sandbox_limits limits = {.memory_bytes = (size_t)256 << 20,
					      .output_bytes = 4000,
					      .cpu_s = 5,
					      .wall_ns = NS_PER_S};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases) - RELAXED; i++) {
		struct error err = ERROR_INIT;
		int status = 0;
		const char *what = cases[i].what;
		int rc = sandbox_fork(&limits, child, serve, &what, &status, &err);
		if (rc != -cases[i].code || status != cases[i].status ||
		    !strstr(err.msg, cases[i].text))
			fail_msg("%s: %d %d %s", cases[i].what, rc, status, err.msg);
	}
}

static void test_sandbox__libraries_sort_and_do_without_files(void **state)
{
	struct fixture *f = *state;
	if (RELAXED)
		return;
	assert_int_equal(run(f, "libraries", STR_NONE, (struct sandbox_limits){0}), 0);
	assert_string_equal(f->output.buf, "0 -1");
}

static void test_sandbox__runs_queue_and_may_be_cancelled(void **state)
{
	struct fixture *f = *state;
	struct sandbox_run *spinning = sandbox_run(f->sandbox, "spin", STR_NONE, NULL, on_done, f);
	for (int i = 0; i < 20; i++)
		sandbox_run(f->sandbox, "upper", STR("x"), NULL, on_done, f);
	struct sandbox_run *waiting = sandbox_run(f->sandbox, "upper", STR("y"), NULL, on_done, f);
	sandbox_cancel(f->sandbox, waiting);
	for (int i = 0; i < 5; i++)
		loop_turn(f->loop);
	sandbox_cancel(f->sandbox, spinning);
	assert_true(turn_until(f->loop, &f->n_done, 20));
	for (int i = 0; i < 50; i++)
		loop_turn(f->loop);
	assert_int_equal(f->n_done, 20);
	sandbox_run(f->sandbox, "spin", STR_NONE, NULL, on_done, f); /* dies with the sandbox */
	loop_turn(f->loop);
}

/* The first that a process has forked and that lives; 0: none. */
static pid_t child_of(pid_t parent)
{
	char path[64], text[64] = "";
	int64_t pid = 0;
	struct str word, rest;
	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	(void)!read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	str_cut(str_of(text), ' ', &word, &rest);
	return str_parse_i64(word, &pid) ? (pid_t)pid : 0;
}

/* One that runs, and the zygote. */
static struct sandbox_run *begin_spinning(struct fixture *f, pid_t *ret_zygote)
{
	struct sandbox_run *r = sandbox_run(f->sandbox, "spin", STR_NONE, NULL, on_done, f);
	*ret_zygote = child_of(getpid());
	assert_true(*ret_zygote > 1);
	for (int i = 0; i < 100000 && !child_of(*ret_zygote); i++) {
		loop_turn(f->loop);
		poll(NULL, 0, 1);
	}
	assert_true(child_of(*ret_zygote) > 1);
	return r;
}

/* What a terminal sends to all of its processes is for the parent to act on. */
static void test_sandbox__signals_of_a_terminal_end_nothing(void **state)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct fixture *f = *state;
	pid_t zygote;
	struct sandbox_run *r = begin_spinning(f, &zygote);
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		assert_int_equal(kill(zygote, signals[i]), 0);
		assert_int_equal(run(f, "upper", STR("ok"), (struct sandbox_limits){0}), 0);
		assert_string_equal(f->output.buf, "OK");
		assert_int_equal(f->n_done, (int)i + 1); /* spin goes on */
	}
	assert_int_equal(child_of(getpid()), zygote);
	sandbox_cancel(f->sandbox, r);
}

/* What it ran is lost, what waited is not. */
static void test_sandbox__a_zygote_that_dies_is_forked_again(void **state)
{
	struct fixture *f = *state;
	pid_t zygote;
	for (int i = 0; i < 2; i++) {
		begin_spinning(f, &zygote);
		int n = f->n_done;
		assert_int_equal(kill(zygote, SIGKILL), 0);
		assert_true(turn_until(f->loop, &f->n_done, n + 1));
		assert_int_equal(f->failed.code, E_INTERNAL);
		assert_string_equal(f->failed.msg, "the sandbox process died");
		assert_int_equal(run(f, "upper", STR("ok"), (struct sandbox_limits){0}), 0);
		assert_string_equal(f->output.buf, "OK");
		assert_int_not_equal(child_of(getpid()), zygote);
	}
}

/* A done callback may begin the next one, or cancel those that wait; each is told once. */
static void on_done_begin(void *arg, struct str output, const struct error *err)
{
	struct fixture *f = arg;
	on_done(arg, output, err);
	if (f->n_done < 4)
		sandbox_run(f->sandbox, "upper", STR("x"), NULL, on_done_begin, f);
}

static void test_sandbox__a_done_begins_the_next_one(void **state)
{
	struct fixture *f = *state;
	for (int inlined = 0; inlined < 2; inlined++) {
		if (inlined) {
			sandbox_free(f->sandbox);
			f->sandbox = sandbox_inline_new(f->loop, jobs);
		}
		f->n_done = 0;
		sandbox_run(f->sandbox, "upper", STR("x"), NULL, on_done_begin, f);
		assert_true(turn_until(f->loop, &f->n_done, 4));
		for (int i = 0; i < 5; i++)
			loop_turn(f->loop);
		assert_int_equal(f->n_done, 4);
	}
	/* those that were told are not freed with the sandbox once more, nor told again */
	sandbox_free(f->sandbox);
	f->sandbox = NULL;
	for (int i = 0; i < 5; i++)
		loop_turn(f->loop);
	assert_int_equal(f->n_done, 4);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_sandbox__bytes_go_in_and_come_out),
		TEST(test_sandbox__errors_come_back_as_they_are),
		TEST(test_sandbox__a_child_is_not_believed),
		TEST(test_sandbox__too_many_that_wait),
		TEST(test_sandbox__a_file_follows_the_text),
		TEST(test_sandbox__a_file_that_is_too_large),
		TEST(test_sandbox__a_text_that_is_too_large),
		TEST(test_sandbox__inline_is_the_same_without_a_child),
		TEST(test_sandbox__a_crash_costs_one_run),
		TEST(test_sandbox__limits_are_named),
		TEST(test_sandbox__only_computing_is_allowed),
		TEST(test_sandbox__libraries_sort_and_do_without_files),
		TEST(test_sandbox__a_row_prepares_before_the_doors_close),
		cmocka_unit_test(test_sandbox__fork_serves_and_survives),
		TEST(test_sandbox__runs_queue_and_may_be_cancelled),
		TEST(test_sandbox__signals_of_a_terminal_end_nothing),
		TEST(test_sandbox__a_zygote_that_dies_is_forked_again),
		TEST(test_sandbox__a_done_begins_the_next_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
