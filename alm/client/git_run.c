#include "alm/client/git_run.h"

#include <assert.h>

#define MESSAGE_BYTES 300
#define MEMORY_BYTES  ((size_t)512 << 20)
#define FILE_BYTES    ((size_t)256 << 20) /* each file of a mirror */
#define CPU_S         120
#define TOO_LARGE                                                                               \
	"the repository is larger than the 256 MiB, or takes more than the 120 s of processor " \
	"time, that are spent on one"
#define NO_ROOM "no space is left on the disk of ALM's data folder for what the repository has"

/* --- what git says --- */

bool git_says(struct str errors, const char *const *words)
{
	for (; *words; words++)
		if (str_contains(errors, str_of(*words)))
			return true;
	return false;
}

struct str git_fatal_line(struct str errors)
{
	static const char vague[] = "fatal: Could not read from remote repository.";
	struct str line, last = STR_NONE;
	while (str_next_line(&errors, &line)) {
		line = str_trim(line);
		if (last.len && str_is(line, vague))
			break;
		if (str_has_prefix(line, STR("fatal: ")))
			return str_clip(str_skip(line, 7), MESSAGE_BYTES);
		if (line.len)
			last = line;
	}
	return str_clip(last, MESSAGE_BYTES);
}

/* A server that was shown a password may say it: then nothing of what it said is told. */
static struct str without_secrets(struct str errors, const char *const *hidden)
{
	for (; hidden && *hidden; hidden++)
		if (str_contains(errors, str_of(*hidden)))
			return STR("what the server said has the credentials in it");
	return git_fatal_line(errors);
}

/* clang-format off */
static const struct git_fault faults[] = {
	{"No space left on device",   E_IO,           REASON_SOURCE_UNREACHABLE,   NO_ROOM},
	{"Disk quota exceeded",       E_IO,           REASON_SOURCE_UNREACHABLE,   NO_ROOM},
	{"File too large",            E_LIMIT,        REASON_LIMIT_EXCEEDED,       TOO_LARGE},
	{"died of signal 25",         E_LIMIT,        REASON_LIMIT_EXCEEDED,       TOO_LARGE},
	{"died of signal 24",         E_LIMIT,        REASON_LIMIT_EXCEEDED,       TOO_LARGE},
	{"Authentication failed",     E_UNAUTHORIZED, REASON_CREDENTIALS_REJECTED, NULL},
	{"could not read Username",   E_UNAUTHORIZED, REASON_CREDENTIALS_REJECTED, NULL},
	{"could not read Password",   E_UNAUTHORIZED, REASON_CREDENTIALS_REJECTED, NULL},
	{"returned error: 401",       E_UNAUTHORIZED, REASON_CREDENTIALS_REJECTED, NULL},
	{"returned error: 403",       E_UNAUTHORIZED, REASON_CREDENTIALS_REJECTED, NULL},
	{"couldn't find remote ref",  E_NOTFOUND,     REASON_BRANCH_NOT_FOUND,     NULL},
	{NULL,                        E_UNAVAILABLE,  REASON_SOURCE_UNREACHABLE,   NULL},
};
/* clang-format on */

/* The one that stands first in the table; NULL-ended. */
static const struct git_fault *find(const struct git_fault *f, struct str errors)
{
	while (f->word && !str_contains(errors, str_of(f->word)))
		f++;
	return f;
}

/* What git says when it fails, as an error with its reason. */
static int git_failure(const struct git_place *p, struct str errors, const char *what,
		       struct error *err)
{
	const struct git_fault *f = p->faults ? find(p->faults, errors) : NULL;
	if (!f || !f->word)
		f = find(faults, errors);
	struct str line = f->text ? str_of(f->text) : without_secrets(errors, p->hidden);
	return error_because(err, f->code, f->reason, "git %s: %.*s", what, STR_ARG(line));
}

bool git_is_well(const struct git_place *p, const struct git_stage *s,
		 const struct program_result *r, const struct error *failed, struct error *err)
{
	if (failed && failed->code == E_NOTFOUND) {
		error_because(err, E_NOTFOUND, REASON_GIT_MISSING,
			      "there is no " GIT_PROGRAM "; install the package git");
		return false;
	}
	if (failed) {
		*err = *failed;
		error_wrap(err, "git %s", s->what);
		error_set_reason(err, REASON_SOURCE_UNREACHABLE);
		return false;
	}
	if (r->status != 0)
		git_failure(p, r->errors, s->what, err);
	return r->status == 0;
}

/* --- the environment --- */

void git_environment_add(struct git_environment *e, const char *item)
{
	ARENA_GROW(e->a, e->items, e->cap, e->n, 48);
	e->items[e->n++] = item;
}

void git_environment_config(struct git_environment *e, const char *key, const char *value)
{
	git_environment_add(e, arena_fmt(e->a, "GIT_CONFIG_KEY_%zu=%s", e->n_config, key));
	git_environment_add(e, arena_fmt(e->a, "GIT_CONFIG_VALUE_%zu=%s", e->n_config, value));
	e->n_config++;
}

void git_environment_init(struct git_environment *e, struct arena *a)
{
	*e = (struct git_environment){.a = a};
	git_environment_add(e, "PATH=/usr/bin:/bin");
	git_environment_add(e, "LC_ALL=C");
	git_environment_add(e, "GIT_TERMINAL_PROMPT=0");
	git_environment_add(e, "GIT_ASKPASS=/bin/false");
	git_environment_add(e, "GIT_NO_REPLACE_OBJECTS=1");
	git_environment_config(e, "core.hooksPath", "/dev/null");
}

const char *const *git_environment_end(struct git_environment *e)
{
	git_environment_add(e, arena_fmt(e->a, "GIT_CONFIG_COUNT=%zu", e->n_config));
	git_environment_add(e, NULL);
	return e->items;
}

/* --- one call --- */

struct program_run *git_run(const struct git_place *p, const struct git_stage *s, struct str input,
			    const char *const *args, void *arg)
{
	const char *argv[GIT_ARGS_MAX + 4] = {GIT_PROGRAM};
	size_t n = 1, i = 0;
	if (p->repo) {
		argv[n++] = "--git-dir";
		argv[n++] = p->repo;
	}
	for (; args[i]; i++) {
		assert(i < GIT_ARGS_MAX);
		argv[n++] = args[i];
	}
	argv[n] = NULL;
	const struct program_call c = {.path = GIT_PROGRAM,
				       .argv = argv,
				       .env = p->env,
				       .dir = p->dir,
				       .input = input,
				       .is_users = p->is_users,
				       .limits = {.output_bytes = s->output_bytes,
						  .memory_bytes = MEMORY_BYTES,
						  .file_bytes = FILE_BYTES,
						  .cpu_s = CPU_S,
						  .wall_ns = s->wall_ns}};
	return programs_run(p->programs, &c, s->done, arg);
}
