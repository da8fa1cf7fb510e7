#include "tests/lib/test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alm/io/loop_event.h"
#include "alm/io/process_id.h"

#define ID_MAX 256

struct other {
	pid_t pid;
	char id[ID_MAX];
};

/* Another process, which has told what it is called, and waits to be killed. */
static void start(struct other *o)
{
	int fds[2];
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	o->pid = fork();
	assert_true(o->pid >= 0);
	if (o->pid == 0) {
		CLEANUP(loop_freep) struct loop *l = loop_event_new();
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		const char *id = process_id(l, a);
		bool told = write(fds[1], id, strlen(id)) > 0;
		while (told && raise(SIGSTOP) == 0)
			;
		_exit(1);
	}
	ssize_t n = read(fds[0], o->id, sizeof(o->id) - 1);
	assert_true(n > 0);
	o->id[n] = '\0';
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static void stop(const struct other *o)
{
	siginfo_t how;
	assert_int_equal(kill(o->pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)o->pid, &how, WEXITED | WNOWAIT), 0);
}

static void reap(const struct other *o)
{
	assert_int_equal(waitpid(o->pid, NULL, 0), o->pid);
}

static void test_process_id__of_one_that_was_killed(void **state)
{
	(void)state;
	struct other o;
	start(&o);
	assert_false(process_id_is_dead(o.id)); /* stopped, it goes on some day */
	stop(&o);
	assert_true(process_id_is_dead(o.id)); /* nobody has asked how it ended */
	reap(&o);
	assert_true(process_id_is_dead(o.id));
}

static void test_process_id__of_oneself(void **state)
{
	(void)state;
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const char *one = process_id(l, a), *two = process_id(l, a);
	assert_string_not_equal(one, two);
	assert_false(process_id_is_dead(one));
}

/* The fields from the right: RANDOM, PLACE, START, PID. */
static const char *with_field(const char *id, int field, const char *value, struct arena *a)
{
	const char *end = id + strlen(id), *begin;
	for (;; field--) {
		begin = end;
		while (begin[-1] != '_')
			begin--;
		if (!field)
			return arena_fmt(a, "%.*s%s%s", (int)(begin - id), id, value, end);
		end = begin - 1;
	}
}

static void test_process_id__the_number_of_another_process(void **state)
{
	(void)state;
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const char *mine = process_id(l, a); /* a number that somebody has, who began later */
	assert_true(process_id_is_dead(with_field(mine, 2, "1", a)));
}

static void test_process_id__nothing_is_said_of_another_place(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct other o;
	start(&o);
	stop(&o);
	reap(&o);
	assert_true(process_id_is_dead(o.id));
	assert_true(process_id_is_dead(with_field(o.id, 0, "ffffffff", a)));
	assert_false(process_id_is_dead(with_field(o.id, 1, "0123456789ab", a)));
	assert_false(process_id_is_dead(with_field(o.id, 1, "-", a)));
	assert_false(process_id_is_dead(with_field(o.id, 1, "", a)));
	assert_false(process_id_is_dead(with_field(o.id, 2, "0", a)));
	assert_false(process_id_is_dead(with_field(o.id, 2, "x", a)));
	assert_false(process_id_is_dead(with_field(o.id, 3, "0", a)));
	assert_false(process_id_is_dead(with_field(o.id, 3, "-1", a)));
	assert_false(process_id_is_dead(with_field(o.id, 3, "4294967296", a)));
	assert_false(process_id_is_dead(with_field(o.id, 3, "", a)));
}

static bool apart(int spaces)
{
	return unshare(spaces) == 0 || unshare(CLONE_NEWUSER | spaces) == 0;
}

static bool has_another_name(void)
{
	static const char name[] = "another-name-of-this-machine";
	return apart(CLONE_NEWUTS) && sethostname(name, strlen(name)) == 0;
}

/* As after another start of the machine: the file of another text is put over that of the boot. */
static bool has_another_boot(void)
{
	static const char boot[] = "/proc/sys/kernel/random/boot_id";
	static const char text[] = "01234567-89ab-cdef-0123-456789abcdef\n";
	char path[] = "/tmp/alm-boot-XXXXXX";
	int fd = mkstemp(path);
	bool is = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
		  apart(CLONE_NEWNS) && mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		  mount(path, boot, NULL, MS_BIND, NULL) == 0;
	return fd >= 0 && close(fd) == 0 && unlink(path) == 0 && is;
}

static void nothing_is_said_where(bool (*other)(void))
{
	enum { SAID, SILENT, UNABLE };
	struct other o;
	int how;
	start(&o);
	stop(&o);
	reap(&o);
	pid_t copy = fork();
	assert_true(copy >= 0);
	if (copy == 0) {
		if (!other())
			_exit(UNABLE);
		_exit(process_id_is_dead(o.id) ? SAID : SILENT);
	}
	assert_int_equal(waitpid(copy, &how, 0), copy);
	assert_true(WIFEXITED(how));
	if (WEXITSTATUS(how) == UNABLE)
		skip();
	assert_int_equal(WEXITSTATUS(how), SILENT);
}

/* A copy of a machine that runs has its boot, its namespaces and its processes, and, if all is well, another name. */
static void test_process_id__nothing_is_said_on_a_copy_of_the_machine(void **state)
{
	(void)state;
	nothing_is_said_where(has_another_name);
}

static void test_process_id__nothing_is_said_after_another_start(void **state)
{
	(void)state;
	nothing_is_said_where(has_another_boot);
}

static void test_process_id__of_texts_that_are_none(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"", "_", "____", "host_12_01234567", "alm.local/0123", "a_b_c_d_e", "_1_1__"};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_false(process_id_is_dead(texts[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process_id__of_one_that_was_killed),
		cmocka_unit_test(test_process_id__of_oneself),
		cmocka_unit_test(test_process_id__the_number_of_another_process),
		cmocka_unit_test(test_process_id__nothing_is_said_of_another_place),
		cmocka_unit_test(test_process_id__nothing_is_said_on_a_copy_of_the_machine),
		cmocka_unit_test(test_process_id__nothing_is_said_after_another_start),
		cmocka_unit_test(test_process_id__of_texts_that_are_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
