#include "installers/render.h"

#include <stdlib.h>

#include "catalog/semver.h"
#include "installers/chart/chart_data.h"
#include "installers/chart/values.h"
#include "installers/jsonschema/jsonschema.h"
#include "installers/order.h"

#define NOTES_NAME    "NOTES.txt"
#define TEMPLATES_MAX 20000

/* One template of one chart. */
struct file {
	struct str name; /* "c/charts/s/templates/a.yaml" */
	struct str text, out;
	struct str base_path;
	struct vmap *data;
	size_t order; /* of two with one name the later counts */
};

/* What all charts see alike. */
struct common {
	struct value release, capabilities;
};

struct render {
	struct arena *a;
	struct chart *chart;
	const struct render_request *rq;
	struct render_result *ret;
	struct strbuf *msg;
	struct file *files;
	size_t n_files, cap_files;
};

static struct str base_name(struct str path)
{
	struct str head, base;
	return str_rcut(path, '/', &head, &base) ? base : path;
}

static bool is_partial(struct str name)
{
	return str_has_prefix(base_name(name), STR("_"));
}

/* ---- checks ---- */

/* E_INVALID as Helm words it, without "release name check failed: ". */
static int render_check_name(struct str name, struct strbuf *msg)
{
	bool good = name.len > 0 && name.len <= 53, start = true;
	for (size_t i = 0; good && i < name.len; i++) {
		char c = name.ptr[i];
		bool alnum = char_is_lower(c) || char_is_digit(c);
		bool last = i + 1 == name.len || name.ptr[i + 1] == '.';
		good = alnum || (c == '-' && !start && !last) ||
		       (c == '.' && !start && i + 1 < name.len);
		start = c == '.';
	}
	if (good)
		return 0;
	if (!name.len) {
		strbuf_adds(msg, "no release name set");
		return -E_INVALID;
	}
	strbuf_adds(msg, "release name ");
	value_quote(msg, name);
	strbuf_adds(msg,
		    ": invalid release name, must match regex "
		    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the "
		    "length must not be longer than 53");
	return -E_INVALID;
}

int render_check_kube_version(struct str text, struct strbuf *msg)
{
	struct arena *a = arena_new(STRBUF_SMALL);
	struct kube_version v;
	int rc = kube_version_parse(a, text, &v, msg);
	arena_free(a);
	return rc;
}

static int check_kube_version(struct render *r, const struct kube_version *kube)
{
	struct str want = r->chart->meta.kube_version;
	struct error err = ERROR_INIT;
	struct version v;
	struct range *range = ARENA_NEW(r->a, struct range);
	if (!want.len)
		return 0;
	/* a pre-release of a vendor does not count */
	if (range_parse(want, r->a, range, &err) >= 0 &&
	    version_parse(kube->normal, VERSION_LOOSE, &v, &err) >= 0 && range_matches(range, &v))
		return 0;
	strbuf_addf(r->msg,
		    "chart requires kubeVersion: %.*s which is incompatible with Kubernetes %.*s",
		    STR_ARG(want), STR_ARG(kube->normal));
	return -E_INVALID;
}

/* ---- collecting templates ---- */

static void push_file(struct render *r, struct file f)
{
	ARENA_GROW(r->a, r->files, r->cap_files, r->n_files, 64);
	r->files[r->n_files++] = f;
}

static void push_templates(struct render *r, const struct chart *c, struct vmap *data)
{
	struct str path = chart_path(r->a, c);
	bool library = str_is(c->meta.type, "library");
	struct str base = str_of(arena_fmt(r->a, "%.*s/templates", STR_ARG(path)));
	for (size_t i = 0; i < c->templates.n; i++) {
		const struct archive_file *t = &c->templates.items[i];
		if (library && !is_partial(str_of(t->path)))
			continue;
		const char *name = arena_fmt(r->a, "%.*s/%s", STR_ARG(path), t->path);
		push_file(r, (struct file){.name = str_of(name),
					   .text = t->data,
					   .out = STR(""),
					   .base_path = base,
					   .data = data,
					   .order = r->n_files});
	}
}

/* The chart's data with those of the charts below it. Of two charts with one name (an alias) the
 * later one is in Subcharts, and its files replace those of the same path. */
/* NOLINTNEXTLINE(misc-no-recursion): chart.c bounds the charts in charts */
static struct vmap *collect(struct render *r, const struct chart *c, struct vmap *values,
			    const struct common *common)
{
	struct vmap *data =
		chart_data(r->a, c, r->rq->profile, values, common->release, common->capabilities);
	struct vmap *subcharts = vmap_getc(data, "Subcharts")->map;
	for (size_t i = 0; i < c->n_charts; i++) {
		struct str name = c->charts[i]->meta.name;
		struct vmap *own = values_table(values, name);
		struct vmap *below = collect(r, c->charts[i], own ? own : vmap_new(r->a), common);
		vmap_set(subcharts, name, value_map(below));
	}
	push_templates(r, c, data);
	return data;
}

