#include "alm/render/flat_job.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/map.h"
#include "alm/obj/json.h"

#define JOB_ARENA_BYTES ((size_t)192 << 20)

/* fleet.md 3.5 */
static const struct sandbox_limits limits = {
	.memory_bytes = (size_t)256 << 20, .cpu_s = 5, .wall_ns = 30 * NS_PER_S};

/* ---- the pure side ---- */

/* A member of files: [path, bytes]; the texts follow each other. */
static int read_files(const struct obj *list, struct str texts, struct files *f, struct error *err)
{
	f->items = ARENA_ARRAY(f->a, struct files_entry, obj_len(list) + 1);
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *path = obj_as_string(obj_at(obj_at(list, i), 0));
		int64_t n;
		if (!path || !obj_as_i64(obj_at(obj_at(list, i), 1), &n) || n < 0 ||
		    (uint64_t)n > texts.len)
			return error_set(err, E_INTERNAL, "file %zu of the request is cut", i);
		f->items[f->n++] = (struct files_entry){path, str_sub(texts, 0, (size_t)n)};
		texts = str_skip(texts, (size_t)n);
	}
	return 0;
}

static int read_request(struct arena *a, struct str input, struct obj **ret, struct files *f,
			struct error *err)
{
	struct str head, texts;
	struct obj *request = NULL;
	if (!str_cut(input, '\0', &head, &texts))
		return error_set(err, E_INTERNAL, "the request is cut");
	if (json_parse(head, &request, err) < 0)
		return -err->code;
	*ret = obj_keep(a, request);
	*f = (struct files){.a = a};
	return read_files(obj_get(request, "files"), texts, f, err);
}

static struct obj *flaw_list(const struct flaws *f)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < f->n; i++)
		obj_append(list, obj_string(f->texts[i]));
	return list;
}

static int write_flat(const struct flat *f, const struct obj *rollout, struct strbuf *output,
		      struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *out = obj_map();
	obj_set(out, "objects", flat_encode(f));
	if (rollout)
		obj_set(out, "rollout", obj_ref(rollout));
	if (f->flaws)
		obj_set(out, "flaws", flaw_list(f->flaws));
	json_print(out, output);
	return strbuf_check(output, "what was rendered", err);
}

static struct flat_instances read_instances(const struct obj *list, struct arena *a)
{
	struct flat_instance *items = ARENA_ARRAY(a, struct flat_instance, obj_len(list) + 1);
	for (size_t i = 0; i < obj_len(list); i++)
		items[i] = (struct flat_instance){.name = obj_str(obj_at(list, i), "name"),
						  .folder = obj_str(obj_at(list, i), "folder"),
						  .ns = obj_str(obj_at(list, i), "namespace")};
	return (struct flat_instances){items, obj_len(list)};
}

int files_job(struct str input, struct strbuf *output, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(JOB_ARENA_BYTES);
	struct obj *request = NULL;
	struct files files = {.a = a};
	struct flaws flaws = {.a = a};
	struct flat flat;
	flat_init(&flat, a);
	if (read_request(a, input, &request, &files, err) < 0)
		return -err->code;
	flat.flaws = obj_flag(request, "all", false) ? &flaws : NULL;
	const struct flat_instances instances = read_instances(obj_get(request, "instances"), a);
	flat.instances = &instances;
	if (files_flat(&files, obj_str(request, "namespace"), &flat, err) < 0)
		return -err->code;
	return write_flat(&flat, NULL, output, err);
}

#define LIST "/list"

static bool is_list(const char *name)
{
	return cstr_has_suffix(name, LIST);
}

struct program {
	struct arena *a;
	struct files files;
	struct import_roots roots;
	const struct obj *request;
	size_t n_imports;
};

static int import_live(struct program *p, const char *path, const char *name, const char **ret_file,
		       struct str *ret_text, struct error *err)
{
	const struct obj *value = obj_get(obj_get(p->request, "runtime"), name);
	const struct obj *no = obj_get(p->request, "unavailable");
	const struct obj *why_no = obj_get(no, name);
	const char *why = obj_as_string(why_no || !is_list(name) ? why_no : obj_get(no, LIST));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SANDBOX_INPUT_BYTES);
	if (why)
		return error_set(err, E_INVALID, "%s", why);
	if (!value && cstr_eq(name, "config"))
		return error_set(err, E_NOTFOUND,
				 "there is no configuration: give --config-file FILE, or a trigger "
				 "that brings one");
	if (!value)
		return error_set(err, E_NOTFOUND,
				 "there is no such thing: alm-runtime has config, cluster, values "
				 "and PLURAL/list");
	json_print(value, &b);
	*ret_file = path;
	*ret_text = str_n(arena_text(p->a, b.buf, b.len), b.len);
	return 0;
}

