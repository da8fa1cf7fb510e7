/* The launcher, as program.c speaks to it and as it does not. */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "alm/io/child.h"
#include "alm/io/program_child.h"

struct launcher {
	pid_t pid;
	int fd;
};

static struct launcher launch(void)
{
	int pair[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	(void)fflush(NULL);
	struct launcher l = {.pid = fork(), .fd = pair[0]};
	if (l.pid == 0) {
		(void)close(pair[0]);
		program_launcher(pair[1]);
	}
	(void)close(pair[1]);
	return l;
}

/* It ends with the socket. */
static void land(const struct launcher *l)
{
	int status = -1;
	(void)close(l->fd);
	assert_int_equal(waitpid(l->pid, &status, 0), l->pid);
	assert_int_equal(status, 0);
}

struct heard {
	ssize_t n; /* bytes of the report: 0 is none */
	struct program_report report;
	char out[64];
};

/* Sends an order as it is and waits for what comes of it. */
static struct heard send_order(const struct launcher *l, struct str order, size_t n_fds)
{
	struct heard h = {0};
	int control[2], in[2], out[2], errs[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control), 0);
	assert_true(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 &&
		    pipe2(errs, O_CLOEXEC) == 0);
	const int fds[CHILD_FDS_MAX] = {control[1], in[0], out[1], errs[1]};
	assert_true(child_send(l->fd, order.ptr, order.len, fds, n_fds));
	for (size_t i = 0; i < CHILD_FDS_MAX; i++)
		(void)close(fds[i]);
	h.n = recv(control[0], &h.report, sizeof(h.report), 0);
	(void)!read(out[0], h.out, sizeof(h.out) - 1);
	const int ours[] = {control[0], in[1], out[0], errs[0]};
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		(void)close(ours[i]);
	return h;
}

static const struct program_order plain = {
	.limits = {.output_bytes = 1000,
		   .error_bytes = 1000,
		   .memory_bytes = (size_t)1 << 30,
		   .cpu_s = 10,
		   .wall_ns = 60 * NS_PER_S},
	.n_args = 4,
	.n_env = 1,
	.n_reads = 1,
	.n_writes = 1,
};

#define TEXTS                                                         \
	"/bin/sh\0"                                                   \
	"/\0"                                                         \
	"sh\0-c\0printf %s \"$1$V$#$(pwd)\"; exit 3\0word\0V=v\0/r\0" \
	"/w"

static void order(struct strbuf *b, struct program_order o, const char *texts, size_t n)
{
	strbuf_clear(b);
	strbuf_add(b, &o, sizeof(o));
	strbuf_add(b, texts, n);
}

static void check_good(const struct launcher *l, struct strbuf *b)
{
	order(b, plain, TEXTS, sizeof(TEXTS));
	struct heard h = send_order(l, strbuf_str(b), CHILD_FDS_MAX);
	assert_int_equal(h.n, sizeof(h.report));
	assert_int_equal(h.report.failed, 0);
	assert_int_equal(h.report.end, PROGRAM_ENDED);
	assert_true(WIFEXITED(h.report.status));
	assert_int_equal(WEXITSTATUS(h.report.status), 3);
	assert_string_equal(h.out, "v0/");
}

/* Each is thrown away, its socket closes, and the next order is served. */
static void test_program_child__a_malformed_order_starts_nothing(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PROGRAM_ORDER_BYTES);
	struct launcher l = launch();
	check_good(&l, &b);
	for (int i = 0; i < 12; i++) {
		struct program_order o = plain;
		size_t cut = sizeof(TEXTS), n_fds = CHILD_FDS_MAX;
		uint32_t *const counts[] = {&o.n_args, &o.n_env, &o.n_reads, &o.n_writes};
		if (i < 4)
			++*counts[i]; /* more than there are */
		else if (i < 8)
			--*counts[i - 4]; /* one is left over */
		else if (i == 8)
			cut--; /* the last has no end */
		else if (i == 9)
			cut = 0;
		else if (i == 10)
			cut = sizeof("/bin/sh");
		else
			n_fds--;
		order(&b, o, TEXTS, cut);
		struct heard h = send_order(&l, strbuf_str(&b), n_fds);
		if (h.n != 0)
			fail_msg("%d: %zd bytes", i, h.n);
		assert_string_equal(h.out, "");
	}
	/* not even a whole order */
	order(&b, plain, TEXTS, sizeof(TEXTS));
	assert_int_equal(send_order(&l, str_n(b.buf, sizeof(plain) - 1), CHILD_FDS_MAX).n, 0);
	check_good(&l, &b);
	land(&l);
}

/* As many as fit, and not one more: a list has room for its end. */
static void test_program_child__lists_have_their_limit(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PROGRAM_ORDER_BYTES);
	CLEANUP(strbuf_release) struct strbuf texts = STRBUF_INIT(PROGRAM_ORDER_BYTES);
	struct launcher l = launch();
	for (uint32_t which = 0; which < 4; which++) {
		for (uint32_t n = PROGRAM_ARGS_MAX; n <= PROGRAM_ARGS_MAX + 1; n++) {
			struct program_order o = {.limits = plain.limits};
			uint32_t *const counts[] = {&o.n_args, &o.n_env, &o.n_reads, &o.n_writes};
			*counts[which] = n;
			strbuf_clear(&texts);
			strbuf_add(&texts, "/bin/true\0/", sizeof("/bin/true\0/"));
			for (uint32_t i = 0; i < n; i++)
				strbuf_add(&texts, "a", 2);
			order(&b, o, texts.buf, texts.len);
			struct heard h = send_order(&l, strbuf_str(&b), CHILD_FDS_MAX);
			if (h.n != (n > PROGRAM_ARGS_MAX ? 0 : (ssize_t)sizeof(h.report)))
				fail_msg("list %u of %u: %zd bytes", which, n, h.n);
		}
	}
	check_good(&l, &b);
	land(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_child__a_malformed_order_starts_nothing),
		cmocka_unit_test(test_program_child__lists_have_their_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
