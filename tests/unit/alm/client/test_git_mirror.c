/* A mirror of real repositories, by the real program git. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/client/git_mirror.h"
#include "alm/client/git_run.h"
#include "alm/io/loop_event.h"

/* The wall; calls of git with this argument fail. */
struct failing {
	struct programs base; /* first */
	struct programs *real;
	const char *argument; /* NULL: none */
	const char *says;     /* a script, instead of them */
	const char *but_with; /* not those that have this, too */
	const char *program;  /* not NULL: it is run instead of each */
};

struct fixture {
	struct loop *loop;
	struct programs *programs;
	struct failing failing;
	struct address_policy *addresses; /* of the last reading from a server */
	struct arena *a;
	char dir[32];
	const char *bare, *url, *mirror;
	const char *applied, *commit, *path; /* path NULL: the root */
	bool done, rewritten, unknown;
	struct error err;
	const char *head;
	size_t n_skipped, n_files;
};

static struct program_run *failing_run(struct programs *p, const struct program_call *call,
				       program_done done, void *arg)
{
	struct failing *f = (struct failing *)p;
	const struct program_call no = {
		.path = "/bin/sh",
		.argv = (const char *const[]){"/bin/sh", "-c", f->says, NULL},
		.env = call->env,
		.dir = call->dir};
	struct program_call other = *call;
	other.path = f->program;
	if (f->program)
		return programs_run(f->real, &other, done, arg);
	bool fails = false, spared = false;
	for (const char *const *a = call->argv; *a; a++) {
		fails |= cstr_eq(*a, f->argument);
		spared |= cstr_eq(*a, f->but_with);
	}
	return programs_run(f->real, fails && !spared ? &no : call, done, arg);
}

static void failing_cancel(struct programs *p, struct program_run *run)
{
	programs_cancel(((struct failing *)p)->real, run);
}

static const struct programs_ops failing_ops = {.run = failing_run, .cancel = failing_cancel};

static void shell_done(void *arg, const struct program_result *r, const struct error *err)
{
	struct fixture *f = arg;
	f->done = true;
	if (err || r->status)
		fail_msg("%s %.*s", err ? err->msg : "", STR_ARG(r->errors));
	loop_stop(f->loop);
}

static void wait_for(struct fixture *f)
{
	f->done = false;
	while (!f->done)
		loop_run(f->loop);
}

/* In the test's folder; $w is a clone of the bare repository. */
static void shell(struct fixture *f, const char *script)
{
	const char *const argv[] = {"/bin/sh", "-euc", script, NULL};
	const char *const env[] = {"PATH=/usr/bin:/bin",       "GIT_CONFIG_GLOBAL=/dev/null",
				   "GIT_AUTHOR_NAME=alice",    "GIT_AUTHOR_EMAIL=a@example.com",
				   "GIT_COMMITTER_NAME=alice", "GIT_COMMITTER_EMAIL=a@example.com",
				   "HOME=/nonexistent",        NULL};
	const struct program_call c = {.path = argv[0], .argv = argv, .env = env, .dir = f->dir};
	(void)programs_run(f->programs, &c, shell_done, f);
	wait_for(f);
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->a = arena_new(1 << 20);
	f->loop = loop_event_new();
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/alm-mirror-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_ok(programs_process_new(f->loop, &f->programs, &f->err), &f->err);
	f->failing = (struct failing){.base = {&failing_ops}, .real = f->programs};
	f->bare = arena_fmt(f->a, "%s/bare.git", f->dir);
	f->url = arena_fmt(f->a, "file://%s", f->bare);
	f->mirror = arena_fmt(f->a, "%s/mirror", f->dir);
	*state = f;
	shell(f, "git init -q --bare -b main bare.git; git clone -q bare.git w 2>/dev/null; cd w\n"
		 "git checkout -q -b main; echo 'a: 1' >a.yaml; git add .\n"
		 "git commit -q -m first; git push -q origin main");
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	shell(f, "rm -rf -- \"$PWD\"/*");
	(void)rmdir(f->dir);
	programs_free(f->programs);
	address_policy_free(f->addresses);
	loop_free(f->loop);
	arena_free(f->a);
	xfree(f);
	return 0;
}

static void came(void *arg, const struct git_result *r, const struct error *err)
{
	struct fixture *f = arg;
	f->done = true;
	f->err = err ? *err : ERROR_INIT;
	f->rewritten = r->rewritten;
	f->unknown = r->unknown;
	f->n_skipped = r->n_skipped;
	f->n_files = r->files->n;
	f->head = r->head.commit ? arena_strdup(f->a, r->head.commit) : NULL;
	loop_stop(f->loop);
}

