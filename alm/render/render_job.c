#include "alm/render/render_job.h"

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "alm/render/render_host.h"
#include "installers/format/json_go.h"
#include "installers/format/yaml_go.h"
#include "installers/release.h"
#include "installers/render.h"

#define JOB_ARENA_BYTES ((size_t)384 << 20)

/* As `alm template` has them: a chart that renders there renders here. */
static struct sandbox_limits limits = {
	.memory_bytes = RENDER_MEMORY_BYTES, .cpu_s = RENDER_CPU_S, .wall_ns = RENDER_WALL_NS};

void render_job_budget(int cpu_s)
{
	limits.cpu_s = cpu_s;
}

/* --- the pure side --- */

/* paths: the file of each that is added to list; NULL: nobody asks. */
static int add_documents(struct str text, const char *path, struct obj *list, struct obj *paths,
			 struct error *err)
{
	struct yaml_documents docs = {0};
	if (yaml_parse(text, &docs, err) < 0)
		return error_wrap(err, "%s", path);
	for (size_t i = 0; i < docs.n; i++) {
		if (obj_type(docs.items[i].value) != OBJ_MAP)
			continue;
		obj_append(list, obj_ref(docs.items[i].value));
		if (paths)
			obj_append(paths, obj_string(path));
	}
	yaml_documents_release(&docs);
	return 0;
}

/* As helm applies it: out of the joined manifest, where each document ends with a newline, which a
 * block scalar at its end keeps. A hook is read alone, and has none. */
static int add_manifest(struct arena *a, const struct render_document *d, struct obj *list,
			struct obj *paths, struct error *err)
{
	struct str text = str_of(arena_fmt(a, "%.*s\n", STR_ARG(d->text)));
	return add_documents(text, d->path, list, paths, err);
}

static int add_hook(const struct hook *h, struct obj *list, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *objects = obj_list();
	if (add_documents(h->text, h->path, objects, NULL, err) < 0)
		return -err->code;
	if (obj_len(objects) != 1)
		return error_set(err, E_INVALID, "%s: a hook must be one object", h->path);
	struct obj *o = obj_map(), *events = obj_list(), *policies = obj_list();
	for (size_t i = 0; i < h->n_order; i++)
		obj_append(events, obj_string(hook_event_name(h->order[i])));
	for (unsigned p = 1; p <= HOOK_FAILED; p <<= 1)
		if (hook_policies(h) & p)
			obj_append(policies, obj_string(hook_policy_name((enum hook_policy)p)));
	obj_set_str(o, "path", h->path);
	obj_set(o, "events", events);
	obj_set_int(o, "weight", h->weight);
	obj_set(o, "policies", policies);
	obj_set(o, "object", obj_ref(obj_at(objects, 0)));
	obj_set(o, "record", release_hook(h));
	obj_append(list, o);
	return 0;
}

static void set_str(struct obj *o, const char *key, struct str s)
{
	if (s.len)
		obj_set(o, key, obj_stringn(s));
}

/* What the release record has of the chart. */
static struct obj *chart_of(const struct chart *c)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(SANDBOX_OUTPUT_BYTES);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct obj *o = obj_map(), *values = NULL, *metadata = release_metadata(&c->meta);
	struct error ignored;
	if (!obj_has(metadata, "apiVersion"))
		obj_set_str(metadata, "apiVersion", "v1");
	obj_set(o, "metadata", metadata);
	if (c->values && json_go_encode(value_map(c->values), JSON_GO_RAW, &text, &msg) == 0 &&
	    json_parse(strbuf_str(&text), &values, &ignored) == 0)
		obj_set(o, "values", values);
	return o;
}

/* A definition of the templates is told to stay: helm uninstall and helm rollback go by what the
 * record has, and would take every custom resource along (charts.md 10.6). */
