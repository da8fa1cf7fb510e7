#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/io/child.h"
#include "alm/io/editor.h"
#include "alm/io/loop_event.h"
#include "alm/io/program.h"
#include "alm/io/sandbox_fork.h"

#define NOBODY 65534

static int status_of(pid_t pid)
{
	int status = -1;
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	return status;
}

static void test_child__a_message_brings_its_descriptors(void **state)
{
	(void)state;
	for (size_t n = 0; n <= CHILD_FDS_MAX; n++) {
		int pair[2], pipes[CHILD_FDS_MAX][2], theirs[CHILD_FDS_MAX], got[CHILD_FDS_MAX];
		char text[16] = "";
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
		for (size_t i = 0; i < CHILD_FDS_MAX; i++) {
			assert_int_equal(pipe2(pipes[i], O_CLOEXEC), 0);
			theirs[i] = pipes[i][1];
		}
		assert_true(child_send(pair[0], "hello", 5, theirs, n));
		assert_int_equal(child_receive(pair[1], text, sizeof(text), got), 5);
		assert_string_equal(text, "hello");
		for (size_t i = 0; i < CHILD_FDS_MAX; i++) {
			char c = 0;
			assert_int_equal(got[i] >= 0, i < n);
			if (i >= n)
				continue;
			assert_int_not_equal(got[i], theirs[i]);
			assert_int_equal(fcntl(got[i], F_GETFD), FD_CLOEXEC);
			assert_true(child_write_all(got[i], &"abcd"[i], 1));
			assert_true(child_read_all(pipes[i][0], &c, 1));
			assert_int_equal(c, "abcd"[i]);
			(void)close(got[i]);
		}
		/* nobody is there any more */
		(void)close(pair[0]);
		assert_int_equal(child_receive(pair[1], text, sizeof(text), got), 0);
		for (size_t i = 0; i < CHILD_FDS_MAX; i++) {
			assert_int_equal(got[i], -1);
			(void)close(pipes[i][0]);
			(void)close(pipes[i][1]);
		}
		assert_false(child_send(pair[1], "x", 1, NULL, 0));
		assert_int_equal(errno, EPIPE);
		(void)close(pair[1]);
	}
}

/* One that does not read is not waited for. */
static void test_child__a_full_socket_is_no_wait(void **state)
{
	(void)state;
	int pair[2], n = 0;
	char big[1000] = "";
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	while (n < 100000 && child_send(pair[0], big, sizeof(big), NULL, 0))
		n++;
	assert_true(n > 0 && n < 100000);
	assert_int_equal(errno, EAGAIN);
	(void)close(pair[0]);
	(void)close(pair[1]);
}

static void test_child__all_bytes_or_none(void **state)
{
	(void)state;
	enum { MANY = 1 << 20 };
	static char out[MANY], in[MANY];
	int p[2];
	for (size_t i = 0; i < MANY; i++)
		out[i] = (char)(i * 31 >> 3);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	(void)fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		(void)close(p[0]);
		_exit(child_write_all(p[1], out, MANY) ? 0 : 1);
	}
	(void)close(p[1]);
	assert_true(child_read_all(p[0], in, MANY - 1)); /* in many pieces */
	assert_true(child_read_all(p[0], in + MANY - 1, 1));
	assert_memory_equal(in, out, MANY);
	assert_false(child_read_all(p[0], in, 1)); /* the end */
	assert_true(child_read_all(p[0], in, 0));
	(void)close(p[0]);
	assert_int_equal(status_of(pid), 0);
	/* the end before all of them, and no reader */
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	assert_true(child_write_all(p[1], "abc", 3));
	(void)close(p[1]);
	assert_false(child_read_all(p[0], in, 4));
	(void)close(p[0]);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	(void)close(p[0]);
	void (*old)(int) = signal(SIGPIPE, SIG_IGN);
	assert_false(child_write_all(p[1], "abc", 3));
	assert_true(child_write_all(p[1], "abc", 0));
	(void)signal(SIGPIPE, old);
	(void)close(p[1]);
}

static void test_child__an_input_stays_as_it_is(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	char text[8] = "";
	int fd = child_seal_input(STR("input"), &err);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text)), 5);
	assert_string_equal(text, "input");
	assert_true(pwrite(fd, "x", 1, 0) < 0 && ftruncate(fd, 1) < 0 && ftruncate(fd, 100) < 0);
	assert_true(fcntl(fd, F_ADD_SEALS, 0) < 0 && errno == EPERM);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	(void)close(fd);
	fd = child_seal_input(STR(""), &err);
	assert_true(fd >= 0 && read(fd, text, sizeof(text)) == 0);
	(void)close(fd);
}