static void read_branch(struct fixture *f)
{
	const struct git_request rq = {.url = f->url,
				       .branch = "main",
				       .path = f->path ? f->path : "",
				       .dir = f->mirror,
				       .commit = f->commit,
				       .applied = f->applied};
	(void)git_read_start(&f->failing.base, &rq, came, f);
	wait_for(f);
}

/* A file of ours in the mirror: is it still the same one? */
static bool has_mark(const struct fixture *f)
{
	return file_exists(arena_fmt(f->a, "%s/repo/mark", f->mirror));
}

static void first_reading(struct fixture *f)
{
	read_branch(f);
	assert_ok(-f->err.code, &f->err);
	assert_int_equal(f->n_files, 1);
	f->applied = f->head;
	shell(f, "touch mirror/repo/mark");
}

#define PUSH3                                                                                   \
	"cd w; for i in 1 2 3; do echo \"a: p$i\" >a.yaml; git commit -qam \"push $i\"; done; " \
	"git push -q origin main"

/* Not a failure of the source: whoever reads it is told what to install. */
static void test_git_mirror__without_git(void **state)
{
	struct fixture *f = *state;
	f->failing.program = "/nonexistent/git";
	read_branch(f);
	assert_int_equal(f->err.code, E_NOTFOUND);
	assert_int_equal(f->err.reason, REASON_GIT_MISSING);
	assert_string_equal(f->err.msg,
			    "GitMissing: there is no " GIT_PROGRAM "; install the package git");
	f->failing.program = NULL;
	first_reading(f);
}

static void test_git_mirror__a_failed_fetch_leaves_what_is_there(void **state)
{
	struct fixture *f = *state;
	first_reading(f);
	shell(f, PUSH3);
	/* the server lacks a file of the new commit: it says its head, and cannot send it */
	shell(f, "o=$(git -C w rev-parse HEAD:a.yaml); p=bare.git/objects/$(echo $o | cut -c1-2)\n"
		 "mv $p/$(echo $o | cut -c3-) lost; echo $p/$(echo $o | cut -c3-) >place");
	read_branch(f);
	assert_int_equal(f->err.code, E_UNAVAILABLE);
	assert_int_equal(f->err.reason, REASON_SOURCE_UNREACHABLE);
	assert_true(has_mark(f));
	assert_false(file_exists(arena_fmt(f->a, "%s/repo.new", f->mirror)));
	shell(f, "mv lost $(cat place)");
	read_branch(f);
	assert_ok(-f->err.code, &f->err);
	assert_true(has_mark(f));
	assert_false(f->rewritten);
	assert_int_equal(f->n_skipped, 2);
}

static void test_git_mirror__a_damaged_one_is_made_anew(void **state)
{
	struct fixture *f = *state;
	static const char *const damages[] = {
		"touch mirror/repo/refs/alm/head.lock", /* of a kill */
		"rm -rf mirror/repo/objects; mkdir mirror/repo/objects",
		": >mirror/repo/HEAD",
		"mkdir -p mirror/repo.new/refs; rm mirror/repo/config; echo '[' "
		">mirror/repo/config",
	};
	for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
		first_reading(f);
		shell(f, damages[i]);
		shell(f, PUSH3);
		read_branch(f);
		if (f->err.code)
			fail_msg("%s: %s", damages[i], f->err.msg);
		assert_false(f->rewritten);
		assert_false(f->unknown);
		assert_int_equal(f->n_skipped, 2);
		assert_int_equal(f->n_files, 1);
		assert_false(file_exists(arena_fmt(f->a, "%s/repo.new", f->mirror)));
	}
}

static void test_git_mirror__a_force_push_rewrites_the_history(void **state)
{
	struct fixture *f = *state;
	first_reading(f);
	shell(f, "cd w; echo 'a: 9' >a.yaml; git commit -q -a --amend -m other; git push -qf "
		 "origin main");
	read_branch(f);
	assert_ok(-f->err.code, &f->err);
	assert_true(f->rewritten);
	assert_true(has_mark(f));
	/* the same with a mirror that has the head alone: all of the history is there to be seen */
	shell(f, "rm -rf mirror");
	read_branch(f);
	assert_ok(-f->err.code, &f->err);
	assert_true(f->rewritten);
}