/* Of a tree: what is there at place, or above it, and was not taken. */
static const char *refusal(const struct program *p, const char *place)
{
	const struct obj *refused = obj_get(p->request, "refused");
	const char *why = obj_as_string(obj_get(refused, place));
	for (const char *slash = strchr(place, '/'); slash && !why; slash = strchr(slash + 1, '/'))
		why = obj_as_string(
			obj_get(refused, arena_strndup(p->a, place, (size_t)(slash - place))));
	return why;
}

static int not_found(const struct program *p, const char *base, const char *path, struct error *err)
{
	const struct obj *refused = obj_get(p->request, "refused");
	const char *place = import_place(&p->roots, p->a, base, path, 0);
	if (!refused)
		return error_set(err, E_NOTFOUND, "no such file, nor in the library folders (%s)",
				 p->roots.n_jpath ? "--renderer.jsonnet.jpaths" : "none are given");
	if (!import_root(&p->roots, p->a, place))
		return error_set(err, E_NOTALLOWED, "it leads out of the tree");
	return error_set(err, E_NOTFOUND,
			 "the tree has no such file, nor have the library folders "
			 "(spec.renderer.jpath%s); names that begin with a dot and what "
			 ".almignore names are left out",
			 p->roots.n_jpath ? "" : ": none are given");
}

static int import(void *arg, const char *base, const char *path, const char **ret_file,
		  struct str *ret_text, struct error *err)
{
	struct program *p = arg;
	const char *name = import_runtime(path), *place;
	if (++p->n_imports > IMPORTS_MAX)
		return error_set(err, E_LIMIT, "more than %d imports", IMPORTS_MAX);
	if (*name)
		return import_live(p, arena_strdup(p->a, path), name, ret_file, ret_text, err);
	for (size_t i = 0; (place = import_place(&p->roots, p->a, base, path, i)); i++) {
		const struct files_entry *e = files_get(&p->files, place);
		const char *why = e ? NULL : refusal(p, place);
		if (why)
			return error_set(err, E_INVALID, "%s", why);
		if (!e)
			continue;
		if (obj_get(p->request, "refused") &&
		    files_check_pointer(e->path, e->text, err) < 0)
			return -err->code;
		*ret_file = e->path;
		*ret_text = e->text;
		return 0;
	}
	return not_found(p, base, path, err);
}

static int add_objects(struct flat *f, const struct obj *objects, const char *file,
		       struct error *err)
{
	OBJ_EACH (it, objects) {
		const struct flat_place p = {.name = it.key, .file = file, .alone = true};
		if (flat_add(f, &p, obj_ref(it.value), err) < 0)
			return -err->code;
	}
	return 0;
}

/* {"objects": .., "rollout": ..}, else each key is that of an object. */
static int take_value(const struct obj *value, const char *file, struct flat *f,
		      const struct obj **ret_rollout, struct error *err)
{
	const struct obj *objects = obj_get(value, "objects");
	if (obj_type(value) != OBJ_MAP || (objects && obj_type(objects) != OBJ_MAP))
		return error_set(
			err, E_INVALID,
			"%s gives %s; {NAME: OBJECT, ..} is wanted, or {objects: {NAME: "
			"OBJECT, ..}, rollout: ROLLOUT}",
			file, objects ? "objects of another form" : obj_type_name(obj_type(value)));
	if (!objects)
		return add_objects(f, value, file, err);
	OBJ_EACH (it, value)
		if (!cstr_eq(it.key, "objects") && !cstr_eq(it.key, "rollout"))
			return error_set(err, E_INVALID,
					 "%s: field \"%s\" beside objects and rollout: put it into "
					 "objects, or hide it (\"%s\"::)",
					 file, it.key, it.key);
	*ret_rollout = obj_get(value, "rollout");
	if (*ret_rollout && obj_type(*ret_rollout) != OBJ_MAP)
		return error_set(err, E_INVALID, "%s: rollout: an object is wanted, not %s", file,
				 obj_type_name(obj_type(*ret_rollout)));
	return add_objects(f, objects, file, err);
}