static void drop_replaced(struct render *r)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n_files; i++)
		if (i + 1 == r->n_files || !str_eq(r->files[i].name, r->files[i + 1].name))
			r->files[n++] = r->files[i];
	r->n_files = n;
}

static int by_template_order(const void *a, const void *b)
{
	const struct file *x = a, *y = b;
	int c = tmpl_order_cmp(x->name, y->name);
	return c ? c : (x->order > y->order) - (x->order < y->order);
}

static int by_name(const void *a, const void *b)
{
	const struct file *x = a, *y = b;
	return str_cmp(x->name, y->name);
}

/* ---- executing ---- */

static int execute_file(struct render *r, struct tmpl_run *run, struct file *f)
{
	const struct tmpl_limits *l = r->rq->limits ? r->rq->limits : &tmpl_limits_default;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(l->file_bytes);
	struct vmap *t = vmap_new_sized(r->a, 2);
	vmap_setc(t, "Name", value_str(f->name));
	vmap_setc(t, "BasePath", value_str(f->base_path));
	vmap_setc(f->data, "Template", value_map_as(t, VALUE_VALUES));
	int rc = tmpl_run_file(run, f->name, value_map_as(f->data, VALUE_VALUES), &out, r->msg);
	if (rc < 0)
		return rc;
	f->out = str_n(arena_text(r->a, out.buf, out.len), out.len);
	return 0;
}

/* Helm parses all files before it executes one. */
static int execute_all(struct render *r, struct tmpl_set *set)
{
	static const struct tmpl_host nothing = {0};
	const struct tmpl_limits *l = r->rq->limits ? r->rq->limits : &tmpl_limits_default;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < r->n_files; i++) {
		const struct file *f = &r->files[i];
		rc = is_partial(f->name) ? tmpl_set_add(set, f->name, f->text, r->msg)
					 : tmpl_set_add_later(set, f->name, f->text, r->msg);
	}
	CLEANUP(tmpl_run_freep) struct tmpl_run *run =
		tmpl_run_new(set, r->a, r->rq->host ? r->rq->host : &nothing, l);
	for (size_t i = 0; rc == 0 && i < r->n_files; i++)
		if (!is_partial(r->files[i].name))
			rc = execute_file(r, run, &r->files[i]);
	r->ret->is_random = tmpl_run_is_random(run);
	return rc;
}

static int execute(struct render *r, struct tmpl_set *set)
{
	CLEANUP(strbuf_release) struct strbuf earlier = STRBUF_INIT(r->msg->limit);
	size_t mark = r->msg->len;
	int rc = execute_all(r, set);
	int check = rc < 0 ? tmpl_set_check(set, &earlier) : 0;
	if (check == 0)
		return rc;
	strbuf_truncate(r->msg, mark);
	strbuf_addstr(r->msg, strbuf_str(&earlier));
	return check;
}

/* ---- sorting out ---- */

static void take_notes(struct render *r)
{
	CLEANUP(strbuf_release) struct strbuf notes = STRBUF_INIT((size_t)64 << 20);
	const char *own =
		arena_fmt(r->a, "%.*s/templates/" NOTES_NAME, STR_ARG(r->chart->meta.name));
	for (size_t i = 0; i < r->n_files; i++) {
		struct file *f = &r->files[i];
		if (!str_has_suffix(f->name, STR(NOTES_NAME)))
			continue;
		if (r->rq->subchart_notes || str_is(f->name, own)) {
			if (notes.len)
				strbuf_addc(&notes, '\n');
			strbuf_addstr(&notes, f->out);
		}
		f->out = STR("");
	}
	r->ret->notes = str_n(arena_text(r->a, notes.buf, notes.len), notes.len);
}

struct pieces {
	struct render_document *docs;
	struct hook *hooks;
	size_t n_docs, cap_docs, n_hooks, cap_hooks;
};

static void pieces_release(struct pieces *p)
{
	xfree(p->docs);
	xfree(p->hooks);
}