/* Of pushes that came meanwhile the newest is read, and the others are told. */
static void test_git_mirror__the_newest_head_is_read(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT(1 << 10);
	first_reading(f);
	for (int i = 0; i < 2; i++) {
		shell(f,
		      "cd w; for i in 1 2 3; do echo \"$i: $i\" >a.yaml; git commit -q -a -m $i; "
		      "git push -q origin main; done; git rev-parse HEAD | tr -d '\\n' >../head");
		read_branch(f);
		assert_ok(-f->err.code, &f->err);
		strbuf_clear(&want);
		assert_ok(file_read(arena_fmt(f->a, "%s/head", f->dir), &want, &f->err), &f->err);
		assert_string_equal(f->head, want.buf);
		assert_int_equal(f->n_skipped, 2);
		f->applied = f->head;
	}
}

/* Each try would leave another pack; and one that is too large is not asked for again. */
static void test_git_mirror__what_has_no_room_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *argument, *says;
		int code;
		enum error_reason reason;
	} rows[] = {
		{"--depth=1", "error: index-pack died of signal 25", E_LIMIT,
		 REASON_LIMIT_EXCEEDED},
		{"--depth=1", "error: write error: File too large", E_LIMIT, REASON_LIMIT_EXCEEDED},
		{"--depth=1", "fatal: write error: No space left on device", E_IO,
		 REASON_SOURCE_UNREACHABLE},
		{"--depth=1", "fatal: early EOF", E_UNAVAILABLE, REASON_SOURCE_UNREACHABLE},
		{"init", "fatal: cannot mkdir: No space left on device", E_IO,
		 REASON_SOURCE_UNREACHABLE},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		f->failing.argument = rows[i].argument;
		f->failing.says = arena_fmt(
			f->a,
			"d=repo; test ! -d repo.new || d=repo.new; mkdir -p $d/objects/pack "
			"$d/objects/ab; cd $d/objects; : >pack/tmp_pack_a; : >pack/.tmp-1-pack-x; "
			": >pack/pack-b.pack; : >ab/tmp_obj_c; echo '%s' >&2; exit 128",
			rows[i].says);
		read_branch(f);
		assert_int_equal(f->err.code, rows[i].code);
		assert_int_equal(f->err.reason, rows[i].reason);
		assert_int_equal(f->head != NULL, rows[i].code == E_LIMIT);
		shell(f, "cd mirror; test ! -e repo.new; test -e repo/objects/pack/pack-b.pack; "
			 "test -z \"$(find . -name '*tmp*')\"; rm -rf repo");
	}
	/* of a process that was killed */
	f->failing.argument = NULL;
	first_reading(f);
	shell(f, "echo x >mirror/repo/objects/pack/tmp_pack_a");
	shell(f, PUSH3);
	read_branch(f);
	assert_ok(-f->err.code, &f->err);
	shell(f, "test -z \"$(find mirror -name 'tmp*')\"");
}

/* Ordinary pushes, and a mirror that was lost: n commits ago. */
static void push_many(struct fixture *f, int n)
{
	shell(f,
	      arena_fmt(f->a,
			"h=$(git -C w rev-parse HEAD)\n"
			"for i in $(seq %d); do printf 'commit refs/heads/main\\ncommitter a <a@x> "
			"%%d +0000\\ndata 2\\nx\\n' $((1000000 + i)); [ $i = 1 ] && echo from $h; "
			"echo; done | git -C bare.git fast-import --quiet; rm -rf mirror",
			n));
}

static void test_git_mirror__a_lost_mirror_makes_no_rewritten_history(void **state)
{
	struct fixture *f = *state;
	first_reading(f);
	push_many(f, 60);
	f->failing = (struct failing){f->failing.base,
				      f->programs,
				      "--depth=1000",
				      "echo fatal: the connection was cut >&2; exit 128",
				      NULL,
				      NULL};
	read_branch(f);
	assert_int_equal(f->err.reason, REASON_SOURCE_UNREACHABLE); /* the next poll knows more */
	f->failing.says = "echo error: index-pack died of signal 25 >&2; exit 128";
	read_branch(f);
	assert_ok(-f->err.code, &f->err);
	assert_false(f->rewritten);
	assert_true(f->unknown);
	assert_int_equal(f->n_skipped, 0);
	f->failing.argument = NULL;
	read_branch(f);
	assert_ok(-f->err.code, &f->err);
	assert_false(f->rewritten);
	assert_false(f->unknown);
	assert_int_equal(f->n_skipped, 59);
}

