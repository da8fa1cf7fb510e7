/*
 * What is wanted is the unit that succeeded last; it is held against the live objects. Nothing is written.
 *
 *	declared   green    git has it, and it is so
 *	differs    red      git has it otherwise
 *	unknown    yellow   git has it not, and somebody else has written it
 *	known      grey     the same of Kubernetes' own, and of autoscalers
 *
 * Paths alone, never values: they may be a Secret's.
 */
#include "alm/cli/app/diff_bundle.h"

#include <string.h>

#include "alm/cli/app/bundle_ask.h"
#include "alm/cli/app/bundle_inventory.h"
#include "alm/cli/app/bundle_row.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"
#include "alm/unit/drift.h"
#include "alm/unit/holder.h"
#include "alm/unit/theirs.h"

enum is { IS_DECLARED, IS_DIFFERENT, IS_UNKNOWN, IS_KNOWN, IS_COUNT };

static const char *const words[IS_COUNT] = {"declared", "differs", "unknown", "known"};

struct comparing {
	struct bundle_ask *b;
	struct arena *a;
	struct obj *objects;
	const char *ns; /* of what names none */
	size_t counts[IS_COUNT], same, different, missing;
};

/* --- one object --- */

static void add_field(struct comparing *x, struct obj *list, enum is is, const char *path,
		      enum holder holder, const char *manager)
{
	struct obj *row = obj_map();
	obj_set_str(row, "field", path);
	obj_set_str(row, "is", words[is]);
	obj_set_str(row, "controlledBy", holder_word(holder));
	if (manager)
		obj_set_str(row, "manager", manager);
	obj_append(list, row);
	x->counts[is]++;
}

/* Is it one of those, or in one of those? */
static bool is_in(const struct drift *d, const char *path)
{
	for (size_t i = 0; i < d->n; i++) {
		size_t n = strlen(d->live[i]);
		if (!strncmp(path, d->live[i], n) && (!path[n] || path[n] == '.' || path[n] == '['))
			return true;
	}
	return false;
}

static enum is is_of(const struct holder_field *f)
{
	if (f->declared)
		return IS_DECLARED;
	return f->holder == HOLDER_KUBERNETES || f->holder == HOLDER_AUTOSCALER ? IS_KNOWN
										: IS_UNKNOWN;
}

static const char *compare(struct comparing *x, const struct obj *row, const struct obj *want,
			   const struct obj *live, struct obj *list)
{
	const struct obj *ignore = obj_get(row, "ignore");
	want = theirs_take(want, live, ignore, x->a);
	const char *ours = bundle_row_manager(live, x->b->name), *manager;
	struct holder_field *fields;
	struct drift d;
	drift_find(want, live, ours ? ours : "", x->a, &d);
	for (size_t i = 0; i < d.n; i++) {
		enum holder h = holder_of(live, d.live[i], x->a, &manager);
		add_field(x, list, IS_DIFFERENT, d.paths[i], h, manager);
	}
	size_t n = holder_fields(live, ours, x->a, &fields);
	for (size_t i = 0; i < n; i++) {
		const struct holder_field *f = &fields[i];
		if (!is_in(&d, f->path))
			add_field(x, list,
				  theirs_has(ignore, want, live, f->path, x->a) ? IS_KNOWN
										: is_of(f),
				  f->path, f->holder, f->manager);
	}
	x->same += !d.n;
	x->different += d.n > 0;
	return d.n ? "differs" : "same";
}

