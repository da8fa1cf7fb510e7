/* exec_run: see exec_run.h. */
#include "alm/client/exec_run.h"

#include <string.h>

#include "alm/base/file.h"

#define TOLD_BYTES   500 /* of what it says is wrong */
#define RENEW_NS_MIN NS_PER_S
#define MAY_EXECUTE  0111u

static bool is_program(const char *path)
{
	struct file_info info;
	struct error ignored;
	return file_exists(path) && file_info(path, &info, &ignored) >= 0 &&
	       info.mode & MAY_EXECUTE;
}

/* Of $PATH, whose relative folders do not count. NULL: nowhere. */
static const char *find(const char *command, const char *path, struct arena *a)
{
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

int exec_run_find(const struct exec_plugin *p, const char *path, struct arena *a, const char **ret,
		  struct error *err)
{
	*ret = find(p->command, path, a);
	if (*ret)
		return 0;
	return error_set(err, E_NOTFOUND, "exec: executable %s not found%s%s", p->command,
			 p->install_hint ? "; " : "", p->install_hint ? p->install_hint : "");
}

struct exec_run {
	struct exec_run_config config;
	struct program_call call;       /* in the arena */
	struct arena *a;                /* of the first answer */
	struct transport_config *first; /* that takes it; NULL: it is there */
	struct transport *transport;    /* whose token is renewed; NULL: none has to be */
	int64_t until_ns;               /* 0: it does not say */
	struct timer again;
	struct error err;
};

static void arm(struct exec_run *x)
{
	struct loop *l = x->config.loop;
	int64_t left = (x->until_ns - loop_now(l)) / 5 * 4;
	if (x->until_ns == 0 || x->err.code)
		left = x->config.again_ns;
	if (x->transport && left != 0)
		loop_arm(l, &x->again, left > RENEW_NS_MIN ? left : RENEW_NS_MIN);
}

/* A token is copied by the connection. */
static void take(struct exec_run *x, const struct program_result *r)
{
	CLEANUP(arena_freep) struct arena *later =
		x->first ? NULL : arena_new(EXEC_PLUGIN_ANSWER_BYTES * 2);
	struct transport_config got = {0};
	int rc = exec_plugin_answer(x->config.plugin, r->output, loop_now(x->config.loop),
				    later ? later : x->a, x->first ? x->first : &got, &x->until_ns,
				    &x->err);
	if (rc >= 0 && got.token)
		transport_curl_renew(x->transport, got.token);
}

static void ended(void *arg, const struct program_result *r, const struct error *err)
{
	struct exec_run *x = arg;
	struct str said = str_trim(r->errors);
	int shown = said.len < TOLD_BYTES ? (int)said.len : TOLD_BYTES;
	x->err = err ? *err : ERROR_INIT;
	if (!err && r->status != 0)
		error_set(&x->err, E_UNAUTHORIZED, "exec plugin %s failed with exit code %d: %.*s",
			  x->call.path, r->status, shown, said.ptr ? said.ptr : "");
	else if (!err)
		take(x, r);
	if (x->first) {
		loop_stop(x->config.loop);
		return;
	}
	if (x->err.code)
		x->config.on_failure(x->err.msg);
	if (!x->err.code || x->config.again_ns)
		arm(x);
}

static void again(void *arg)
{
	struct exec_run *x = arg;
	programs_run(x->config.programs, &x->call, ended, x);
}

/* What is there, without what the kubeconfig says otherwise, then that, then what it is asked for. */
static const char *const *environment(const struct exec_run_config *c, const char *info,
				      struct arena *a)
{
	const struct exec_plugin *p = c->plugin;
	size_t n = 0, own = 0, k = 0;
	while (c->env[n])
		n++;
	while (p->env[own])
		own++;
	const char **all = ARENA_ARRAY(a, const char *, n + own + 2);
	for (size_t i = 0; i < n; i++) {
		bool over = cstr_has_prefix(c->env[i], "KUBERNETES_EXEC_INFO=");
		for (size_t j = 0; j < own && !over; j++) {
			size_t name = (size_t)(strchr(p->env[j], '=') - p->env[j]) + 1;
			over = strncmp(c->env[i], p->env[j], name) == 0;
		}
		if (!over)
			all[k++] = c->env[i];
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

int exec_run_new(const struct exec_run_config *c, struct transport_config *t, struct arena *a,
		 struct exec_run **ret, struct error *err)
{
	CLEANUP(exec_run_freep) struct exec_run *x = xcalloc(1, sizeof(*x));
	x->config = *c;
	x->a = a;
	x->first = t;
	x->again = (struct timer){.fn = again, .arg = x};
	x->call = (struct program_call){
		.path = c->path,
		.argv = arguments(c->plugin, a),
		.env = environment(c, exec_plugin_info(c->plugin, t, a), a),
		.dir = c->dir,
		.is_users = c->is_users,
		.limits = {.output_bytes = EXEC_PLUGIN_ANSWER_BYTES, .wall_ns = c->wall_ns}};
	again(x);
	loop_run(c->loop);
	x->first = NULL;
	if (x->err.code)
		return error_copy(err, &x->err);
	*ret = STEAL(x);
	return 0;
}

void exec_run_keep(struct exec_run *x, struct transport *transport)
{
	x->transport = transport;
	arm(x);
}

void exec_run_free(struct exec_run *x)
{
	if (!x)
		return;
	loop_disarm(x->config.loop, &x->again);
	xfree(x);
}