static void keep_definition(struct arena *a, struct render_document *d)
{
	struct yaml_documents docs = {0};
	struct error ignored;
	if (yaml_parse(d->text, &docs, &ignored) < 0)
		return; /* add_manifest() has told */
	if (docs.n == 1 && cstr_eq(meta_kind(docs.items[0].value), "CustomResourceDefinition") &&
	    !meta_annotation(docs.items[0].value, "helm.sh/resource-policy")) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(SANDBOX_OUTPUT_BYTES);
		meta_set_annotation(docs.items[0].value, "helm.sh/resource-policy", "keep");
		yaml_print(docs.items[0].value, &text);
		d->text = str_trim(str_of(arena_strndup(a, text.buf, text.len)));
	}
	yaml_documents_release(&docs);
}

static int collect(struct arena *a, const struct chart *c, const struct render_result *r,
		   struct obj *out, struct error *err)
{
	struct obj *objects = obj_list(), *hooks = obj_list(), *crds = obj_list();
	struct obj *paths = obj_list(), *crd_paths = obj_list();
	struct strbuf manifest = STRBUF_INIT(SANDBOX_OUTPUT_BYTES);
	obj_set(out, "objects", objects);
	obj_set(out, "hooks", hooks);
	obj_set(out, "crds", crds);
	obj_set(out, "paths", paths);
	obj_set(out, "crdPaths", crd_paths);
	obj_set(out, "chart", chart_of(c));
	set_str(out, "notes", r->notes);
	if (r->warnings.n)
		obj_set(out, "warnings", obj_list());
	for (size_t i = 0; i < r->warnings.n; i++)
		obj_append(obj_get_mut(out, "warnings"), obj_string(r->warnings.items[i].text));
	for (size_t i = 0; i < r->n_crds; i++)
		if (add_documents(r->crds[i].text, r->crds[i].path, crds, crd_paths, err) < 0)
			return -err->code;
	for (size_t i = 0; i < r->n_documents; i++)
		if (add_manifest(a, &r->documents[i], objects, paths, err) < 0)
			return -err->code;
	for (size_t i = 0; i < r->n_hooks; i++)
		if (add_hook(&r->hooks[i], hooks, err) < 0)
			return -err->code;
	for (size_t i = 0; i < r->n_documents; i++)
		if (str_is(r->documents[i].head.kind, "CustomResourceDefinition"))
			keep_definition(a, &r->documents[i]);
	render_print_manifest(r, false, &manifest);
	set_str(out, "manifest", strbuf_str(&manifest));
	strbuf_release(&manifest);
	return 0;
}

/* Helm's messages may be long; the error keeps their beginning. */
static int fail(struct error *err, int code, const struct strbuf *msg)
{
	return error_set(err, code < 0 ? -code : E_INVALID, "%s",
			 msg->len ? msg->buf : "the chart cannot be rendered");
}

static int render(struct arena *a, struct str archive, const struct obj *request,
		  struct render_host *host, struct obj *out, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf values = STRBUF_INIT(SANDBOX_OUTPUT_BYTES);
	const struct obj *versions = obj_get(request, "apiVersions");
	const char **api = ARENA_ARRAY(a, const char *, obj_len(versions) + 1);
	for (size_t i = 0; i < obj_len(versions); i++)
		api[i] = obj_as_string(obj_at(versions, i)) ? obj_as_string(obj_at(versions, i))
							    : "";
	struct render_request rq = {.profile = TMPL_PROFILE_4_1,
				    .name = str_of(obj_str(request, "release")),
				    .ns = str_of(obj_str(request, "namespace")),
				    .revision = (int)obj_i64(request, "revision", 1),
				    .is_upgrade = obj_flag(request, "isUpgrade", false),
				    .kube_version = str_of(obj_str(request, "kubeVersion")),
				    .api_versions = api,
				    .n_api_versions = obj_len(versions),
				    .only_api_versions = obj_len(versions) > 0,
				    .host = &host->host};
	struct render_result result = {0};
	struct chart *chart = NULL;
	struct vmap *user = NULL;
	json_print(obj_get(request, "values"), &values);
	int r = yaml_go_parse_map(a, strbuf_str(&values), &user, &msg);
	rq.values = user;
	if (r >= 0)
		r = chart_open(a, archive, &chart_limits_default, rq.profile, &chart, &msg);
	if (r >= 0)
		r = render_chart(a, chart, &rq, &result, &msg);
	if (host->over)
		return error_set(err, E_LIMIT, "RenderLimit: lookup has more than %d keys",
				 RENDER_NEEDS_MAX);
	if (obj_len(host->needs)) /* the failure may be for want of an answer */
		return 0;
	return r < 0 ? fail(err, r, &msg) : collect(a, chart, &result, out, err);
}

