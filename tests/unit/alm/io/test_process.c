/* What a process that has confined itself can no longer do, each tried in a child of the test. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alm/base/sanitizer.h"
#include "alm/base/str.h"
#include "alm/io/process.h"

/* 0 if it was done, else the errno. */
static int call(long number, long a, long b, long c)
{
	return syscall(number, a, b, c, 0, 0, 0) < 0 ? errno : 0;
}

static int map(int protection)
{
	void *p = mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? errno : 0;
}

static int make_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return mprotect(p, 4096, PROT_READ | PROT_EXEC) < 0 ? errno : 0;
}

static int run_program(void)
{
	char *const args[] = {(char[]){"true"}, NULL};
	return execve("/bin/true", args, args) < 0 ? errno : 0;
}

static int copy(void)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(run_program() == EPERM ? 0 : 1); /* it is as confined */
	int status = -1;
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : ECHILD;
}

static const struct {
	const char *what;
	int number, a, b, c;
	int (*fn)(void);
	int want;
} tries[] = {
	{.what = "execve", .fn = run_program, .want = EPERM},
	{"ptrace", SYS_ptrace, 0, 0, 0, NULL, EPERM},
	{"process_vm_readv", SYS_process_vm_readv, 1, 0, 0, NULL, EPERM},
	{"mount", SYS_mount, 0, 0, 0, NULL, EPERM},
	{"chroot", SYS_chroot, 0, 0, 0, NULL, EPERM},
	{"init_module", SYS_init_module, 0, 0, 0, NULL, EPERM},
	{"bpf", SYS_bpf, 0, 0, 0, NULL, EPERM},
	{"keyctl", SYS_keyctl, 0, 0, 0, NULL, EPERM},
	{"perf_event_open", SYS_perf_event_open, 0, 0, 0, NULL, EPERM},
	{"userfaultfd", SYS_userfaultfd, 0, 0, 0, NULL, EPERM},
	{"io_uring_setup", SYS_io_uring_setup, 0, 0, 0, NULL, EPERM},
	{"unshare", SYS_unshare, CLONE_NEWUSER, 0, 0, NULL, EPERM},
	{"setns", SYS_setns, 0, 0, 0, NULL, EPERM},
	{"clone into a namespace", SYS_clone, CLONE_NEWUSER, 0, 0, NULL, EPERM},
	{"clone3", SYS_clone3, 0, 0, 0, NULL, ENOSYS},
	{"setuid", SYS_setuid, 0, 0, 0, NULL, EPERM},
	{"capset", SYS_capset, 0, 0, 0, NULL, EPERM},
	{"reboot", SYS_reboot, 0, 0, 0, NULL, EPERM},
	{"typing into the terminal", SYS_ioctl, 0, TIOCSTI, 0, NULL, EPERM},
	{"socket of packets", SYS_socket, AF_PACKET, SOCK_RAW, 0, NULL, EPERM},
	{"socket of the kernel's crypto", SYS_socket, AF_ALG, SOCK_SEQPACKET, 0, NULL, EPERM},
	{"socket of a virtual machine", SYS_socket, AF_VSOCK, SOCK_STREAM, 0, NULL, EPERM},
	{"socket of no family", SYS_socket, AF_UNSPEC, SOCK_STREAM, 0, NULL, EPERM},
	{.what = "code out of data", .fn = make_code, .want = EPERM},
	/* what must go on */
	{"socket of IPv4", SYS_socket, AF_INET, SOCK_STREAM, 0, NULL, 0},
	{"socket of IPv6", SYS_socket, AF_INET6, SOCK_STREAM, 0, NULL, 0},
	{"local socket", SYS_socket, AF_UNIX, SOCK_STREAM, 0, NULL, 0},
	{"addresses", SYS_socket, AF_NETLINK, SOCK_RAW, 0, NULL, 0},
	{.what = "a copy of itself", .fn = copy, .want = 0},
};

static int writable_code(void)
{
	return map(PROT_READ | PROT_WRITE | PROT_EXEC);
}

static int plain_memory(void)
{
	return map(PROT_READ | PROT_WRITE);
}

