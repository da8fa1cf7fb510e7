/* session_exec: see session_exec.h. */
#include "alm/cli/session_exec.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/cli/term.h"
#include "alm/io/data_dir.h"
#include "alm/io/program.h"

#define ALLOWED_BYTES ((size_t)64 << 10) /* of the file with the paths */
#define ANSWER_BYTES  64                 /* on the terminal */
#define TOLD_BYTES    500                /* of what it says is wrong */
#define MAY_EXECUTE   0111u
#define RENEW_NS_MIN  NS_PER_S

static bool is_program(const char *path)
{
	struct file_info info;
	struct error ignored;
	return file_exists(path) && file_info(path, &info, &ignored) >= 0 &&
	       info.mode & MAY_EXECUTE;
}

/* Of $PATH, whose relative folders do not count. NULL: nowhere. */
static const char *find(const char *command, struct arena *a)
{
	const char *path = getenv("PATH");
	struct str rest = str_of(path ? path : ""), dir;
	if (*command == '/')
		return is_program(command) ? command : NULL;
	while (str_next(&rest, ':', &dir)) {
		const char *file = arena_fmt(a, "%.*s/%s", (int)dir.len, dir.ptr, command);
		if (dir.len && *dir.ptr == '/' && is_program(file))
			return file;
	}
	return NULL;
}

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
	struct loop *loop;
	struct programs *programs;
	const struct exec_plugin *plugin;
	struct program_call call;       /* in the arena of the command */
	struct arena *a;                /* of the command: of the first answer */
	struct transport_config *first; /* that takes it; NULL: it is there */
	struct transport *transport;    /* whose token is renewed; NULL: none has to be */
	int64_t until_ns;
	struct timer again;
	struct error err;
};

static void arm(struct session_exec *x)
{
	int64_t left = (x->until_ns - loop_now(x->loop)) / 5 * 4;
	if (x->transport && x->until_ns)
		loop_arm(x->loop, &x->again, left > RENEW_NS_MIN ? left : RENEW_NS_MIN);
}

/* A token is copied by the connection; what else a later answer has is left. */
static void take(struct session_exec *x, const struct program_result *r)
{
	CLEANUP(arena_freep) struct arena *later =
		x->first ? NULL : arena_new(EXEC_PLUGIN_ANSWER_BYTES * 2);
	struct transport_config got = {0};
	int rc = exec_plugin_answer(x->plugin, r->output, loop_now(x->loop), later ? later : x->a,
				    x->first ? x->first : &got, &x->until_ns, &x->err);
	if (rc >= 0 && got.token)
		transport_curl_renew(x->transport, got.token);
}

static void ended(void *arg, const struct program_result *r, const struct error *err)
{
	struct session_exec *x = arg;
	struct str said = str_trim(r->errors);
	int shown = said.len < TOLD_BYTES ? (int)said.len : TOLD_BYTES;
	x->err = err ? *err : ERROR_INIT;
	if (!err && r->status != 0)
		error_set(&x->err, E_UNAUTHORIZED, "exec plugin %s failed with exit code %d: %.*s",
			  x->call.path, r->status, shown, said.ptr ? said.ptr : "");
	else if (!err)
		take(x, r);
	if (x->first)
		loop_stop(x->loop);
	else if (x->err.code)
		term_error("Warning: %s\n", x->err.msg);
	else
		arm(x);
}

static void again(void *arg)
{
	struct session_exec *x = arg;
	programs_run(x->programs, &x->call, ended, x);
}

/* environ, its own ones, and what it is asked for. */
static const char *const *environment(const struct exec_plugin *p, const char *info,
				      struct arena *a)
{
	size_t n = 0, own = 0, k = 0;
	while (environ[n])
		n++;
	while (p->env[own])
		own++;
	const char **all = ARENA_ARRAY(a, const char *, n + own + 2);
	for (size_t i = 0; i < n; i++) {
		bool over = cstr_has_prefix(environ[i], "KUBERNETES_EXEC_INFO=");
		for (size_t j = 0; j < own && !over; j++) {
			size_t name = (size_t)(strchr(p->env[j], '=') - p->env[j]) + 1;
			over = strncmp(environ[i], p->env[j], name) == 0;
		}
		if (!over)
			all[k++] = environ[i];
	}
	for (size_t j = 0; j < own; j++)
		all[k++] = p->env[j];
	all[k++] = arena_fmt(a, "KUBERNETES_EXEC_INFO=%s", info);
	return all;
}

static const char *const *arguments(const struct exec_plugin *p, struct arena *a)
{
	size_t n = 0;
	while (p->args[n])
		n++;
	const char **all = ARENA_ARRAY(a, const char *, n + 2);
	all[0] = p->command;
	for (size_t i = 0; i < n; i++)
		all[i + 1] = p->args[i];
	return all;
}

static int prepare(struct session_exec *x, struct cli *c, const struct transport_config *t,
		   struct error *err)
{
	const struct exec_plugin *p = x->plugin;
	CLEANUP(strbuf_release) struct strbuf here = STRBUF_INIT(STRBUF_SMALL);
	const char *path = find(p->command, c->arena);
	if (!path)
		return error_set(err, E_NOTFOUND, "exec: executable %s not found%s%s", p->command,
				 p->install_hint ? "; " : "",
				 p->install_hint ? p->install_hint : "");
	if (allow(c, path, err) < 0 || file_absolute(".", &here, err) < 0)
		return -err->code;
	x->call = (struct program_call){
		.path = path,
		.argv = arguments(p, c->arena),
		.env = environment(p, exec_plugin_info(p, t, c->arena), c->arena),
		.dir = arena_strdup(c->arena, here.buf),
		.is_users = true,
		.limits = {.output_bytes = EXEC_PLUGIN_ANSWER_BYTES, .wall_ns = EXEC_PLUGIN_NS}};
	return programs_process_new(x->loop, &x->programs, err);
}

int session_exec_new(struct cli *c, struct loop *l, const struct exec_plugin *p,
		     struct transport_config *t, struct session_exec **ret, struct error *err)
{
	CLEANUP(session_exec_freep) struct session_exec *x = xcalloc(1, sizeof(*x));
	x->loop = l;
	x->plugin = p;
	x->a = c->arena;
	x->first = t;
	x->again = (struct timer){.fn = again, .arg = x};
	if (prepare(x, c, t, err) < 0)
		return -err->code;
	again(x);
	loop_run(l);
	if (x->err.code)
		return error_copy(err, &x->err);
	x->first = NULL;
	*ret = STEAL(x);
	return 0;
}

void session_exec_keep(struct session_exec *x, struct transport *transport)
{
	x->transport = transport;
	arm(x);
}

void session_exec_free(struct session_exec *x)
{
	if (!x)
		return;
	loop_disarm(x->loop, &x->again);
	programs_free(x->programs);
	xfree(x);
}
