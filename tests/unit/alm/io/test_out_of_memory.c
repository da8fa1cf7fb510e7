/*
 * The n-th allocation fails, ours or a library's: the process ends by abort, or goes on. Either way
 * the next one finds what was acknowledged, and a log that is whole. Points are spread evenly over
 * all allocations of the work; every run takes others, as the database grows.
 */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alm/audit/verify.h"
#include "alm/base/file.h"
#include "alm/base/sanitizer.h"
#include "tests/lib/exchange_fake.h"

#define POINTS      120
#define CONFIG_MAPS "/api/v1/namespaces/default/configmaps"

#if SANITIZER_RUNS
int main(void)
{
	puts("ok 1 - the n-th allocation fails # SKIP a sanitizer's allocator is not to be "
	     "replaced\n1..1");
	return 0;
}
#else

static bool armed;
static int64_t until_failure; /* allocations that succeed before the one that fails */

static bool fails(void)
{
	if (!armed || until_failure-- != 0)
		return false;
	errno = ENOMEM;
	return true;
}

/* NOLINTBEGIN: the C library's own names; ours take the place of its public ones, also for
 * libraries */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails() ? NULL : __libc_realloc(p, n);
}
/* NOLINTEND */

static char dir[64], path[96];

static struct apifake *open_server(void)
{
	struct apifake_options o = {.with_audit = true, .path = path, .key_dir = dir};
	return apifake_new(&o);
}

static struct answer create(struct apifake *f, int round, int i)
{
	char body[160];
	(void)snprintf(
		body, sizeof(body),
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"o-%d-%d\"},"
		"\"data\":{\"a\":\"b\"}}",
		round, i);
	return apifake_do(f, "POST", CONFIG_MAPS, body);
}

/* Three writes; a byte to fd for each that was acknowledged, then how many allocations they took.
 */
static void work(int round, int64_t n, int fd)
{
	(void)signal(SIGSEGV, SIG_DFL); /* cmocka's handlers would go on here */
	(void)signal(SIGBUS, SIG_DFL);
	struct apifake *f = open_server();
	until_failure = n;
	armed = true;
	for (int i = 0; i < 3; i++) {
		char acknowledged = create(f, round, i).status == 201 ? '+' : '-';
		ssize_t told = write(fd, &acknowledged, 1);
		(void)told;
	}
	armed = false;
	int64_t taken = n - until_failure;
	ssize_t told = write(fd, &taken, sizeof(taken));
	(void)told;
	_exit(0);
}

/* What the process said before its end. */
static size_t run(int round, int64_t n, char said[16])
{
	int fds[2], status;
	size_t len = 0;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		work(round, n, fds[1]);
	(void)close(fds[1]);
	for (ssize_t got; len < 16 && (got = read(fds[0], said + len, 16 - len)) > 0;)
		len += (size_t)got;
	(void)close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status != 0 && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT))
		fail_msg("allocation %lld: wait status %d", (long long)n, status);
	return len;
}

static void assert_whole(int round, int64_t n, const char *said, size_t len)
{
	struct apifake *f = open_server();
	struct error err = ERROR_INIT;
	struct verify_options o = {.skip_file_check = true};
	struct verify_report *rep = xcalloc(1, sizeof(*rep));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < len && i < 3; i++) {
		char target[96];
		(void)snprintf(target, sizeof(target), CONFIG_MAPS "/o-%d-%zu", round, i);
		if (said[i] == '+' && apifake_do(f, "GET", target, NULL).status != 200)
			fail_msg("allocation %lld: %s is lost", (long long)n, target);
	}
	assert_ok(verify_log(apifake_db(f), &o, rep, &err), &err);
	verify_print(rep, &b);
	if (verify_exit(rep) != 0)
		fail_msg("allocation %lld: %s", (long long)n, b.buf);
	xfree(rep);
	apifake_free(f);
}

static void test_out_of_memory__nothing_acknowledged_is_lost(void **state)
{
	(void)state;
	static const char *const names[] = {"audit.key",  "redact.key", "audit.head", "alm.db-wal",
					    "alm.db-shm", "alm.db",     "alm.db.lock"};
	char said[16];
	int64_t all = 0;
	int ended = 0;
	(void)snprintf(dir, sizeof(dir), "%s/alm-memory-XXXXXX",
		       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/alm.db", dir);
	apifake_free(open_server());
	assert_int_equal(run(0, INT64_MAX, said), 3 + sizeof(all));
	memcpy(&all, said + 3, sizeof(all));
	assert_true(all > POINTS && memcmp(said, "+++", 3) == 0);
	for (int i = 1; i <= POINTS; i++) {
		int64_t n = all * (i - 1) / POINTS + i % 7;
		size_t len = run(i, n, said);
		ended += len < 3;
		assert_whole(i, n, said, len);
	}
	assert_true(ended > 0);
	print_message("# %d of %lld allocations failed, %d ended the process\n", POINTS,
		      (long long)all, ended);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char file[128];
		(void)snprintf(file, sizeof(file), "%s/%s", dir, names[i]);
		(void)remove(file);
	}
	(void)remove(dir);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_out_of_memory__nothing_acknowledged_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
