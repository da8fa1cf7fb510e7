/* How a commit's signature is asked for, by a wall that runs nothing and says what it is told. With the
 * real programs: tests/e2e/test_signatures.sh. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/client/git_verify.h"

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define ALICE  "alice@example.com ssh-ed25519 AAAA\n"

struct fixture {
	struct programs base; /* first */
	struct arena *a;
	char dir[32];
	struct git_place place;
	struct git_keys keys;
	struct git_verify *verify;
	char *line; /* what runs now: its arguments; NULL: nothing */
	struct program_call call;
	char *input;
	program_done done;
	void *arg;
	int n_cancelled, n_told;
	char *signer;
	struct error err;
};

static void keep(char **to, struct str text)
{
	xfree(*to);
	*to = text.len ? xstrndup(text.ptr, text.len) : xstrdup("");
}

static struct program_run *fake_run(struct programs *p, const struct program_call *call,
				    program_done done, void *arg)
{
	struct fixture *f = (struct fixture *)p;
	struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (const char *const *w = call->argv; *w; w++)
		strbuf_addf(&b, "%s%s", b.len ? " " : "", *w);
	keep(&f->line, strbuf_str(&b));
	keep(&f->input, call->input);
	strbuf_release(&b);
	assert_string_equal(call->path, call->argv[0]);
	assert_string_equal(call->dir, f->dir);
	assert_string_equal(call->env[0], f->place.env[0]);
	assert_true(call->limits.wall_ns == GIT_ASK_NS);
	assert_true(call->limits.output_bytes == GIT_TEXT_BYTES);
	f->done = done;
	f->arg = arg;
	return (struct program_run *)&f->call;
}

static void fake_cancel(struct programs *p, struct program_run *run)
{
	struct fixture *f = (struct fixture *)p;
	assert_ptr_equal(run, &f->call);
	f->n_cancelled++;
}

static const struct programs_ops fake_ops = {.run = fake_run, .cancel = fake_cancel};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->base.ops = &fake_ops;
	f->a = arena_new(1 << 20);
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/alm-verify-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	const char **env = ARENA_ARRAY(f->a, const char *, 2);
	env[0] = arena_fmt(f->a, "HOME=%s", f->dir);
	env[1] = NULL;
	f->place = (struct git_place){.programs = &f->base, .dir = f->dir, .env = env};
	f->keys = (struct git_keys){.ssh = ALICE, .pgp = ""};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	(void)unlink(arena_fmt(f->a, "%s/.gnupg/gpg.conf", f->dir));
	(void)rmdir(arena_fmt(f->a, "%s/.gnupg", f->dir));
	(void)unlink(arena_fmt(f->a, "%s/signers", f->dir));
	assert_int_equal(rmdir(f->dir), 0);
	xfree(f->line);
	xfree(f->input);
	xfree(f->signer);
	arena_free(f->a);
	xfree(f);
	return 0;
}

static void told(void *arg, const char *signer, const struct error *err)
{
	struct fixture *f = arg;
	f->n_told++;
	keep(&f->signer, str_of(signer ? signer : ""));
	f->err = err ? *err : ERROR_INIT;
}

static void start(struct fixture *f)
{
	f->n_told = 0;
	f->verify = git_verify_start(&f->place, COMMIT, &f->keys, f->a, told, f);
}

/* What runs is the program of this line; it ends so. */
static void ends(struct fixture *f, const char *line, int status, const char *errors,
		 const struct error *err)
{
	const struct program_result r = {.status = status, .errors = str_of(errors)};
	program_done done = f->done;
	assert_non_null(f->line);
	if (!str_contains(str_of(f->line), str_of(line)))
		fail_msg("%s, not %s", f->line, line);
	xfree(STEAL(f->line));
	done(f->arg, &r, err);
}

static void check_file(struct fixture *f, const char *name, const char *has)
{
	struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct file_info info;
	const char *path = arena_fmt(f->a, "%s/%s", f->dir, name);
	assert_ok(file_info(path, &info, &f->err), &f->err);
	assert_int_equal(info.mode & 0777, 0600);
	assert_ok(file_read(path, &b, &f->err), &f->err);
	if (!strstr(b.buf, has))
		fail_msg("%s: %s", name, b.buf);
	strbuf_release(&b);
}

#define GOOD "Good \"git\" signature for alice@example.com with ED25519 key SHA256:abc\n"

