#include "alm/controllers/fleet/bundle_render.h"

#include <string.h>

#include "alm/engine/secrets.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/render/flat_job.h"

#define HIDDEN                                                                          \
	"the words of its error are not shown, as they may have values of the Secrets " \
	"and lists that it is given"
#define PLACE_MAX     ((size_t)40)
#define LISTS_MAX     32 /* each is a request an interval */
#define LIST          "/list"
#define LIST_NAME_MAX ((size_t)512)

void bundle_files_init(const struct bundle_spec *b, struct arena *a, struct files *ret)
{
	*ret = (struct files){.a = a};
	if (b->renderer.entrypoint)
		ret->refused = obj_keep(a, obj_map());
}

/* The hub itself, which has no name of its own. */
static struct obj *cluster(void)
{
	struct obj *o = obj_map();
	obj_set_str(o, "name", BUNDLE_CLUSTER);
	obj_set_str(o, "group", BUNDLE_CLUSTER);
	return o;
}

/* --- configuration --- */

/* Of a Secret, too, that is named as any resource. */
static bool is_secret(const struct config_from *f)
{
	return f->type == FROM_SECRET || cstr_eq(f->kind, "Secret");
}

static bool has_secret(const struct config_sources *from)
{
	for (size_t i = 0; i < from->n; i++)
		if (is_secret(&from->items[i]))
			return true;
	return false;
}

/* A member of its own, so that no name of the Secret's is taken for that of an object's field; a Secret as it is
 * has its values in base64, of which a program may make texts. */
static struct obj *answer(const struct obj *layer)
{
	struct obj *o = obj_map();
	bool is_object = cstr_eq(obj_str(layer, "kind"), "Secret");
	if (is_object)
		obj_set(o, "value", obj_ref(layer));
	else
		obj_set_path(o, "value.layer", obj_ref(layer));
	return o;
}

static const struct obj *secret_layers(const struct config_sources *from,
				       const struct config_layer *layers, size_t n, struct arena *a)
{
	struct obj *list = obj_keep(a, obj_list());
	for (size_t i = 0; i < n && i < from->n; i++)
		if (is_secret(&from->items[i]) && layers[i].value)
			obj_append(list, answer(layers[i].value));
	return list;
}

const struct obj *bundle_input_hidden(const struct bundle_input *in, const struct obj *rendered,
				      struct arena *a)
{
	return in->secrets ? obj_keep(a, secrets_looked_up(in->secrets, rendered)) : NULL;
}

int bundle_input_make(const struct bundle_spec *b, const struct config_layer *layers, size_t n,
		      struct arena *a, struct bundle_input *ret, struct error *err)
{
	struct config_layer all[CONFIG_LAYERS_MAX] = {{"spec.config.values", b->renderer.values}};
	struct bundle_input in = {.is_secret = has_secret(&b->renderer.from)};
	struct obj *merged = NULL;
	for (size_t i = 0; i < n; i++)
		all[i + 1] = layers[i];
	if (config_merge(all, n + 1, &merged, err) < 0)
		return error_set_reason(err, REASON_VALUE_MISSING);
	if (in.is_secret)
		in.secrets = secret_layers(&b->renderer.from, layers, n, a);
	in.config = merged ? obj_keep(a, merged) : NULL;
	if (merged)
		json_digest(merged, in.digest);
	*ret = in;
	return 0;
}

int bundle_lists_check(const struct bundle_spec *b, const struct obj *lists, struct error *err)
{
	if (obj_len(lists) > LISTS_MAX)
		return error_because(err, E_LIMIT, REASON_RENDER_LIMIT,
				     "%s: it imports %zu live lists; at most %d are read",
				     b->renderer.entrypoint, obj_len(lists), LISTS_MAX);
	OBJ_EACH (it, lists) {
		size_t n = strlen(it.key);
		if (n <= strlen(LIST) || n > LIST_NAME_MAX || !cstr_has_suffix(it.key, LIST))
			return error_because(err, E_INVALID, REASON_RENDER_FAILED,
					     "%s: it imports a live list without a name; import "
					     "alm-runtime/PLURAL" LIST,
					     b->renderer.entrypoint);
	}
	return 0;
}

static void add_secrets(struct obj *to, const struct obj *list)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(meta_kind(obj_at(list, i)), "Secret"))
			obj_append(to, answer(obj_at(list, i)));
}

void bundle_input_lists(struct bundle_input *in, const struct obj *lists, struct arena *a)
{
	struct obj *secrets = obj_keep(a, obj_list());
	CLEANUP(obj_unrefp) struct obj *both = obj_map();
	obj_set_str(both, "config", in->digest);
	obj_set(both, "lists", obj_ref(lists));
	json_digest(both, in->digest);
	in->lists = lists;
	for (size_t i = 0; i < obj_len(in->secrets); i++)
		obj_append(secrets, obj_ref(obj_at(in->secrets, i)));
	OBJ_EACH (it, lists) {
		add_secrets(secrets, it.value);
		in->is_secret = in->is_secret || obj_len(it.value);
	}
	if (obj_len(secrets))
		in->secrets = secrets;
}

void bundle_input_blame(const char *field, struct error *err)
{
	bool may_pass = error_retry(err->code) != RETRY_NEVER && err->code != E_FORBIDDEN;
	if (field)
		error_wrap(err, "%s", field);
	if (!may_pass)
		error_set_reason(err, REASON_VALUE_MISSING);
}