static void test_git_mirror__what_lies_further_back_is_not_known(void **state)
{
	struct fixture *f = *state;
	first_reading(f);
	push_many(f, 1050);
	read_branch(f);
	assert_ok(-f->err.code, &f->err);
	assert_false(f->rewritten);
	assert_true(f->unknown);
}

/* A commit of the branch is read instead of its head, and that rewrites no history; what a fork has
 * beside the branch, or lies too far back, is none of it. */
static void test_git_mirror__a_commit_of_the_branch(void **state)
{
	struct fixture *f = *state;
	first_reading(f);
	const char *first = f->head;
	push_many(f, 60);
	read_branch(f);
	f->applied = f->head;
	f->commit = first;
	shell(f, "rm -rf mirror"); /* the head alone is fetched at first */
	read_branch(f);
	assert_ok(-f->err.code, &f->err);
	assert_string_equal(f->head, first);
	assert_false(f->rewritten);
	assert_false(f->unknown);
	assert_int_equal(f->n_skipped, 0);
	assert_int_equal(f->n_files, 1);
	shell(f, "cd w; git checkout -q --orphan fork; git commit -q -m fork; git push -q origin "
		 "fork; "
		 "git rev-parse fork >../fork");
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	assert_ok(file_read(arena_fmt(f->a, "%s/fork", f->dir), &text, &f->err), &f->err);
	f->commit = arena_fmt(f->a, "%.40s", text.buf);
	read_branch(f);
	assert_int_equal(f->err.reason, REASON_BRANCH_NOT_FOUND);
	assert_non_null(strstr(f->err.msg, "nor one of the 1000 before it"));
	f->commit = "0123456789abcdef0123456789abcdef01234567";
	read_branch(f);
	assert_int_equal(f->err.reason, REASON_BRANCH_NOT_FOUND);
}

/* Only what git says is not there is not there; nobody is told that a branch was rewritten, or lacks a commit, for
 * a server or a mirror that fails. */
static void test_git_mirror__why_a_commit_is_not_found(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *argument, *but_with, *says;
		int code;
		enum error_reason reason;
	} rows[] = {
		{"merge-base", NULL, "fatal: Failed to traverse parents of commit", E_UNAVAILABLE,
		 REASON_SOURCE_UNREACHABLE},
		{"merge-base", NULL, "fatal: Not a valid commit name", E_NOTFOUND,
		 REASON_BRANCH_NOT_FOUND},
		{"fetch", "--depth=1", "fatal: unable to connect: Connection refused",
		 E_UNAVAILABLE, REASON_SOURCE_UNREACHABLE},
		{"fetch", "--depth=1", "fatal: Authentication failed", E_UNAUTHORIZED,
		 REASON_CREDENTIALS_REJECTED},
	};
	first_reading(f);
	const char *first = f->head;
	push_many(f, 3);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		shell(f, "rm -rf mirror");
		f->commit = first;
		f->failing.argument = rows[i].argument;
		f->failing.but_with = rows[i].but_with;
		f->failing.says = arena_fmt(f->a, "echo '%s' >&2; exit 128", rows[i].says);
		read_branch(f);
		if (f->err.code != rows[i].code || f->err.reason != rows[i].reason)
			fail_msg("%s: %d %s", rows[i].says, f->err.code, f->err.msg);
	}
	f->commit = NULL;
	f->applied = first;
	f->failing.argument = "merge-base";
	f->failing.but_with = NULL;
	f->failing.says = "echo 'fatal: Failed to traverse parents of commit' >&2; exit 128";
	read_branch(f);
	assert_ok(-f->err.code, &f->err);
	assert_false(f->rewritten);
	assert_true(f->unknown);
	f->failing.argument = NULL;
}

/* --- by ssh --- */

/* ssh NULL: by https. */
static struct git_read *start_remote(struct fixture *f, const char *url, const struct git_ssh *ssh)
{
	static const char *const rules[] = {"localhost", "127.0.0.1"};
	const struct git_request rq = {
		.url = url, .branch = "main", .path = "", .dir = f->mirror, .ssh = ssh};
	struct git_request with = rq;
	address_policy_free(STEAL(f->addresses));
	assert_ok(address_policy_new(rules, ARRAY_LEN(rules), &f->addresses, &f->err), &f->err);
	with.addresses = f->addresses;
	return git_read_start(&f->failing.base, &with, came, f);
}