/* Jsonnet says "RUNTIME ERROR: ..." and its stack. */
static int write_error(const char *text, struct strbuf *output, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *out = obj_map();
	obj_set(out, "error", obj_stringn(str_trim_right(str_of(text))));
	json_print(out, output);
	return strbuf_check(output, "the error of Jsonnet", err);
}

static void read_roots(struct program *p)
{
	const struct obj *jpath = obj_get(p->request, "jpath");
	const char **folders = ARENA_ARRAY(p->a, const char *, obj_len(jpath) + 1);
	size_t n = 0;
	for (size_t i = 0; i < obj_len(jpath); i++)
		if (obj_as_string(obj_at(jpath, i)))
			folders[n++] = obj_as_string(obj_at(jpath, i));
	p->roots = (struct import_roots){.tree = "", .jpath = folders, .n_jpath = n};
}

static int run(struct program *p, const char *file, struct strbuf *output, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(SANDBOX_OUTPUT_BYTES);
	const struct files_entry *e = files_get(&p->files, file);
	const struct obj *rollout = NULL;
	struct obj *value = NULL;
	struct flat flat;
	flat_init(&flat, p->a);
	const char *why = e ? NULL : refusal(p, file);
	if (!e)
		return error_set(err, E_INVALID, "%s: %s", file, why ? why : "no such file");
	const struct jsonnet_program program = {.file = file,
						.text = e->text,
						.ext_str = obj_get(p->request, "extStr"),
						.import = import,
						.arg = p};
	int r = jsonnet_lib_run(&program, &json, err);
	if (r == 0)
		return write_error(json.buf, output, err);
	if (r < 0 || json_parse(strbuf_str(&json), &value, err) < 0)
		return error_wrap(err, "%s", file);
	obj_keep(p->a, value);
	if (take_value(value, file, &flat, &rollout, err) < 0 ||
	    flat_sort(&flat, obj_str(p->request, "namespace"), err) < 0)
		return -err->code;
	return write_flat(&flat, rollout, output, err);
}

/* --- the lists that it imports --- */

static void scan_ref(const struct program *p, const char *base, const struct import_ref *ref,
		     struct map *scanned, struct obj *lists)
{
	const char *name = import_runtime(ref->path), *place;
	if (is_list(name))
		obj_set_bool(lists, name, true);
	for (size_t i = 0; !*name && (place = import_place(&p->roots, p->a, base, ref->path, i));
	     i++) {
		if (!files_get(&p->files, place))
			continue;
		if (ref->kind == IMPORT_CODE)
			map_set(scanned, place, NULL);
		return;
	}
}

/* Each file of code once, in the order in which they were found; more come meanwhile. */
static int scan_lists(const struct program *p, const char *file, struct obj *lists,
		      struct error *err)
{
	CLEANUP(map_freep) struct map *scanned = map_new(NULL);
	map_set(scanned, file, NULL);
	for (struct map_entry *e = map_first(scanned); e; e = map_next(e)) {
		const struct files_entry *code = files_get(&p->files, e->key);
		struct import_refs refs = {0};
		if (!code)
			continue;
		if (imports_scan(p->a, code->text, &refs, err) < 0)
			return error_wrap(err, "%s", code->path);
		for (size_t i = 0; i < refs.n; i++)
			scan_ref(p, import_base(p->a, code->path), &refs.items[i], scanned, lists);
	}
	return 0;
}

static bool has_lists(const struct program *p, const struct obj *lists)
{
	const struct obj *runtime = obj_get(p->request, "runtime");
	OBJ_EACH (it, lists)
		if (!obj_get(runtime, it.key))
			return false;
	OBJ_EACH (it, runtime)
		if (is_list(it.key) && !obj_get(lists, it.key))
			return false;
	return true;
}

/* 1: it has what it imports. 0: what that is, is told. */
static int ask_lists(const struct program *p, const char *file, struct strbuf *output,
		     struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *out = obj_map();
	struct obj *lists = obj_map();
	obj_set(out, "lists", lists);
	if (scan_lists(p, file, lists, err) < 0)
		return -err->code;
	if (has_lists(p, lists))
		return 1;
	json_print(out, output);
	return 0;
}

int jsonnet_job(struct str input, struct strbuf *output, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(JOB_ARENA_BYTES);
	struct program p = {.a = a};
	struct obj *request = NULL;
	if (read_request(a, input, &request, &p.files, err) < 0)
		return -err->code;
	p.request = request;
	read_roots(&p);
	const char *file = obj_str(request, "entrypoint");
	file = file ? file : "";
	int r = obj_flag(request, "asks", false) ? ask_lists(&p, file, output, err) : 1;
	return r > 0 ? run(&p, file, output, err) : r;
}