/* --- the program --- */

/* The tree says which lists are read, and anybody may push to it: not with all that ALM may read. */
static const char *no_lists(const struct bundle_spec *b, const struct bundle_input *in)
{
	if (!in->is_live)
		return "live lists are read by the controller of the Bundle, and no cluster is "
		       "asked here";
	return b->account ? NULL
			  : "live lists are read with the rights of spec.serviceAccountName, and "
			    "none is set";
}

static struct obj *unavailable(const struct bundle_spec *b, const struct bundle_input *in)
{
	struct obj *o = obj_map();
	if (no_lists(b, in))
		obj_set_str(o, "/list", no_lists(b, in));
	obj_set_str(o, "values", "spec.values of a Bundle is not built yet");
	if (!in->config)
		obj_set_str(o, "config", "there is no configuration; set spec.config");
	return o;
}

static void start_jsonnet(const struct bundle_spec *b, struct sandbox *s, const struct files *f,
			  const struct bundle_input *in, struct render_call *call)
{
	const struct bundle_renderer *r = &b->renderer;
	CLEANUP(obj_unrefp) struct obj *runtime = obj_map();
	CLEANUP(obj_unrefp) struct obj *no = unavailable(b, in);
	OBJ_EACH (it, in->lists)
		obj_set(runtime, it.key, obj_ref(it.value));
	obj_set(runtime, "cluster", cluster());
	if (in->config)
		obj_set(runtime, "config", obj_ref(in->config));
	const struct flat_request rq = {.ns = b->ns,
					.entrypoint = r->entrypoint,
					.roots = {"", r->jpath, r->n_jpath},
					.ext_str = r->ext_str,
					.runtime = runtime,
					.unavailable = no,
					.asks = !no_lists(b, in)};
	flat_job_jsonnet(s, f, &rq, call);
}

void bundle_render_start(const struct bundle_spec *b, struct sandbox *s, const struct files *f,
			 const struct bundle_input *in, struct render_call *call)
{
	if (b->renderer.entrypoint)
		start_jsonnet(b, s, f, in, call);
	else
		flat_job_files(s, f, b->ns, &b->instances, call);
}

void bundle_input_files(struct bundle_input *in, const struct files *f, struct arena *a)
{
	struct obj *paths = in->is_secret ? obj_keep(a, obj_map()) : NULL;
	for (size_t i = 0; paths && i < f->n; i++)
		obj_set_bool(paths, f->items[i].path, true);
	in->files = paths;
}

static bool is_file(const struct obj *files, struct str path)
{
	OBJ_EACH (it, files)
		if (str_is(path, it.key))
			return true;
	return str_is(path, "std");
}

/* "\tlib/x.jsonnet:1:2-3\tfunction <f>", "\tx.jsonnet:(1:2)-(3:4)": the place alone of it, as a value may look like one. */
static bool is_frame(const struct obj *files, struct str line, struct str *ret)
{
	struct str file, at, words;
	if (!line.len || *line.ptr != '\t' || !str_cut(str_skip(line, 1), ':', &file, &at) ||
	    !is_file(files, file))
		return false;
	(void)str_cut(at, '\t', &at, &words);
	for (size_t i = 0; i < at.len; i++)
		if (!char_is_digit(at.ptr[i]) && !strchr(":()-", at.ptr[i]))
			return false;
	*ret = str_n(line.ptr, 1 + file.len + 1 + at.len);
	return at.len > 0 && at.len <= PLACE_MAX;
}

void bundle_render_hide(const struct bundle_input *in, struct obj *rendered)
{
	const char *text = obj_as_string(obj_get(rendered, "error"));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SANDBOX_OUTPUT_BYTES);
	struct str rest = str_of(text), line, place;
	/* of a file that cannot be parsed: that is the commit's */
	if (!in->is_secret || !text || cstr_has_prefix(text, "STATIC ERROR: "))
		return;
	strbuf_adds(&b, HIDDEN);
	while (str_next_line(&rest, &line))
		if (is_frame(in->files, line, &place))
			strbuf_addf(&b, "\n%.*s", STR_ARG(place));
	obj_set_str(rendered, "error", b.buf);
}

int bundle_render_mute(const struct bundle_spec *b, const struct bundle_input *in,
		       struct error *err)
{
	bool is_hidden = err->reason == REASON_RENDER_FAILED; /* bundle_render_hide() */
	enum error_reason reason = err->reason;
	if (!in->is_secret || is_hidden || reason == REASON_RENDERER_MISSING)
		return -err->code;
	error_set(err, err->code, "%s: %s: " HIDDEN, b->renderer.entrypoint,
		  error_reason(err->code));
	return reason ? error_set_reason(err, reason) : -err->code;
}

void bundle_render_blame(const struct bundle_spec *b, struct error *err)
{
	const char *program = b->renderer.entrypoint;
	if (err->reason)
		return;
	if (err->code == E_LIMIT || err->code == E_TIMEOUT ||
	    err->code == E_INTERNAL) { /* it crashed: again, it does so again */
		err->code = E_LIMIT;
		error_wrap(err, "%s", program ? program : "the manifests");
		error_set_reason(err, REASON_RENDER_LIMIT);
	} else if (program && error_retry(err->code) == RETRY_NEVER) {
		error_set_reason(err, REASON_RENDER_FAILED);
	}
}