/* What the bytes depend on besides archive and values; goes into the install plan. */
static struct obj *inputs_of(const struct obj *request)
{
	static const char *const keys[] = {"now", "seed", "zone", "kubeVersion", "apiVersions"};
	struct obj *o = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (obj_has(request, keys[i]))
			obj_set(o, keys[i], obj_ref(obj_get(request, keys[i])));
	return o;
}

int render_job(struct str input, struct strbuf *output, struct error *err)
{
	struct str head, archive;
	CLEANUP(arena_freep) struct arena *a = arena_new(JOB_ARENA_BYTES);
	CLEANUP(obj_unrefp) struct obj *request = NULL;
	CLEANUP(obj_unrefp) struct obj *out = obj_map();
	if (!str_cut(input, '\0', &head, &archive))
		return error_set(err, E_INTERNAL, "the request is cut");
	struct render_host host;
	if (json_parse(head, &request, err) < 0 || render_host_init(&host, a, request, err) < 0 ||
	    render(a, archive, request, &host, out, err) < 0)
		return -err->code;
	obj_set(out, "inputs", inputs_of(request));
	if (obj_len(host.needs))
		obj_set(out, "needs", obj_ref(host.needs));
	json_print(out, output);
	return strbuf_check(output, "the rendered chart", err);
}

/* --- the caller's side --- */

static void finished(void *arg, struct str output, const struct error *err)
{
	struct render_call *call = arg;
	struct error bad = err ? *err : ERROR_INIT;
	struct obj *value = NULL;
	call->sandbox = NULL;
	if (!err && json_parse(output, &value, &bad) < 0) {
		bad.code = E_INTERNAL; /* the child's fault, not the chart's: it may pass */
		error_wrap(&bad, "what the renderer answered");
	}
	if (bad.code && call->name)
		error_wrap(&bad, "%s%s", bad.code == E_LIMIT ? "RenderLimit: " : "", call->name);
	err = bad.code ? &bad : NULL;
	call->done(call->arg, value, err);
}

/* What the caller has not fixed already. */
static void fill_inputs(struct loop *l, struct obj *request)
{
	unsigned char seed[SHA256_BYTES];
	char hex[SHA256_HEX];
	if (!obj_has(request, "seed")) {
		loop_random(l, seed, sizeof(seed));
		hex_encode(seed, sizeof(seed), hex);
		obj_set_str(request, "seed", hex);
	}
	if (!obj_has(request, "now"))
		obj_set_int(request, "now", loop_now(l));
	if (!obj_has(request, "zone"))
		obj_set_str(request, "zone", "UTC");
}

void render_call_start(struct sandbox *s, const char *job, struct str input,
		       const struct sandbox_limits *l, struct render_call *call)
{
	call->run = sandbox_run(s, job, input, l, finished, call);
	call->sandbox = s;
}

void render_job_start(struct sandbox *s, struct loop *l, struct str archive,
		      const struct obj *request, struct render_call *call)
{
	CLEANUP(obj_unrefp) struct obj *full = obj_copy(request);
	CLEANUP(strbuf_release) struct strbuf input = STRBUF_INIT(SANDBOX_INPUT_BYTES);
	fill_inputs(l, full);
	json_print(full, &input);
	strbuf_addc(&input, '\0');
	strbuf_addstr(&input, archive);
	render_call_start(s, RENDER_JOB, strbuf_str(&input), &limits, call);
}

void render_job_cancel(struct render_call *call)
{
	if (call->sandbox)
		sandbox_cancel(call->sandbox, call->run);
	call->sandbox = NULL;
}