static struct git_read *start_by_ssh(struct fixture *f, const char *says)
{
	static const struct git_ssh ssh = {.key = "CANARY", .known_hosts = "KNOWN"};
	f->failing.argument = "ls-remote";
	f->failing.says = says;
	return start_remote(f, "ssh://git@localhost:2222/x.git", &ssh);
}

static void read_by_ssh(struct fixture *f, const char *says)
{
	(void)start_by_ssh(f, says);
	wait_for(f);
}

/* A file that was pushed and taken back again is in all of the history, and not in the head. */
static void test_git_mirror__a_history_that_is_too_large_is_left_out(void **state)
{
	struct fixture *f = *state;
	first_reading(f);
	shell(f, PUSH3);
	f->failing.argument = "fetch";
	f->failing.but_with = "--depth=1";
	f->failing.says = "echo 'error: write error: File too large' >&2; exit 128";
	read_branch(f);
	assert_ok(-f->err.code, &f->err);
	assert_int_equal(f->n_files, 1);
	shell(f, "test ! -e mirror/repo.new; test \"$(git -C mirror/repo log --format=%s -n 1 "
		 "--all)\" = 'push 3'");
	/* and of a head that is, too, it is said which one it was */
	shell(f, PUSH3);
	f->failing.but_with = NULL;
	read_branch(f);
	assert_int_equal(f->err.reason, REASON_LIMIT_EXCEEDED);
	assert_non_null(f->head);
}

/* Nothing of it is left, also of what a killed process had begun. */
static void test_git_mirror__a_key_is_there_while_the_server_is_talked_to(void **state)
{
	struct fixture *f = *state;
	shell(f, "mkdir -p mirror; mkdir -m 700 mirror/ssh; echo CANARY >mirror/ssh/key.tmp7; echo "
		 "old >mirror/ssh/key");
	read_by_ssh(f, "{ stat -c '%A %n' ssh ssh/*; cat ssh/key ssh/known_hosts; env; } >../said; "
		       "exit 128");
	shell(f, "grep -q '^drwx------ ssh$' said\n"
		 "grep -q '^-rw------- ssh/key$' said\n"
		 "grep -q '^CANARY$' said\n"
		 "grep -q '^KNOWN$' said\n"
		 "if grep -q -e tmp7 -e '=.*CANARY' said; then exit 1; fi\n"
		 "grep -q '^GIT_ALLOW_PROTOCOL=ssh$' said\n"
		 "grep -q \"^GIT_SSH_COMMAND=.*HostKeyAlias='.localhost.:2222' -o "
		 "HostName=[0-9.:]* -o Port=2222 -o User=git\\$\" said\n"
		 "test -z \"$(ls mirror/ssh)\"");
}

/* One that cannot be told which address a name has would resolve it by itself. */
static void test_git_mirror__an_older_git_resolves_no_name(void **state)
{
	static const struct {
		const char *url, *version;
		bool is_old;
	} rows[] = {{"https://localhost:1/x.git", "2.36.9", true},
		    {"https://localhost:1/x.git", "2.37.0", false},
		    {"https://127.0.0.1:1/x.git", "2.36.9", false}};
	struct fixture *f = *state;
	f->failing.argument = "version";
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		f->failing.says = arena_fmt(f->a, "echo git version %s", rows[i].version);
		(void)start_remote(f, rows[i].url, NULL);
		wait_for(f);
		assert_int_equal(f->err.reason,
				 rows[i].is_old ? REASON_GIT_MISSING : REASON_SOURCE_UNREACHABLE);
		assert_int_equal(strstr(f->err.msg, "older than 2.37") != NULL, rows[i].is_old);
	}
}

/* Nor of what is not waited for any more. */
static void test_git_mirror__a_key_goes_with_its_reading(void **state)
{
	struct fixture *f = *state;
	struct git_read *g = start_by_ssh(f, "exec sleep 60");
	shell(f, "while test ! -e mirror/ssh/key; do sleep 0.01; done");
	git_read_cancel(g);
	shell(f, "test -z \"$(ls mirror/ssh)\"");
}

