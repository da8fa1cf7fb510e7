#include "alm/client/git_verify.h"

#include "alm/base/file.h"

struct git_verify {
	const struct git_place *place;
	struct program_run *run;
	struct arena *a;
	const char *commit, *home; /* home: of gpg */
	const struct git_keys *keys;
	git_verify_fn done;
	void *arg;
};

static void finish(struct git_verify *v, const char *signer, struct error *err)
{
	git_verify_fn done = v->done;
	void *arg = v->arg;
	xfree(v);
	if (err && !err->reason)
		error_set_reason(err, REASON_SIGNATURE_INVALID);
	done(arg, signer, err);
}

/* --- the stages, last one first --- */

static const struct git_stage stage_judge, stage_import, stage_clear;

static void judged(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_verify *v = arg;
	struct error err = ERROR_INIT;
	const char *signer = NULL;
	if (failed) {
		error_set(&err, E_UNAVAILABLE, "git verify-commit: %s", failed->msg);
	} else if (str_contains(r->errors, STR("cannot run "))) {
		struct str line = git_fatal_line(r->errors);
		error_set(&err, E_UNAVAILABLE,
			  "%.*s; signatures of OpenPGP take the package gnupg, those of SSH "
			  "openssh-client",
			  STR_ARG(line));
	} else {
		git_signature_judge(r->status, r->errors, v->commit, v->a, &signer, &err);
	}
	finish(v, signer, err.code ? &err : NULL);
}

static const struct git_stage stage_judge = {"verify-commit", GIT_TEXT_BYTES, GIT_ASK_NS, judged};

static void judge(struct git_verify *v)
{
	struct arena *a = v->a;
	v->run = git_run(
		v->place, &stage_judge, STR_NONE,
		GIT_ARGS("-c", arena_fmt(a, "gpg.program=%s", GPG_PROGRAM), "-c",
			 arena_fmt(a, "gpg.ssh.program=%s", SSH_KEYGEN_PROGRAM), "-c",
			 arena_fmt(a, "gpg.ssh.allowedSignersFile=%s/signers", v->place->dir), "-c",
			 "gpg.x509.program=/bin/false", "verify-commit", "--raw", v->commit),
		v);
}

static void run_tool(struct git_verify *v, const struct git_stage *s, struct str input,
		     const char *const *argv)
{
	const struct program_call c = {
		.path = argv[0],
		.argv = argv,
		.env = v->place->env,
		.dir = v->place->dir,
		.input = input,
		.limits = {.output_bytes = s->output_bytes, .wall_ns = s->wall_ns}};
	v->run = programs_run(v->place->programs, &c, s->done, v);
}

static void imported(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_verify *v = arg;
	struct error err = ERROR_INIT;
	if (failed && failed->code == E_NOTFOUND)
		error_set(&err, E_UNAVAILABLE,
			  "there is no " GPG_PROGRAM ", which keys of OpenPGP take; install the "
			  "package gnupg");
	else if (failed)
		error_set(&err, E_UNAVAILABLE, "gpg: %s", failed->msg);
	else if (r->status)
		error_set(&err, E_INVALID, "gpg does not take the keys of OpenPGP: %.*s",
			  STR_ARG(git_fatal_line(r->errors)));
	if (err.code)
		finish(v, NULL, &err);
	else
		judge(v);
}

static const struct git_stage stage_import = {"import", GIT_TEXT_BYTES, GIT_ASK_NS, imported};

/* Nothing is looked up elsewhere, and whoever is in the ring is trusted: nobody else is. */
static int make_home(const struct git_verify *v, struct error *err)
{
	static const char settings[] = "no-autostart\nno-auto-key-retrieve\nno-auto-key-import\n"
				       "no-auto-key-locate\ntrust-model always\nweak-digest SHA1\n";
	if (dir_make(v->home, 0700, err) < 0)
		return -err->code;
	return file_replace(arena_fmt(v->a, "%s/gpg.conf", v->home), STR(settings), 0600, err);
}

static void cleared(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_verify *v = arg;
	struct error err = ERROR_INIT;
	(void)r;
	if (failed || make_home(v, &err) < 0) {
		const struct error why = failed ? *failed : err;
		error_set(&err, E_UNAVAILABLE, "%s", why.msg);
		finish(v, NULL, &err);
		return;
	}
	if (!*v->keys->pgp) {
		judge(v);
		return;
	}
	run_tool(v, &stage_import, str_of(v->keys->pgp),
		 GIT_ARGS(GPG_PROGRAM, "--batch", "--no-tty", "--quiet", "--import"));
}

static const struct git_stage stage_clear = {"rm", GIT_TEXT_BYTES, GIT_ASK_NS, cleared};

/* --- life --- */

struct git_verify *git_verify_start(const struct git_place *p, const char *commit,
				    const struct git_keys *keys, struct arena *a,
				    git_verify_fn done, void *arg)
{
	struct git_verify *v = xcalloc(1, sizeof(*v));
	struct error ignored = ERROR_INIT;
	*v = (struct git_verify){.place = p,
				 .a = a,
				 .commit = commit,
				 .home = arena_fmt(a, "%s/.gnupg", p->dir),
				 .keys = keys,
				 .done = done,
				 .arg = arg};
	/* one that cannot be written names nobody, and ssh-keygen says so */
	(void)file_remove(arena_fmt(a, "%s/signers", p->dir), &ignored);
	(void)file_replace(arena_fmt(a, "%s/signers", p->dir), str_of(keys->ssh), 0600, &ignored);
	/* keys that were trusted before may be none any more */
	run_tool(v, &stage_clear, STR_NONE, GIT_ARGS("/bin/rm", "-rf", "--", v->home));
	return v;
}

void git_verify_cancel(struct git_verify *v)
{
	if (!v)
		return;
	programs_cancel(v->place->programs, v->run);
	xfree(v);
}
