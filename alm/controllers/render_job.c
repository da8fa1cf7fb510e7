#include "alm/controllers/render_job.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "installers/render.h"
#include "installers/yaml_go.h"

#define JOB_ARENA_BYTES ((size_t)192 << 20)

/* --- the pure side --- */

struct entropy { /* SHA-256 in counter mode over the seed of the request */
	unsigned char seed[SHA256_BYTES];
	uint64_t counter;
};

static int draw(void *ctx, void *out, size_t len)
{
	struct entropy *e = ctx;
	unsigned char *to = out;
	while (len) {
		unsigned char in[SHA256_BYTES + sizeof(e->counter)], block[SHA256_BYTES];
		size_t n = len < sizeof(block) ? len : sizeof(block);
		memcpy(in, e->seed, SHA256_BYTES);
		memcpy(in + SHA256_BYTES, &e->counter, sizeof(e->counter));
		e->counter++;
		sha256(str_n((const char *)in, sizeof(in)), block);
		memcpy(to, block, n);
		to += n;
		len -= n;
	}
	return 0;
}

static int add_documents(struct str text, const char *path, struct obj *list, struct error *err)
{
	struct yaml_documents docs = {0};
	if (yaml_parse(text, &docs, err) < 0)
		return error_wrap(err, "%s", path);
	for (size_t i = 0; i < docs.n; i++)
		if (obj_type(docs.items[i].value) == OBJ_MAP)
			obj_append(list, obj_ref(docs.items[i].value));
	yaml_documents_release(&docs);
	return 0;
}

static int add_hook(const struct hook *h, struct obj *list, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *objects = obj_list();
	if (add_documents(h->text, h->path, objects, err) < 0)
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
	obj_append(list, o);
	return 0;
}

static void set_str(struct obj *o, const char *key, struct str s)
{
	if (s.len)
		obj_set(o, key, obj_stringn(s));
}

static struct obj *metadata_of(const struct chart *c)
{
	struct obj *m = obj_map();
	set_str(m, "name", c->meta.name);
	set_str(m, "version", c->meta.version);
	set_str(m, "description", c->meta.description);
	set_str(m, "apiVersion", c->meta.api_version.len ? c->meta.api_version : STR("v1"));
	set_str(m, "appVersion", c->meta.app_version);
	return m;
}

static int collect(struct arena *a, const struct chart *c, const struct render_result *r,
		   struct obj *out, struct error *err)
{
	struct obj *objects = obj_list(), *hooks = obj_list(), *crds = obj_list(),
		   *chart = obj_map();
	struct strbuf manifest = STRBUF_INIT(SANDBOX_OUTPUT_BYTES);
	obj_set(out, "objects", objects);
	obj_set(out, "hooks", hooks);
	obj_set(out, "crds", crds);
	obj_set(chart, "metadata", metadata_of(c));
	obj_set(out, "chart", chart);
	set_str(out, "notes", r->notes);
	for (size_t i = 0; i < r->n_crds; i++)
		if (add_documents(r->crds[i].text, r->crds[i].path, crds, err) < 0)
			return -err->code;
	for (size_t i = 0; i < r->n_documents; i++)
		if (add_documents(r->documents[i].text, r->documents[i].path, objects, err) < 0)
			return -err->code;
	for (size_t i = 0; i < r->n_hooks; i++)
		if (add_hook(&r->hooks[i], hooks, err) < 0)
			return -err->code;
	render_print_manifest(r, false, &manifest);
	set_str(out, "manifest", strbuf_str(&manifest));
	strbuf_release(&manifest);
	(void)a;
	return 0;
}

/* Helm's messages may be long; the error keeps their beginning. */
static int fail(struct error *err, int code, const struct strbuf *msg)
{
	return error_set(err, code < 0 ? -code : E_INVALID, "%s",
			 msg->len ? msg->buf : "the chart cannot be rendered");
}

static int render(struct arena *a, struct str archive, const struct obj *request, struct obj *out,
		  struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf values = STRBUF_INIT(SANDBOX_OUTPUT_BYTES);
	struct entropy entropy = {.counter = 0};
	struct tmpl_host host = {.now_ns = obj_i64(request, "now", 0),
				 .zone = "UTC",
				 .entropy = draw,
				 .ctx = &entropy};
	struct render_request rq = {.profile = TMPL_PROFILE_4_1,
				    .name = str_of(obj_str(request, "release")),
				    .ns = str_of(obj_str(request, "namespace")),
				    .revision = (int)obj_i64(request, "revision", 1),
				    .is_upgrade = obj_flag(request, "isUpgrade", false),
				    .kube_version = str_of(obj_str(request, "kubeVersion")),
				    .host = &host};
	struct render_result result = {0};
	struct chart *chart = NULL;
	struct vmap *user = NULL;
	if (!hex_decode(str_of(obj_str(request, "seed")), entropy.seed, sizeof(entropy.seed)))
		return error_set(err, E_INTERNAL, "the request has no seed");
	json_print(obj_get(request, "values"), &values);
	int r = yaml_go_parse_map(a, strbuf_str(&values), &user, &msg);
	rq.values = user;
	if (!r)
		r = chart_open(a, archive, &chart_limits_default, rq.profile, &chart, &msg);
	if (!r)
		r = render_chart(a, chart, &rq, &result, &msg);
	if (r < 0)
		return fail(err, r, &msg);
	return collect(a, chart, &result, out, err);
}

int render_job(struct str input, struct strbuf *output, struct error *err)
{
	struct str head, archive;
	CLEANUP(arena_freep) struct arena *a = arena_new(JOB_ARENA_BYTES);
	CLEANUP(obj_unrefp) struct obj *request = NULL;
	CLEANUP(obj_unrefp) struct obj *out = obj_map();
	if (!str_cut(input, '\0', &head, &archive))
		return error_set(err, E_INTERNAL, "the request is cut");
	if (json_parse(head, &request, err) < 0 || render(a, archive, request, out, err) < 0)
		return -err->code;
	json_print(out, output);
	return strbuf_check(output, "the rendered chart", err);
}

/* --- the caller's side --- */

struct job {
	render_done done;
	void *arg;
};

static void finished(void *arg, struct str output, const struct error *err)
{
	struct job *j = arg;
	struct error bad;
	struct obj *value = NULL;
	if (!err && json_parse(output, &value, &bad) < 0) {
		bad.code = E_INTERNAL; /* the child's fault, not the chart's: it may pass */
		error_wrap(&bad, "what the renderer answered");
		err = &bad;
	}
	j->done(j->arg, value, err);
	xfree(j);
}

void render_job_start(struct sandbox *s, struct loop *l, struct str archive,
		      const struct obj *request, render_done done, void *done_arg)
{
	unsigned char seed[SHA256_BYTES];
	char hex[SHA256_HEX];
	struct job *j = xcalloc(1, sizeof(*j));
	CLEANUP(obj_unrefp) struct obj *full = obj_copy(request);
	CLEANUP(strbuf_release) struct strbuf input = STRBUF_INIT(SANDBOX_INPUT_BYTES);
	j->done = done;
	j->arg = done_arg;
	loop_random(l, seed, sizeof(seed));
	hex_encode(seed, sizeof(seed), hex);
	obj_set_str(full, "seed", hex);
	obj_set_int(full, "now", loop_now(l));
	json_print(full, &input);
	strbuf_addc(&input, '\0');
	strbuf_addstr(&input, archive);
	sandbox_run(s, RENDER_JOB, strbuf_str(&input), NULL, finished, j);
}
