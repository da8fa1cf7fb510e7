/* session_exec: see session_exec.h. */
#include "alm/cli/session_exec.h"

#include <stdlib.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/cli/term.h"
#include "alm/client/exec_run.h"
#include "alm/io/data_dir.h"

#define ALLOWED_BYTES ((size_t)64 << 10) /* of the file with the paths */
#define ANSWER_BYTES  64                 /* on the terminal */

static const char *file_of(struct cli *c)
{
	return arena_fmt(c->arena, "%s/exec-plugins", cli_data_dir(c));
}

static bool is_known(struct cli *c, const char *path)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ALLOWED_BYTES);
	struct error none = ERROR_INIT;
	struct str rest, line;
	if (cstr_eq(cli_value(c, "allow-exec-plugin"), path))
		return true;
	if (file_read(file_of(c), &b, &none) < 0)
		return false;
	for (rest = strbuf_str(&b); str_next_line(&rest, &line);)
		if (str_eq(line, str_of(path)))
			return true;
	return false;
}

static int remember(struct cli *c, const char *path, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ALLOWED_BYTES);
	struct error none = ERROR_INIT;
	if (file_exists(file_of(c)) && file_read(file_of(c), &b, &none) < 0)
		return error_copy(err, &none);
	const char *text = arena_fmt(c->arena, "%s%s\n", b.len ? b.buf : "", path);
	if (data_dir_make(cli_data_dir(c), err) < 0)
		return -err->code;
	return file_write_atomic(file_of(c), str_of(text), 0600, err);
}

static bool says_yes(const char *path)
{
	char answer[ANSWER_BYTES] = "";
	term_error("The kubeconfig names %s, which is to print credentials. Run it, now and from "
		   "now on? [y/N] ",
		   path);
	ssize_t n = read(STDIN_FILENO, answer, sizeof(answer) - 1);
	return n > 0 && (*answer == 'y' || *answer == 'Y');
}

static int allow(struct cli *c, const char *path, struct error *err)
{
	bool asks = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
	if (is_known(c, path))
		return 0;
	if (asks && says_yes(path))
		return remember(c, path, err);
	return error_set(err, E_FORBIDDEN,
			 "the kubeconfig wants %s to be run for credentials: allow it with "
			 "--allow-exec-plugin %s",
			 path, path);
}

struct session_exec {
	struct programs *programs;
	struct exec_run *run;
};

static void warn(const char *message)
{
	term_error("Warning: %s\n", message);
}

int session_exec_new(struct cli *c, struct loop *l, const struct exec_plugin *p,
		     struct transport_config *t, struct session_exec **ret, struct error *err)
{
	CLEANUP(session_exec_freep) struct session_exec *x = xcalloc(1, sizeof(*x));
	CLEANUP(strbuf_release) struct strbuf here = STRBUF_INIT(STRBUF_SMALL);
	const char *path = NULL;
	if (exec_run_find(p, getenv("PATH"), c->arena, &path, err) < 0 || allow(c, path, err) < 0 ||
	    file_absolute(".", &here, err) < 0 || programs_process_new(l, &x->programs, err) < 0)
		return -err->code;
	const struct exec_run_config config = {.loop = l,
					       .programs = x->programs,
					       .plugin = p,
					       .path = path,
					       .dir = arena_strdup(c->arena, here.buf),
					       .env = (const char *const *)environ,
					       .is_users = true,
					       .wall_ns = EXEC_PLUGIN_NS,
					       .on_failure = warn};
	if (exec_run_new(&config, t, c->arena, &x->run, err) < 0)
		return -err->code;
	*ret = STEAL(x);
	return 0;
}

void session_exec_keep(struct session_exec *x, struct transport *transport)
{
	exec_run_keep(x->run, transport);
}

void session_exec_free(struct session_exec *x)
{
	if (!x)
		return;
	exec_run_free(x->run);
	programs_free(x->programs);
	xfree(x);
}
