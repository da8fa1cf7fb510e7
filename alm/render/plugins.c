#include "alm/render/plugins.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "alm/base/file.h"
#include "alm/base/visible.h"
#include "alm/io/program.h"
#include "alm/obj/json.h"

#define OTHERS_WRITE 0022U
#define ANYONE_RUNS  0111U
#define SAID_MAX     200 /* bytes of what a plugin says is wrong */

struct plugin_call {
	LIST_ENTRY(plugin_call) link;
	struct plugins *owner;
	char *name; /* "action-Foo" */
	struct program_run *run;
	struct task told; /* of one that cannot be called */
	struct error err;
	plugin_done done;
	void *arg;
};

struct plugins {
	struct loop *loop;
	struct arena *a;
	const char *dir;
	const char *(*env)(const char *name);
	struct programs *programs;
	struct plugin *items;
	size_t n;
	const char **names[PLUGIN_KINDS];
	LIST_HEAD(, plugin_call) calls;
};

/* --- the folder --- */

static int not_ours(const char *path, struct error *err)
{
	struct file_info info;
	if (file_info(path, &info, err) < 0)
		return -err->code;
	if (info.mode & OTHERS_WRITE)
		return error_set(err, E_NOTALLOWED,
				 "%s may be written by others than its owner: chmod go-w", path);
	return 0;
}

static int read_grant(struct plugins *p, struct plugin *x, struct error *err)
{
	static const char *const none[] = {NULL};
	const char *file = arena_fmt(p->a, "%s.json", x->path);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PLUGIN_GRANT_BYTES);
	x->grant = (struct plugin_grant){false, none, none};
	if (!file_exists(file))
		return 0;
	if (not_ours(file, err) < 0 || file_read(file, &b, err) < 0)
		return -err->code;
	return plugin_grant_read(strbuf_str(&b), file, p->a, &x->grant, err);
}

static void look_at(struct plugins *p, struct plugin *x)
{
	struct file_info info;
	struct error *err = &x->wrong;
	if (not_ours(x->path, err) < 0 || file_info(x->path, &info, err) < 0)
		return;
	if (!info.is_regular || !(info.mode & ANYONE_RUNS))
		error_set(err, E_NOTALLOWED, "%s is not executable: chmod +x", x->path);
	else
		(void)read_grant(p, x, err);
}

static int by_kind_and_name(const void *a, const void *b)
{
	const struct plugin *x = a, *y = b;
	return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->name, y->name);
}

static void take(struct plugins *p, const char *file)
{
	struct plugin *x = &p->items[p->n];
	const char *own = arena_strdup(p->a, file);
	if (!plugin_name(own, &x->kind, &x->name))
		return;
	x->path = arena_fmt(p->a, "%s/%s", p->dir, own);
	look_at(p, x);
	p->n++;
}

static void list_names(struct plugins *p)
{
	for (int k = 0; k < PLUGIN_KINDS; k++) {
		size_t n = 0;
		p->names[k] = ARENA_ARRAY(p->a, const char *, p->n + 1);
		for (size_t i = 0; i < p->n; i++)
			if (p->items[i].kind == (enum plugin_kind)k)
				p->names[k][n++] = p->items[i].name;
	}
}

static int read_folder(struct plugins *p, struct error *err)
{
	char **files = NULL;
	size_t n = 0;
	if (not_ours(p->dir, err) < 0 || dir_list(p->dir, PLUGINS_MAX, &files, &n, err) < 0)
		return -err->code;
	p->items = ARENA_ARRAY(p->a, struct plugin, n + 1);
	for (size_t i = 0; i < n; i++)
		take(p, files[i]);
	dir_list_free(files, n);
	qsort(p->items, p->n, sizeof(*p->items), by_kind_and_name);
	list_names(p);
	return 0;
}

int plugins_open(struct loop *l, const char *dir, const char *(*env)(const char *name),
		 struct plugins **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(plugins_freep) struct plugins *p = xcalloc(1, sizeof(*p));
	LIST_INIT(&p->calls);
	p->loop = l;
	p->env = env;
	p->a = arena_new(STRBUF_SMALL * 8);
	list_names(p);
	if (dir) {
		if (file_absolute(dir, &path, err) < 0)
			return error_wrap(err, "ALM_PLUGIN_DIR");
		p->dir = arena_strdup(p->a, path.buf);
		if (read_folder(p, err) < 0)
			return error_wrap(err, "ALM_PLUGIN_DIR");
	}
	if (p->n && programs_process_new(l, &p->programs, err) < 0)
		return -err->code;
	*ret = STEAL(p);
	return 0;
}

void plugins_free(struct plugins *p)
{
	if (!p)
		return;
	while (!LIST_EMPTY(&p->calls))
		plugins_cancel(LIST_FIRST(&p->calls));
	programs_free(p->programs);
	arena_free(p->a);
	xfree(p);
}

const struct plugin *plugins_at(const struct plugins *p, size_t i)
{
	return p && i < p->n ? &p->items[i] : NULL;
}

const char *const *plugins_names(const struct plugins *p, enum plugin_kind kind)
{
	static const char *const none[] = {NULL};
	return p ? (const char *const *)p->names[kind] : none;
}

/* --- a call --- */

static void call_free(struct plugin_call *c)
{
	LIST_REMOVE(c, link);
	loop_unpost(c->owner->loop, &c->told);
	xfree(c->name);
	xfree(c);
}

void plugins_cancel(struct plugin_call *c)
{
	if (c->run)
		programs_cancel(c->owner->programs, c->run);
	call_free(c);
}

static void give(struct plugin_call *c, struct obj *answer, const struct error *err)
{
	plugin_done done = c->done;
	void *arg = c->arg;
	call_free(c);
	done(arg, answer, err);
}