/* ---- the caller's side ---- */

static void start(struct sandbox *s, const char *job, struct obj *request, const struct files *f,
		  struct render_call *call)
{
	CLEANUP(strbuf_release) struct strbuf input = STRBUF_INIT(SANDBOX_INPUT_BYTES);
	struct obj *list = obj_list();
	for (size_t i = 0; i < f->n; i++) {
		struct obj *e = obj_list();
		obj_append(e, obj_string(f->items[i].path));
		obj_append(e, obj_int((int64_t)f->items[i].text.len));
		obj_append(list, e);
	}
	obj_set(request, "files", list);
	if (f->refused)
		obj_set(request, "refused", obj_ref(f->refused));
	json_print(request, &input);
	strbuf_addc(&input, '\0');
	for (size_t i = 0; i < f->n; i++)
		strbuf_addstr(&input, f->items[i].text);
	render_call_start(s, job, strbuf_str(&input), &limits, call);
}

static struct obj *list_instances(const struct flat_instances *instances)
{
	struct obj *list = obj_list();
	for (size_t i = 0; instances && i < instances->n; i++) {
		struct obj *o = obj_map();
		obj_set_str(o, "name", instances->items[i].name);
		obj_set_str(o, "folder", instances->items[i].folder);
		obj_set_str(o, "namespace", instances->items[i].ns);
		obj_append(list, o);
	}
	return list;
}

void flat_job_files(struct sandbox *s, const struct files *f, const char *ns,
		    const struct flat_instances *instances, struct render_call *call)
{
	CLEANUP(obj_unrefp) struct obj *request = obj_map();
	obj_set(request, "instances", list_instances(instances));
	obj_set_str(request, "namespace", ns);
	obj_set_bool(request, "all", f->flaws != NULL);
	start(s, FILES_JOB, request, f, call);
}

static void set_obj(struct obj *o, const char *key, const struct obj *value)
{
	if (value)
		obj_set(o, key, obj_ref(value));
}

void flat_job_jsonnet(struct sandbox *s, const struct files *f, const struct flat_request *rq,
		      struct render_call *call)
{
	CLEANUP(obj_unrefp) struct obj *request = obj_map();
	struct obj *jpath = obj_list();
	for (size_t i = 0; i < rq->roots.n_jpath; i++)
		obj_append(jpath, obj_string(rq->roots.jpath[i]));
	obj_set_str(request, "namespace", rq->ns);
	obj_set_str(request, "entrypoint", rq->entrypoint);
	obj_set(request, "jpath", jpath);
	set_obj(request, "extStr", rq->ext_str);
	set_obj(request, "runtime", rq->runtime);
	set_obj(request, "unavailable", rq->unavailable);
	obj_set_bool(request, "asks", rq->asks);
	start(s, JSONNET_JOB, request, f, call);
}

const struct obj *flat_job_lists(const struct obj *rendered)
{
	const struct obj *lists = obj_get(rendered, "lists");
	return obj_type(lists) == OBJ_MAP ? lists : NULL;
}

/* As hostile as the rest of it: their length is bounded, and a list that nobody asked for is one
 * error. */
static int take_flaws(const struct obj *list, struct flat *ret, struct error *err)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *text = obj_as_string(obj_at(list, i));
		error_set(err, E_INVALID, "%s", text ? text : "a fault without a text");
		if (flaws_take(ret->flaws, err) < 0)
			return -err->code;
	}
	return 0;
}

int flat_job_read(const struct obj *rendered, const char *ns, struct flat *ret,
		  const struct obj **ret_rollout, struct strbuf *msg, struct error *err)
{
	const char *failed = obj_as_string(obj_get(rendered, "error"));
	const struct obj *rollout = obj_get(rendered, "rollout");
	if (failed) {
		strbuf_adds(msg, failed);
		return error_because(err, E_INVALID, REASON_RENDER_FAILED, "%s", failed);
	}
	if (take_flaws(obj_get(rendered, "flaws"), ret, err) < 0)
		return -err->code;
	if (rollout && obj_type(rollout) != OBJ_MAP)
		return error_set(err, E_INVALID, "the renderer gave a rollout that is no object");
	if (flat_decode(obj_get(rendered, "objects"), ns, ret, err) < 0) {
		strbuf_adds(msg, err->msg);
		return -err->code;
	}
	*ret_rollout = rollout;
	return 0;
}