static void test_git_verify__the_keys_of_now_and_no_others(void **state)
{
	struct fixture *f = *state;
	start(f);
	check_file(f, "signers", ALICE);
	/* the ring of an earlier time goes first */
	ends(f, arena_fmt(f->a, "/bin/rm -rf -- %s/.gnupg", f->dir), 0, "", NULL);
	check_file(f, ".gnupg/gpg.conf", "no-auto-key-retrieve\n");
	check_file(f, ".gnupg/gpg.conf", "\nweak-digest SHA1\n");
	struct file_info info;
	assert_ok(file_info(arena_fmt(f->a, "%s/.gnupg", f->dir), &info, &f->err), &f->err);
	assert_int_equal(info.mode & 0777, 0700);
	assert_non_null(strstr(f->line, "-c gpg.program=/usr/bin/gpg -c "
					"gpg.ssh.program=/usr/bin/ssh-keygen -c "
					"gpg.ssh.allowedSignersFile="));
	assert_non_null(strstr(
		f->line, arena_fmt(f->a, "=%s/signers -c gpg.x509.program=/bin/false", f->dir)));
	assert_int_equal(f->n_told, 0);
	ends(f, "verify-commit --raw " COMMIT, 0, GOOD, NULL);
	assert_int_equal(f->n_told, 1);
	assert_int_equal(f->err.code, 0);
	assert_non_null(strstr(f->signer, "alice@example.com"));
	/* other keys take the place of these */
	f->keys.ssh = "";
	f->keys.pgp = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
	start(f);
	struct file_info signers;
	assert_ok(file_info(arena_fmt(f->a, "%s/signers", f->dir), &signers, &f->err), &f->err);
	assert_int_equal(signers.size, 0);
	ends(f, "/bin/rm", 0, "", NULL);
	assert_string_equal(f->input, f->keys.pgp);
	ends(f, "/usr/bin/gpg --batch --no-tty --quiet --import", 0, "", NULL);
	assert_null(strstr(f->line, "import"));
	ends(f, "verify-commit", 1, "error: no signature", NULL);
	assert_int_equal(f->err.code, E_INVALID);
	assert_int_equal(f->err.reason, REASON_SIGNATURE_INVALID);
	assert_string_equal(f->signer, "");
	assert_int_equal(f->n_told, 1);
}

static const struct error no_program = {.code = E_NOTFOUND, .msg = "/usr/bin/gpg: no such file"};
static const struct error too_long = {.code = E_LIMIT, .msg = "not within 30 s"};

static void test_git_verify__what_fails_on_the_way(void **state)
{
	static const struct {
		int at; /* 0: the ring goes, 1: the keys come, 2: it is judged */
		int status;
		const char *errors;
		const struct error *failed;
		int code;
		const char *why;
	} rows[] = {
		{0, -1, "", &too_long, E_UNAVAILABLE, "not within 30 s"},
		{1, -1, "", &no_program, E_UNAVAILABLE, "install the package gnupg"},
		{1, -1, "", &too_long, E_UNAVAILABLE, "gpg: not within 30 s"},
		{1, 2, "gpg: no valid OpenPGP data found.\n", NULL, E_INVALID,
		 "gpg does not take the keys of OpenPGP: gpg: no valid OpenPGP data found."},
		{2, -1, GOOD, &too_long, E_UNAVAILABLE, "git verify-commit: not within 30 s"},
		{2, 1, "error: cannot run /usr/bin/ssh-keygen: No such file or directory\n", NULL,
		 E_UNAVAILABLE, "ssh-keygen: No such file or directory; signatures of OpenPGP"},
		{2, 1, GOOD, NULL, E_INVALID, "0123456789ab: "},
		{2, 0, "nothing of a signature", NULL, E_INVALID, "0123456789ab: "},
	};
	struct fixture *f = *state;
	f->keys.pgp = "a key";
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		start(f);
		for (int at = 0; at < rows[i].at; at++)
			ends(f, "", 0, "", NULL);
		ends(f, "", rows[i].status, rows[i].errors, rows[i].failed);
		if (f->err.code != rows[i].code || !strstr(f->err.msg, rows[i].why))
			fail_msg("row %zu: %d %s", i, f->err.code, f->err.msg);
		assert_int_equal(f->err.reason, REASON_SIGNATURE_INVALID);
		assert_int_equal(f->n_told, 1);
		assert_string_equal(f->signer, "");
		assert_null(f->line); /* nothing goes on */
	}
}

/* A ring that cannot be made anew judges nothing. */
static void test_git_verify__without_a_ring(void **state)
{
	struct fixture *f = *state;
	const char *path = arena_fmt(f->a, "%s/.gnupg", f->dir);
	start(f);
	assert_ok(file_write_new(path, STR("in its place"), 0600, &f->err), &f->err);
	ends(f, "/bin/rm", 0, "", NULL);
	assert_int_equal(f->n_told, 1);
	assert_int_equal(f->err.code, E_UNAVAILABLE);
	assert_null(f->line);
	assert_int_equal(unlink(path), 0);
}

static void test_git_verify__a_cancelled_one_is_silent(void **state)
{
	struct fixture *f = *state;
	git_verify_cancel(NULL);
	start(f);
	git_verify_cancel(f->verify);
	start(f);
	ends(f, "/bin/rm", 0, "", NULL);
	git_verify_cancel(f->verify); /* that of now */
	assert_int_equal(f->n_cancelled, 2);
	assert_int_equal(f->n_told, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_git_verify__the_keys_of_now_and_no_others),
		T(test_git_verify__what_fails_on_the_way),
		T(test_git_verify__without_a_ring),
		T(test_git_verify__a_cancelled_one_is_silent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