static int sort_piece(struct render *r, const struct file *f, struct str piece, struct pieces *p)
{
	struct render_document d = {.path = f->name.ptr, .text = piece};
	struct hook h;
	struct str event;
	size_t mark = r->msg->len;
	int rc = manifest_head(r->a, piece, &d.head, r->msg);
	if (rc < 0) {
		char *where = arena_fmt(r->a, "YAML parse error on %.*s: ", STR_ARG(f->name));
		strbuf_insert(r->msg, mark, str_of(where));
		return rc;
	}
	rc = hook_read(&d.head, &h, &event);
	if (rc < 0) {
		warnings_add(&r->ret->warnings,
			     "%s: an object has the unknown hook \"%.*s\" and is left out", d.path,
			     STR_ARG(event));
		warnings_log(&r->ret->warnings, "INFO", "skipping unknown hooks");
		warnings_attr(&r->ret->warnings, "hookTypes",
			      value_text(*vmap_getc(d.head.annotations, "helm.sh/hook")));
		return 0;
	}
	if (p->n_docs + p->n_hooks >= MANIFEST_DOCUMENTS_MAX) {
		strbuf_addf(r->msg, "RenderLimit: objects over %d", MANIFEST_DOCUMENTS_MAX);
		return -E_LIMIT;
	}
	if (rc) {
		h.path = d.path;
		h.text = piece;
		ARRAY_GROW(p->hooks, p->cap_hooks, p->n_hooks + 1);
		p->hooks[p->n_hooks++] = h;
	} else {
		ARRAY_GROW(p->docs, p->cap_docs, p->n_docs + 1);
		p->docs[p->n_docs++] = d;
	}
	return 0;
}

/* Stable: the place is the last criterion. */
struct ranked {
	struct str kind;
	size_t at;
	enum tmpl_profile profile;
};

static int by_kind(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int c = order_install_cmp(x->kind, y->kind, x->profile);
	return c ? c : (x->at > y->at) - (x->at < y->at);
}

static void keep_sorted(struct render *r, const struct pieces *p)
{
	size_t n = p->n_docs > p->n_hooks ? p->n_docs : p->n_hooks;
	CLEANUP(xfreep) struct ranked *order = xcalloc(n + 1, sizeof(*order));
	r->ret->documents = ARENA_ARRAY(r->a, struct render_document, p->n_docs + 1);
	r->ret->hooks = ARENA_ARRAY(r->a, struct hook, p->n_hooks + 1);
	for (size_t i = 0; i < p->n_docs; i++)
		order[i] = (struct ranked){p->docs[i].head.kind, i, r->rq->profile};
	qsort(order, p->n_docs, sizeof(*order), by_kind);
	for (size_t i = 0; i < p->n_docs; i++)
		r->ret->documents[i] = p->docs[order[i].at];
	for (size_t i = 0; i < p->n_hooks; i++)
		order[i] = (struct ranked){p->hooks[i].kind, i, r->rq->profile};
	qsort(order, p->n_hooks, sizeof(*order), by_kind);
	for (size_t i = 0; i < p->n_hooks; i++)
		r->ret->hooks[i] = p->hooks[order[i].at];
	r->ret->n_documents = p->n_docs;
	r->ret->n_hooks = p->n_hooks;
}

static int sort_out(struct render *r)
{
	CLEANUP(pieces_release) struct pieces p = {0};
	if (r->n_files)
		qsort(r->files, r->n_files, sizeof(*r->files), by_name);
	r->ret->files = ARENA_ARRAY(r->a, struct render_file, r->n_files + 1);
	for (size_t i = 0; i < r->n_files; i++)
		if (!is_partial(r->files[i].name))
			r->ret->files[r->ret->n_files++] =
				(struct render_file){r->files[i].name, r->files[i].out};
	take_notes(r);
	for (size_t i = 0; i < r->n_files; i++) {
		const struct file *f = &r->files[i];
		/* a partial has no output */
		struct manifest_split s = manifest_split(f->out, r->rq->profile);
		struct str piece;
		while (manifest_next(&s, &piece)) {
			int rc = sort_piece(r, f, piece, &p);
			if (rc < 0)
				return rc;
		}
	}
	keep_sorted(r, &p);
	return 0;
}

/* ---- CRDs ---- */

/* NOLINTBEGIN(misc-no-recursion): chart.c bounds the charts in charts */
static size_t count_crds(const struct chart *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->files.n; i++)
		n += chart_is_crd(c->files.items[i].path);
	for (size_t i = 0; i < c->n_charts; i++)
		n += count_crds(c->charts[i]);
	return n;
}

static void take_crds(struct render *r, const struct chart *c)
{
	struct str path = chart_path(r->a, c);
	for (size_t i = 0; i < c->files.n; i++) {
		const struct archive_file *f = &c->files.items[i];
		if (chart_is_crd(f->path))
			r->ret->crds[r->ret->n_crds++] = (struct render_crd){
				arena_fmt(r->a, "%.*s/%s", STR_ARG(path), f->path), f->data};
	}
	for (size_t i = 0; i < c->n_charts; i++)
		take_crds(r, c->charts[i]);
}
/* NOLINTEND(misc-no-recursion) */