static void test_git_mirror__what_ssh_says(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *says;
		enum error_reason reason;
		const char *text;
	} rows[] = {
		{"@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification "
		 "failed.",
		 REASON_HOST_KEY_CHANGED, "[localhost]:2222 shows another host key"},
		{"@ WARNING: REVOKED HOST KEY DETECTED! @\nHost key verification failed.",
		 REASON_HOST_KEY_CHANGED, "has as revoked"},
		{"No ED25519 host key is known for [localhost]:2222 and you have requested strict "
		 "checking.\nHost key verification failed.",
		 REASON_HOST_KEY_UNKNOWN, "no host key of [localhost]:2222"},
		{"Load key \"ssh/key\": error in libcrypto\ngit@::1: Permission denied "
		 "(publickey).",
		 REASON_CREDENTIALS_REJECTED, "no private key that ssh can read"},
		{"git@127.0.0.1: Permission denied (publickey).", REASON_CREDENTIALS_REJECTED,
		 "does not take the private key for the user git"},
		{"sh: 1: exec: /usr/bin/ssh: not found", REASON_GIT_MISSING, "openssh-client"},
		{"ERROR: Repository not found.", REASON_SOURCE_UNREACHABLE,
		 "git ls-remote: ERROR: Repository not found."},
		{"ssh: connect to host 127.0.0.1 port 2222: Connection refused",
		 REASON_SOURCE_UNREACHABLE, "Connection refused"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *script = arena_fmt(
			f->a,
			"printf '%%s\\n' '%s' 'fatal: Could not read from remote repository.' '' "
			"'Please make sure' >&2; exit 128",
			rows[i].says);
		read_by_ssh(f, script);
		assert_int_equal(f->err.reason, rows[i].reason);
		if (!strstr(f->err.msg, rows[i].text))
			fail_msg("%s: %s", rows[i].says, f->err.msg);
	}
}

/* That the folder is not there stays so; that git had no memory, or its disk failed, does not. */
static void test_git_mirror__a_tree_that_cannot_be_listed(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *says;
		enum error_reason reason;
	} rows[] = {
		{"echo 'fatal: Out of memory, malloc failed' >&2; exit 128",
		 REASON_SOURCE_UNREACHABLE},
		{"exit 128", REASON_SOURCE_UNREACHABLE},
		{NULL, REASON_SOURCE_EMPTY}, /* as it is: the path is a file's */
	};
	f->path = "a.yaml";
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		f->failing.argument = rows[i].says ? "ls-tree" : NULL;
		f->failing.says = rows[i].says;
		read_branch(f);
		assert_int_equal(f->err.reason, rows[i].reason);
	}
	f->path = "none";
	read_branch(f);
	assert_int_equal(f->err.reason, REASON_SOURCE_EMPTY);
}

/* Of a tree that is damaged git says what it says of none: nothing is removed for it. */
static void test_git_mirror__a_tree_that_is_damaged(void **state)
{
	struct fixture *f = *state;
	static const char *const trees[] = {"apps/web", "apps"};
	shell(f, "cd w; mkdir -p apps/web; echo 'a: 1' >apps/web/a.yaml; git add .; "
		 "git commit -q -m apps; git push -q origin main");
	for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
		f->path = "apps/web";
		first_reading(f);
		shell(f, arena_fmt(f->a,
				   "o=$(git -C w rev-parse HEAD:%s); cd mirror/repo; mv "
				   "objects/pack/*.pack .; "
				   "rm -f objects/pack/*; for p in *.pack; do git --git-dir . "
				   "unpack-objects -q <$p; done; cd objects; "
				   "rm $(echo $o | cut -c1-2)/$(echo $o | cut -c3-)",
				   trees[i]));
		read_branch(f);
		assert_int_equal(f->err.reason, REASON_SOURCE_UNREACHABLE);
		shell(f, "rm -rf mirror");
	}
}

int main(void)
{
	if (!file_exists(GIT_PROGRAM)) {
		print_message("SKIP: no " GIT_PROGRAM "\n");
		return 0;
	}
#define TEST(name) cmocka_unit_test_setup_teardown(test_git_mirror__##name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(without_git),
		TEST(a_failed_fetch_leaves_what_is_there),
		TEST(a_damaged_one_is_made_anew),
		TEST(the_newest_head_is_read),
		TEST(a_force_push_rewrites_the_history),
		TEST(what_has_no_room_leaves_nothing),
		TEST(a_history_that_is_too_large_is_left_out),
		TEST(a_lost_mirror_makes_no_rewritten_history),
		TEST(what_lies_further_back_is_not_known),
		TEST(a_tree_that_is_damaged),
		TEST(a_commit_of_the_branch),
		TEST(why_a_commit_is_not_found),
		TEST(a_key_is_there_while_the_server_is_talked_to),
		TEST(an_older_git_resolves_no_name),
		TEST(a_key_goes_with_its_reading),
		TEST(what_ssh_says),
		TEST(a_tree_that_cannot_be_listed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