static int compare_row(struct comparing *x, const struct obj *row, struct error *err)
{
	struct resource r;
	const struct obj *live = NULL, *want = obj_get(row, "object");
	struct obj *copy = obj_keep(x->a, obj_copy(want)), *o = obj_map(), *list = obj_list();
	const char *state = "missing";
	int found = session_kind(x->b->session, want, &r, err);
	if (!found && r.namespaced && !meta_namespace(copy))
		obj_set_path(copy, "metadata.namespace", obj_string(x->ns));
	const char *ns = meta_namespace(copy);
	if (!found)
		found = session_get(x->b->session,
				    session_target(x->b->session, &r, ns, meta_name(copy), NULL),
				    &live, err);
	if (found < 0 && err->code != E_NOTFOUND) {
		obj_unref(list);
		obj_unref(o);
		return error_wrap(err, "%s %s", meta_kind(want), meta_name(want));
	}
	*err = ERROR_INIT;
	if (live)
		state = compare(x, row, copy, live, list);
	x->missing += !live;
	obj_set_str(o, "object",
		    arena_fmt(x->a, "%s %s%s%s", meta_kind(want), ns ? ns : "", ns ? "/" : "",
			      meta_name(want)));
	obj_set_str(o, "file", obj_str(row, "key") ? obj_str(row, "key") : "");
	obj_set_str(o, "state", state);
	obj_set(o, "fields", list);
	obj_append(x->objects, o);
	return 0;
}

/* --- all --- */

/* What is as it should be is counted. */
static void print_object(const struct obj *o)
{
	const struct obj *list = obj_get(o, "fields");
	if (cstr_eq(obj_str(o, "state"), "missing"))
		term_print("missing  %s (%s)\n", obj_str(o, "object"), obj_str(o, "file"));
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *f = obj_at(list, i);
		const char *is = obj_str(f, "is"), *manager = obj_str(f, "manager");
		if (cstr_eq(is, words[IS_DECLARED]))
			continue;
		term_print("%-8s %s (%s)  ", is, obj_str(o, "object"), obj_str(o, "file"));
		term_field(obj_str(f, "field"), is);
		if (manager)
			term_print("  (%s: %s)", obj_str(f, "controlledBy"), manager);
		term_print("\n");
	}
}

static int print(struct comparing *x, bool data, struct error *err)
{
	struct cli *c = x->b->c;
	if (data) {
		CLEANUP(obj_unrefp) struct obj *o = obj_map();
		obj_set_str(o, "bundle", x->b->name);
		obj_set(o, "objects", obj_ref(x->objects));
		for (size_t i = 0; i < IS_COUNT; i++)
			obj_set_path(o, arena_fmt(x->a, "fields.%s", words[i]),
				     obj_int((int64_t)x->counts[i]));
		return cli_print_data(c, o, err);
	}
	for (size_t i = 0; i < obj_len(x->objects); i++)
		print_object(obj_at(x->objects, i));
	term_print("bundle %s: of %zu objects %zu as declared, %zu differ, %zu missing; of their "
		   "fields %zu as declared, %zu differ, %zu unknown to git, %zu known to change\n",
		   x->b->name, obj_len(x->objects), x->same, x->different, x->missing,
		   x->counts[IS_DECLARED], x->counts[IS_DIFFERENT], x->counts[IS_UNKNOWN],
		   x->counts[IS_KNOWN]);
	return 0;
}

static int diff(struct bundle_ask *b, struct error *err)
{
	struct comparing x = {
		.b = b, .a = b->c->arena, .objects = obj_keep(b->c->arena, obj_list())};
	struct bundle_inventory inventory;
	const struct obj *unit;
	bool data;
	if (cli_value(b->c, "to"))
		return error_set(err, E_USAGE,
				 "--to is of an app; what a push would do tells `alm bundle plan`");
	if (cli_output_data(b->c, &data, err) < 0 ||
	    bundle_inventory_read(b->session, b->name, x.a, &inventory, err) < 0 ||
	    bundle_inventory_unit(b->session, b->name, &inventory, x.a, &unit, err) < 0)
		return -err->code;
	const struct obj *rows = obj_get(unit, "objects");
	x.ns = obj_str(unit, "namespace") ? obj_str(unit, "namespace") : "default";
	for (size_t i = 0; i < obj_len(rows); i++)
		if (compare_row(&x, obj_at(rows, i), err) < 0)
			return -err->code;
	return print(&x, data, err);
}

int diff_bundle(struct cli *c, const char *name, struct error *err)
{
	struct bundle_ask b;
	int r = bundle_ask_open(c, name, &b, err);
	if (!r)
		r = diff(&b, err);
	bundle_ask_release(&b);
	return r;
}
