/*
 * cmd_delete: objects by name, selector or file; waits until they are gone.
 *
 * --with-crd takes a CRD and its instances along: the number of instances must be the one that the
 * caller has seen, else nothing is deleted (exit 3). The instances go while the operator runs,
 * which their finalizers may need; then the operator, then the CRD (lifecycle.md 8).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/cli/cmds.h"
#include "alm/cli/kube/removal.h"
#include "alm/cli/kube/targets.h"
#include "alm/cli/kube/write.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"
#include "crds/kinds.h"

#define GONE_POLL_NS (250 * NS_PER_MS)

static const struct cmd_option options[] = {
	{"filename", "FILE", "file, folder or - for standard input; may be given again", 'f'},
	{"selector", "QUERY", "label selector", 'l'},
	{"all", NULL, "every object of the type in the namespace", 0},
	{"ignore-not-found", NULL, "an absent object is no error", 0},
	{"cascade", "MODE", "background, foreground or orphan", 0},
	{"wait", NULL, "until the objects are gone (default true)", 0},
	{"timeout", "DURATION", "longest wait (default 5m)", 0},
	{"with-crd", "PLURAL.GROUP=COUNT",
	 "also this CRD with its COUNT instances, which go first, while the operator runs", 0},
	{"dry-run", "WHERE", "server: check, delete nothing; of an app: tell what would go", 0},
	{"output", "FORMAT", "name instead of a line", 'o'},
	{0},
};

struct delete
{
	struct cli *c;
	struct session *s;
	struct targets targets;
	int64_t deadline_ns;
};

static int delete_options(const struct cli *c, const char *uid, struct obj **ret, struct error *err)
{
	static const char *const modes[][2] = {
		{"background", "Background"}, {"foreground", "Foreground"}, {"orphan", "Orphan"}};
	const char *mode = cli_value(c, "cascade");
	const char *policy = "Background";
	for (size_t i = 0; mode && i < ARRAY_LEN(modes); i++)
		if (!strcmp(mode, modes[i][0])) {
			policy = modes[i][1];
			mode = NULL;
		}
	if (mode)
		return error_set(err, E_USAGE, "--cascade is background, foreground or orphan");
	struct obj *o = obj_map();
	obj_set_str(o, "apiVersion", "v1");
	obj_set_str(o, "kind", "DeleteOptions");
	obj_set_str(o, "propagationPolicy", policy);
	if (uid)
		obj_set_path(o, "preconditions.uid", obj_string(uid));
	if (write_is_dry(c)) {
		struct obj *list = obj_list();
		obj_append(list, obj_string("All"));
		obj_set(o, "dryRun", list);
	}
	*ret = obj_keep(c->arena, o);
	return 0;
}

/* 0 when the object of this uid is not there any more. */
static int wait_gone(struct delete *d, const char *path, const char *uid, const char *what,
		     struct error *err)
{
	for (;;) {
		const struct obj *o = NULL;
		struct error one = ERROR_INIT;
		int r = session_get(d->s, path, &o, &one);
		if (r == -E_NOTFOUND || (r >= 0 && uid && !cstr_eq(meta_uid(o), uid)))
			return 0;
		if (r < 0)
			return error_copy(err, &one);
		const struct obj *finalizers = obj_path(o, "metadata.finalizers");
		if (loop_mono(session_loop(d->s)) >= d->deadline_ns)
			return error_set(err, E_TIMEOUT, "timed out: %s is still there%s%s", what,
					 obj_len(finalizers) ? ", held by finalizer " : "",
					 obj_len(finalizers) ? obj_as_string(obj_at(finalizers, 0))
							     : "");
		(void)session_run(d->s, GONE_POLL_NS);
	}
}

static void print_deleted(const struct delete *d, const struct resource *r, const char *name)
{
	const struct cli *c = d->c;
	const char *out = cli_value(c, "output");
	for (const char *p = r->kind; *p; p++)
		term_print("%c", char_lower(*p));
	if (*r->group)
		term_print(".%s", r->group);
	if (out && !strcmp(out, "name"))
		term_print("/%s\n", name);
	else
		term_print(" \"%s\" deleted%s\n", name, write_is_dry(c) ? " (server dry run)" : "");
	(void)term_flush();
}