static int failed(const struct plugin_call *c, struct error *err)
{
	return error_wrap(err, "PluginFailed: %s", c->name);
}

/* What it said last is what it ended by. */
static int bad_status(const struct program_result *r, struct error *err)
{
	struct str said = str_trim(r->errors), line = said, rest;
	if (str_rcut(said, '\n', &rest, &line))
		said = line;
	said = str_clip(said, SAID_MAX);
	return error_set(err, E_INVALID, "ended with status %d%s%.*s", r->status,
			 said.len ? ": " : " and said nothing; it says why on standard error",
			 STR_ARG(said));
}

static int read_answer(const struct program_result *r, struct obj **ret, struct error *err)
{
	struct obj *o = NULL;
	if (r->status != 0)
		return bad_status(r, err);
	if (!str_trim(r->output).len)
		return error_set(err, E_INVALID,
				 "printed nothing: one JSON object on standard output is wanted");
	if (json_parse(r->output, &o, err) < 0) {
		err->code = E_INVALID;
		return error_wrap(err, "printed no JSON; one JSON object and nothing else is "
				       "wanted on standard output");
	}
	if (obj_type(o) != OBJ_MAP) {
		obj_unref(o);
		return error_set(err, E_INVALID, "printed JSON that is no object");
	}
	*ret = o;
	return 0;
}

static void on_ended(void *arg, const struct program_result *result, const struct error *err)
{
	struct plugin_call *c = arg;
	struct error own = err ? *err : ERROR_INIT;
	struct obj *answer = NULL;
	c->run = NULL;
	if (err || read_answer(result, &answer, &own) < 0)
		(void)failed(c, &own);
	give(c, answer, answer ? NULL : &own);
}

static void tell(void *arg)
{
	struct plugin_call *c = arg;
	struct error err = c->err;
	(void)failed(c, &err);
	give(c, NULL, &err);
}

static const char *const *variables(const struct plugins *p, const struct plugin *x,
				    struct arena *a)
{
	const char **list = ARENA_ARRAY(a, const char *, PLUGIN_GRANTS_MAX + 1);
	size_t n = 0;
	for (const char *const *name = x->grant.env; *name; name++)
		if (p->env(*name))
			list[n++] = arena_fmt(a, "%s=%s", *name, p->env(*name));
	return list;
}

static const char *const *readable(const struct plugins *p, const struct plugin *x, struct arena *a)
{
	static const char *const always[] = {"/usr",
					     "/lib",
					     "/lib64",
					     "/bin",
					     "/sbin",
					     "/etc/alternatives",
					     "/etc/ld.so.cache",
					     "/etc/localtime",
					     "/dev/null",
					     "/dev/zero",
					     "/dev/urandom"};
	static const char *const online[] = {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf",
					     "/etc/gai.conf", "/etc/ssl"};
	const char **list = ARENA_ARRAY(
		a, const char *, ARRAY_LEN(always) + ARRAY_LEN(online) + PLUGIN_GRANTS_MAX + 2);
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		list[n++] = always[i];
	for (size_t i = 0; x->grant.network && i < ARRAY_LEN(online); i++)
		list[n++] = online[i];
	for (const char *const *file = x->grant.files; *file; file++)
		list[n++] = *file;
	list[n++] = p->dir;
	return list;
}

static struct program_run *start(struct plugin_call *c, const struct plugin *x, struct str input,
				 int64_t wall_ns)
{
	static const char *const writes[] = {"/dev/null", NULL};
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	const struct program_call call = {
		.path = x->path,
		.env = variables(c->owner, x, a),
		.dir = c->owner->dir,
		.reads = readable(c->owner, x, a),
		.writes = writes,
		.offline = !x->grant.network,
		.input = input,
		.limits = {.output_bytes = PLUGIN_OUTPUT_BYTES,
			   .memory_bytes = PLUGIN_MEMORY_BYTES,
			   .file_bytes = PLUGIN_FILE_BYTES,
			   .wall_ns = wall_ns > 0 && wall_ns < PLUGIN_WALL_NS ? wall_ns
									      : PLUGIN_WALL_NS}};
	return programs_run(c->owner->programs, &call, on_ended, c);
}

static const struct plugin *find(const struct plugins *p, enum plugin_kind kind, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->items[i].kind == kind && !strcmp(p->items[i].name, name))
			return &p->items[i];
	return NULL;
}

struct plugin_call *plugins_ask(struct plugins *p, enum plugin_kind kind, const char *name,
				const struct obj *request, int64_t wall_ns, plugin_done done,
				void *arg)
{
	struct plugin_call *c = xcalloc(1, sizeof(*c));
	const struct plugin *x = find(p, kind, name);
	CLEANUP(strbuf_release) struct strbuf input = STRBUF_INIT(PLUGIN_REQUEST_BYTES);
	CLEANUP(strbuf_release) struct strbuf file = STRBUF_INIT(STRBUF_SMALL);
	c->owner = p;
	strbuf_addf(&file, "%s-%.*s", plugin_kind_text(kind), PLUGIN_NAME_MAX, name);
	c->name = strbuf_detach(&file);
	c->done = done;
	c->arg = arg;
	c->told = (struct task){.fn = tell, .arg = c};
	LIST_INSERT_HEAD(&p->calls, c, link);
	json_print(request, &input);
	if (!x)
		error_set(&c->err, E_NOTFOUND, "there is no such file in %s",
			  p->dir ? p->dir : "$ALM_PLUGIN_DIR, which is not set");
	else if (x->wrong.code)
		c->err = x->wrong;
	else if (strbuf_check(&input, "what it is asked", &c->err) >= 0)
		c->run = start(c, x, strbuf_str(&input), wall_ns);
	if (!c->run)
		loop_post(p->loop, &c->told);
	return c;
}