/* In a child: 0 if the call ended as wanted, else its errno. */
static int try_it(size_t i)
{
	struct error err = ERROR_INIT;
	process_seal(false);
	if (process_confine(&err) < 0)
		return 200;
	int got = tries[i].fn ? tries[i].fn()
			      : call(tries[i].number, tries[i].a, tries[i].b, tries[i].c);
	return got == tries[i].want ? 0 : got ? got : 201;
}

static int in_child(int (*fn)(size_t), size_t i)
{
	int status = -1;
	pid_t pid = fork();
	if (pid == 0)
		_exit(fn(i));
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	return status;
}

static void test_process__closed_calls_are_refused_and_the_others_go_on(void **state)
{
	(void)state;
	if (SANITIZER_RUNS)
		return;
	for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
		int status = in_child(try_it, i);
		if (status)
			fail_msg("%s: status %d, errno %d", tries[i].what, status,
				 WEXITSTATUS(status));
	}
}

static int memory(size_t i)
{
	struct error err = ERROR_INIT;
	(void)i;
	if (process_confine(&err) < 0)
		return 200;
	return writable_code() != EPERM ? 1 : plain_memory();
}

static void test_process__memory_is_data_or_code(void **state)
{
	(void)state;
	if (!SANITIZER_RUNS)
		assert_int_equal(in_child(memory, 0), 0);
}

static int described(size_t debuggable)
{
	char text[PROCESS_TEXT];
	struct error err = ERROR_INIT;
	struct rlimit core;
	process_seal(debuggable);
	if (process_confine(&err) < 0)
		return 200;
	process_describe(text, sizeof(text));
	getrlimit(RLIMIT_CORE, &core);
	bool sealed = prctl(PR_GET_DUMPABLE) == 0 && core.rlim_max == 0;
	if (sealed != !debuggable || (strstr(text, "no core dumps") != NULL) != !debuggable)
		return 1;
	return strstr(text, "no new privileges, no capabilities, system calls filtered") ? 0 : 2;
}

static void test_process__tells_what_holds(void **state)
{
	(void)state;
	if (SANITIZER_RUNS)
		return;
	assert_int_equal(in_child(described, 0), 0);
	assert_int_equal(in_child(described, 1), 0);
}

static int becomes_nobody(size_t i)
{
	struct error err = ERROR_INIT;
	(void)i;
	if (process_become("nobody", &err) < 0)
		return 200;
	/* low ports are what is left, until it is confined */
	char text[PROCESS_TEXT];
	process_describe(text, sizeof(text));
	if (geteuid() == 0 || getegid() == 0 || strstr(text, "no capabilities") || setuid(0) == 0 ||
	    access("/root", R_OK) == 0)
		return 1;
	if (process_confine(&err) < 0)
		return 201;
	process_describe(text, sizeof(text));
	return SANITIZER_RUNS || strstr(text, "no capabilities") ? 0 : 2;
}

/* Who is no root: 0 if he is told, and is who he was. */
static int becomes_root(size_t i)
{
	struct error err = ERROR_INIT;
	char want[128];
	(void)i;
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		return 200;
	if (process_become("root", &err) != -E_FORBIDDEN || geteuid() == 0)
		return 1;
	(void)snprintf(want, sizeof(want),
		       "--user root: only root can become another user, and this is user %u",
		       geteuid());
	return strcmp(err.msg, want) == 0 ? 0 : 2;
}

static void test_process__root_becomes_a_user(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	assert_int_equal(process_become("no-such-user", &err), -E_NOTFOUND);
	assert_string_equal(err.msg, "--user: no user is named no-such-user");
	assert_ok(process_become(NULL, &err), &err);
	assert_int_equal(in_child(becomes_root, 0), 0);
	if (geteuid() != 0)
		return;
	assert_ok(process_become("root", &err), &err); /* who he is */
	assert_int_equal(in_child(becomes_nobody, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process__closed_calls_are_refused_and_the_others_go_on),
		cmocka_unit_test(test_process__memory_is_data_or_code),
		cmocka_unit_test(test_process__tells_what_holds),
		cmocka_unit_test(test_process__root_becomes_a_user),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