/* Sends the delete of what is there; *ret_uid NULL: it may be absent, and is. */
static int delete_sent(struct delete *d, const struct target *t, const char *name,
		       const char **ret_uid, struct error *err)
{
	const char *path = session_target(d->s, &t->resource, t->ns, name, NULL);
	const struct obj *o = NULL;
	struct obj *options_obj = NULL;
	*ret_uid = NULL;
	int r = session_get(d->s, path, &o, err);
	if (r == -E_NOTFOUND && cli_flag(d->c, "ignore-not-found")) {
		*err = ERROR_INIT;
		return 0;
	}
	if (r >= 0)
		r = delete_options(d->c, meta_uid(o), &options_obj, err);
	if (r < 0)
		return r;
	struct session_request q = {.method = "DELETE", .target = path, .body = options_obj};
	struct session_reply reply;
	r = session_send(d->s, &q, &reply, err);
	if (r < 0)
		return r;
	print_deleted(d, &t->resource, name);
	*ret_uid = arena_strdup(d->c->arena, meta_uid(o));
	bool is_app =
		cstr_eq(meta_kind(o), "AppType") && !strcmp(t->resource.group, "app.coreos.com");
	if (is_app && write_is_dry(d->c) && !cli_value(d->c, "output"))
		return removal_print(d->c, d->s, o, err);
	return 0;
}

static int delete_one(struct delete *d, const struct target *t, const char *name, struct error *err)
{
	const char *uid, *wait = cli_value(d->c, "wait");
	int r = delete_sent(d, t, name, &uid, err);
	if (r < 0 || !uid || (wait && !strcmp(wait, "false")) || write_is_dry(d->c))
		return r;
	return wait_gone(d, session_target(d->s, &t->resource, t->ns, name, NULL), uid, name, err);
}

static int delete_listed(struct delete *d, const struct target *t, struct error *err)
{
	const struct obj *list = NULL;
	if (!cli_value(d->c, "selector") && !cli_flag(d->c, "all"))
		return error_set(err, E_USAGE, "a name, -l or --all is missing");
	int r = session_get(d->s,
			    session_target(d->s, &t->resource, t->ns, NULL, targets_query(d->c)),
			    &list, err);
	const struct obj *items = obj_get(list, "items");
	for (size_t i = 0; r >= 0 && i < obj_len(items); i++)
		r = delete_one(d, t, meta_name(obj_at(items, i)), err);
	return r;
}

/* --with-crd etcds.etcd.coreos.com=1: the CRD's name, after its instances were counted. */
static int counted_crd(struct delete *d, const char *spec, const char **ret_name, struct error *err)
{
	struct str name, count;
	int64_t want;
	struct resource r;
	const struct obj *list = NULL;
	const char *group;
	if (!str_cut(str_of(spec), '=', &name, &count) || !str_parse_i64(count, &want))
		return error_set(err, E_USAGE, "--with-crd wants PLURAL.GROUP=COUNT, not %s", spec);
	*ret_name = arena_strndup(d->c->arena, name.ptr, name.len);
	group = strchr(*ret_name, '.');
	if (group && crd_group_is_ours(group + 1))
		return error_set(err, E_REFUSED,
				 "--with-crd: %s is a definition of ALM itself, of all apps; "
				 "alm uninstall --from-cluster takes those",
				 *ret_name);
	int rc = session_resource(d->s, *ret_name, &r, err);
	if (rc >= 0)
		rc = session_get(d->s, session_target(d->s, &r, NULL, NULL, NULL), &list, err);
	if (rc < 0)
		return rc;
	int64_t have = (int64_t)obj_len(obj_get(list, "items"));
	if (have != want)
		return error_set(err, E_REFUSED,
				 "%s has %" PRId64 " objects, not %" PRId64 "; nothing was deleted",
				 *ret_name, have, want);
	return 0;
}

static const struct obj *instances(struct delete *d, const char *crd, struct target *ret,
				   struct error *err)
{
	const struct obj *list = NULL;
	if (session_resource(d->s, crd, &ret->resource, err) < 0 ||
	    session_get(d->s, session_target(d->s, &ret->resource, NULL, NULL, NULL), &list, err) <
		    0)
		return NULL;
	return obj_get(list, "items");
}

/* All at once, then until the operator has let go of each, whatever --wait says. */
static int delete_instances(struct delete *d, const char *crd, struct error *err)
{
	struct target t = {0};
	const struct obj *items = instances(d, crd, &t, err);
	const char *uid;
	int r = items ? 0 : -err->code;
	for (size_t i = 0; r >= 0 && i < obj_len(items); i++) {
		t.ns = meta_namespace(obj_at(items, i));
		r = delete_sent(d, &t, meta_name(obj_at(items, i)), &uid, err);
	}
	if (write_is_dry(d->c))
		return r;
	for (size_t i = 0; r >= 0 && i < obj_len(items); i++) {
		const struct obj *o = obj_at(items, i);
		r = wait_gone(
			d, session_target(d->s, &t.resource, meta_namespace(o), meta_name(o), NULL),
			meta_uid(o), meta_name(o), err);
	}
	const struct obj *left = r < 0 ? NULL : instances(d, crd, &t, err);
	if (r >= 0 && obj_len(left))
		return error_set(err, E_REFUSED,
				 "%s has %zu new objects: the operator and the CRD stay", crd,
				 obj_len(left));
	return r;
}