/* ---- the pipeline ---- */

static int prepare_values(struct render *r)
{
	struct warnings *w = &r->ret->warnings;
	size_t mark = r->msg->len;
	int rc = values_process_dependencies(r->a, r->chart, r->rq->values, r->rq->profile, w,
					     r->msg);
	if (rc < 0)
		strbuf_insert(r->msg, mark, STR("chart dependencies processing failed: "));
	if (rc == 0)
		rc = values_coalesce(r->a, r->chart, r->rq->values, r->rq->profile, w,
				     &r->ret->values, r->msg);
	if (rc == 0 && !r->rq->skip_schema)
		rc = jsonschema_check_chart(r->chart, r->ret->values, w, r->msg);
	return rc;
}

static int run_templates(struct render *r, const struct kube_version *kube)
{
	const struct render_request *rq = r->rq;
	struct value versions = chart_api_versions(r->a, !rq->only_api_versions, rq->api_versions,
						   rq->n_api_versions);
	struct common common = {
		.capabilities = value_capabilities(r->a, rq->profile, kube->text, kube->normal,
						   kube->major, kube->minor, versions),
		.release = chart_data_release(r->a, rq->name.len ? rq->name : STR("release-name"),
					      rq->ns.len ? rq->ns : STR("default"),
					      rq->revision ? rq->revision : 1, rq->is_upgrade)};
	collect(r, r->chart, r->ret->values, &common);
	if (r->n_files > TEMPLATES_MAX) {
		strbuf_addf(r->msg, "RenderLimit: templates over %d", TEMPLATES_MAX);
		return -E_LIMIT;
	}
	if (r->n_files)
		qsort(r->files, r->n_files, sizeof(*r->files), by_template_order);
	drop_replaced(r);
	CLEANUP(tmpl_set_freep) struct tmpl_set *set = tmpl_set_new(rq->profile, rq->strict);
	if (rq->lenient)
		tmpl_set_lenient(set);
	int rc = execute(r, set);
	return rc < 0 ? rc : sort_out(r);
}

/* NOLINTNEXTLINE(misc-no-recursion): chart.c bounds the charts in charts */
static void note_requirements(const struct chart *c, struct warnings *w)
{
	static const char yaml[] =
		"Dependencies are handled in Chart.yaml since apiVersion \"v2\". "
		"We recommend migrating dependencies to Chart.yaml.",
			  lock[] = "Dependency locking is handled in Chart.lock since apiVersion "
				   "\"v2\". We recommend migrating to Chart.lock.";
	if (c->has_requirements) {
		warnings_add(w, "%.*s: %s", STR_ARG(c->meta.name), yaml);
		warnings_log(w, "INFO", "Warning: %s", yaml);
	}
	if (c->has_requirements_lock) {
		warnings_add(w, "%.*s: %s", STR_ARG(c->meta.name), lock);
		warnings_log(w, "INFO", "Warning: %s", lock);
	}
	for (size_t i = 0; i < c->n_charts; i++)
		note_requirements(c->charts[i], w);
}

int render_chart(struct arena *a, struct chart *c, const struct render_request *rq,
		 struct render_result *ret, struct strbuf *msg)
{
	struct render r = {.a = a, .chart = c, .rq = rq, .ret = ret, .msg = msg};
	struct kube_version kube;
	*ret = (struct render_result){.warnings = {.a = a}, .notes = STR("")};
	struct str version =
		rq->kube_version.len ? rq->kube_version : str_of(kube_version_default(rq->profile));
	int rc = kube_version_parse(a, version, &kube, msg);
	if (rc < 0)
		return rc;
	if (rq->profile == TMPL_PROFILE_3)
		kube.text = kube.normal;
	note_requirements(c, &ret->warnings);
	if (c->meta.deprecated)
		warnings_add(&ret->warnings, "this chart is deprecated");
	rc = rq->lenient ? 0 : chart_check_installable(c, msg);
	size_t mark = msg->len;
	if (rc == 0 && rq->name.len && render_check_name(rq->name, msg) < 0) {
		strbuf_insert(msg, mark, STR("release name check failed: "));
		return -E_INVALID;
	}
	if (rc == 0)
		rc = prepare_values(&r);
	if (rc < 0)
		return rc;
	ret->failed_late = true;
	rc = rq->lenient ? 0 : check_kube_version(&r, &kube);
	if (rc == 0)
		rc = run_templates(&r, &kube);
	if (rc < 0)
		return rc;
	ret->failed_late = false;
	ret->crds = ARENA_ARRAY(a, struct render_crd, count_crds(c) + 1);
	take_crds(&r, c);
	return 0;
}