static int input_without_descriptors(void)
{
	struct error err = ERROR_INIT;
	const struct rlimit none = {0, 0};
	if (setrlimit(RLIMIT_NOFILE, &none) < 0)
		return 1;
	int r = child_seal_input(STR("input"), &err);
	if (r >= 0 || err.code != E_IO)
		return 2;
	return cstr_has_prefix(err.msg, "input of 5 bytes for a child process: Too many") ? 0 : 3;
}

static int signals_as_new(void)
{
	sigset_t all, blocked;
	struct sigaction now;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	child_default_signals();
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	for (int i = 1; i < NSIG; i++) {
		if (sigismember(&blocked, i) == 1)
			return 1;
		if (sigaction(i, NULL, &now) == 0 && now.sa_handler != SIG_DFL)
			return 2;
	}
	return 0;
}

static void test_child__what_is_inherited_or_missing(void **state)
{
	(void)state;
	static int (*const fns[])(void) = {input_without_descriptors, signals_as_new};
	for (size_t i = 0; i < ARRAY_LEN(fns); i++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(fns[i]());
		assert_int_equal(status_of(pid), 0);
	}
}

static void test_child__its_clock_goes_on(void **state)
{
	(void)state;
	struct timespec ts;
	int64_t a = child_mono_ns();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	int64_t b = ts.tv_sec * NS_PER_S + ts.tv_nsec, c = child_mono_ns();
	assert_true(a <= b && b <= c);
}

/* --- a machine that has no process left --- */

static int nothing(void *arg, struct sandbox_peer *p)
{
	(void)arg;
	(void)p;
	return 0;
}

static int serve_nothing(void *arg, char kind, struct str request, struct strbuf *answer,
			 struct error *err)
{
	(void)arg;
	(void)kind;
	(void)request;
	(void)answer;
	(void)err;
	return 0;
}

static int upper(struct str in, struct strbuf *out, struct error *err)
{
	(void)err;
	strbuf_addstr(out, in);
	return 0;
}

static int no_editor(struct error *err)
{
	return editor_run("true", "file", err);
}

static int no_launcher(struct error *err)
{
	struct programs *p = NULL;
	int r = programs_process_new(loop_event_new(), &p, err);
	return p ? 1 : r;
}

static int no_zygote(struct error *err)
{
	static const struct sandbox_job jobs[] = {{"upper", upper, NULL}, {0}};
	const struct sandbox_config c = {.jobs = jobs};
	struct sandbox *s = NULL;
	int r = sandbox_process_new(loop_event_new(), &c, &s, err);
	return s ? 1 : r;
}

static int no_fork(struct error *err)
{
	const struct sandbox_limits l = {.memory_bytes = (size_t)256 << 20,
					 .output_bytes = 100,
					 .cpu_s = 1,
					 .wall_ns = NS_PER_S};
	int status = 5;
	int r = sandbox_fork(&l, nothing, serve_nothing, NULL, &status, err);
	return status == 5 ? r : 1;
}

static const struct {
	int (*fn)(struct error *err);
	const char *text;
} walls[] = {
	{no_editor, "true: Resource temporarily unavailable"},
	{no_launcher, "the launcher cannot be forked: "},
	{no_zygote, "the sandbox process cannot be started"},
	{no_fork, "the sandbox process cannot be started: Resource temporarily unavailable"},
};

static int without_processes(size_t i)
{
	struct error err = ERROR_INIT;
	const struct rlimit none = {0, 0};
	if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return 1;
	if (setrlimit(RLIMIT_NPROC, &none) < 0)
		return 2;
	int r = walls[i].fn(&err);
	if (r != -E_IO || err.code != E_IO)
		return 3;
	if (cstr_has_prefix(err.msg, walls[i].text))
		return 0;
	(void)fprintf(stderr, "%s\n", err.msg);
	return 4;
}

static void test_child__no_process_can_be_made(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(walls); i++) {
		(void)fflush(NULL);
		pid_t pid = fork();
		if (pid == 0)
			_exit(without_processes(i));
		int status = status_of(pid);
		if (status)
			fail_msg("%s: %d", walls[i].text, WEXITSTATUS(status));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_child__a_message_brings_its_descriptors),
		cmocka_unit_test(test_child__a_full_socket_is_no_wait),
		cmocka_unit_test(test_child__all_bytes_or_none),
		cmocka_unit_test(test_child__an_input_stays_as_it_is),
		cmocka_unit_test(test_child__what_is_inherited_or_missing),
		cmocka_unit_test(test_child__its_clock_goes_on),
		cmocka_unit_test(test_child__no_process_can_be_made),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