/* Before the first instance is deleted: all that is named is there. */
static int check_targets(struct delete *d, struct error *err)
{
	for (size_t i = 0; !cli_flag(d->c, "ignore-not-found") && i < d->targets.n; i++) {
		const struct target *t = &d->targets.items[i];
		const struct obj *ignored = NULL;
		if (t->name &&
		    session_get(d->s, session_target(d->s, &t->resource, t->ns, t->name, NULL),
				&ignored, err) < 0)
			return -err->code;
	}
	return 0;
}

static int delete_args(struct delete *d, struct error *err)
{
	static const struct target crd = {{"apiextensions.k8s.io", "v1",
					   "customresourcedefinitions", "CustomResourceDefinition",
					   false},
					  NULL,
					  NULL};
	const char *spec, *crds[64];
	size_t n = 0;
	int r = targets_of_args(d->s, d->c, false, &d->targets, err);
	for (; r >= 0 && n < ARRAY_LEN(crds) && (spec = cli_value_at(d->c, "with-crd", n)); n++)
		r = counted_crd(d, spec, &crds[n], err);
	if (r >= 0 && n)
		r = check_targets(d, err);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = delete_instances(d, crds[i], err);
	for (size_t i = 0; r >= 0 && i < d->targets.n; i++) {
		const struct target *t = &d->targets.items[i];
		r = t->name ? delete_one(d, t, t->name, err) : delete_listed(d, t, err);
	}
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = delete_one(d, &crd, crds[i], err);
	return r;
}

/* Last object first, as they were created in order. */
static int delete_files(struct delete *d, struct error *err)
{
	struct manifest m = {0};
	int r = manifest_read(d->c, &m, err);
	for (size_t i = m.n; r >= 0 && i > 0; i--) {
		struct target t = {0};
		r = write_modern(d->c, d->s, &m.items[i - 1], err);
		const struct obj *o = m.items[i - 1].o;
		if (r >= 0 && m.items[i - 1].has_more)
			r = error_set(
				err, E_REFUSED,
				"%s:%d: %s has other versions, too, and all of them would go, "
				"with their objects: alm delete crd %s does that",
				m.items[i - 1].file, m.items[i - 1].line, meta_name(o),
				meta_name(o));
		if (r >= 0)
			r = session_kind(d->s, o, &t.resource, err);
		if (r < 0)
			break;
		t.ns = write_namespace(d->s, &t.resource, o);
		r = delete_one(d, &t, meta_name(o), err);
	}
	return r;
}

static int run(struct cli *c, struct error *err)
{
	struct delete *d = ARENA_NEW(c->arena, struct delete);
	int64_t timeout;
	d->c = c;
	int r = cli_duration(c, "timeout", 5 * NS_PER_MIN, &timeout, err);
	if (r >= 0)
		r = write_check_dry(c, err);
	if (r >= 0 && !c->n_args == !cli_value(c, "filename"))
		r = error_set(err, E_USAGE, "want TYPE NAME or -f FILE");
	if (r >= 0)
		r = session_open(c, &d->s, err);
	if (r < 0)
		return r;
	d->deadline_ns = loop_mono(session_loop(d->s)) + timeout;
	r = c->n_args ? delete_args(d, err) : delete_files(d, err);
	session_free(d->s);
	return r;
}

const struct cmd cmd_delete = {
	.name = "delete",
	.usage = "alm delete (TYPE NAME... | TYPE/NAME... | TYPE (-l QUERY | --all) | -f FILE)",
	.summary = "delete objects",
	.description =
		"Waits until the objects are gone. Of an AppType --dry-run=server lists what ALM "
		"would "
		"delete with it, what stays, and the command that takes its definitions with their "
		"objects along.",
	.examples = "alm delete apptype etcd --dry-run=server\n"
		    "alm delete apptype etcd --with-crd etcds.etcd.coreos.com=1",
	.options = options,
	.args = {0, CLI_ARGS_MAX},
	.run = run,
};
