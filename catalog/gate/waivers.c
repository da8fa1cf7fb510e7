/* waivers.c: see waivers.h. */
#include "catalog/gate/waivers.h"

#include <string.h>

#include "alm/base/mem.h"
#include "alm/base/visible.h"
#include "alm/obj/json.h"
#include "alm/obj/nextstep.h"

#define STEPS_LISTED_MAX 20 /* of what no waiver lifts */
#define NOTE_BYTES_MAX   ((size_t)4 << 10)

/* --- text --- */

const char *waivers_command(const char *app, const struct obj *list, struct arena *a)
{
	CLEANUP(obj_unrefp) struct obj *patch = waivers_patch(list);
	CLEANUP(xfreep) char *text = json_text(patch);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	visible_add_shell_json(&b, text);
	return nextstep_new(a, NULL, "kubectl patch apptype %s --type=merge -p '%s'", app, b.buf);
}

static const char *finding_text(const struct obj *f, struct arena *a)
{
	const char *path = obj_str(f, "path");
	return visible_text(a, arena_fmt(a, "%s %s%s%s", obj_str(f, "rule"), obj_str(f, "resource"),
					 path && *path ? " " : "", path ? path : ""));
}

static const char *count_text(const struct obj *f, struct arena *a)
{
	long long affected = obj_i64(f, "affected", 0), seen = obj_i64(f, "seen", 0);
	return arena_fmt(a, "%lld of %lld object%s", affected, seen, seen == 1 ? "" : "s");
}

/* --- the lists --- */

static bool is_same(const struct obj *x, const struct obj *y)
{
	const char *p = obj_str(x, "path"), *q = obj_str(y, "path");
	return cstr_eq(obj_str(x, "rule"), obj_str(y, "rule")) &&
	       cstr_eq(obj_str(x, "resource"), obj_str(y, "resource")) &&
	       cstr_eq(p ? p : "", q ? q : "");
}

struct obj *waivers_join(const struct obj *old, const struct obj *added)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < obj_len(old); i++) {
		bool again = false;
		for (size_t k = 0; k < obj_len(added) && !again; k++)
			again = is_same(obj_at(old, i), obj_at(added, k));
		if (!again)
			obj_append(list, obj_ref(obj_at(old, i)));
	}
	for (size_t i = 0; i < obj_len(added); i++)
		obj_append(list, obj_ref(obj_at(added, i)));
	return list;
}

struct obj *waivers_patch(const struct obj *list)
{
	struct obj *o = obj_map(), *spec = obj_map(), *upgrade = obj_map();
	obj_set(upgrade, "waivers", obj_ref(list));
	obj_set(spec, "upgrade", upgrade);
	obj_set(o, "spec", spec);
	return o;
}

static struct obj *waiver_of(const struct waivers_input *in, const struct obj *f, struct arena *a)
{
	struct obj *w = obj_map();
	obj_set_str(w, "rule", obj_str(f, "rule"));
	obj_set_str(w, "resource", obj_str(f, "resource"));
	obj_set_str(w, "path", obj_str(f, "path"));
	obj_set(w, "reason",
		obj_stringf("accepted for %s: %s affected", in->version, count_text(f, a)));
	return w;
}

/* --- steps --- */

#define NOTE_MARK " # "

static bool has_step(const struct obj *steps, const char *command)
{
	size_t n = strlen(command);
	for (size_t i = 0; i < obj_len(steps); i++) {
		const char *step = obj_as_string(obj_at(steps, i));
		if (cstr_has_prefix(step, command) && cstr_has_prefix(step + n, NOTE_MARK))
			return true;
	}
	return false;
}

/* Several findings may have the same way out. */
static void add_step(struct obj *steps, const char *command, const char *note, struct arena *a)
{
	if (!has_step(steps, command) && obj_len(steps) < STEPS_LISTED_MAX)
		nextstep_add(steps, nextstep_new(a, note, "%s", command));
}

/* Nothing that is run here lifts it: the command shows what it is about, finding by finding. */
static void add_stuck(const struct waivers_input *in, const char *note, struct arena *a,
		      struct obj *steps)
{
	add_step(steps, nextstep_new(a, NULL, "alm diff %s --to %s", in->app, in->version), note,
		 a);
}

static const char *note_of(const struct obj *accepted, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	size_t n = obj_len(accepted), i = 0;
	strbuf_addf(&b, "accepts %zu finding%s: ", n, n == 1 ? "" : "s");
	for (; i < n && i < WAIVERS_INLINE_MAX && b.len < NOTE_BYTES_MAX; i++)
		strbuf_addf(&b, "%s%s (%s)", i ? ", " : "", finding_text(obj_at(accepted, i), a),
			    count_text(obj_at(accepted, i), a));
	if (i < n)
		strbuf_addf(&b, " and %zu more", n - i);
	strbuf_adds(&b, "; what does not fit in these objects is lost or refused when they are "
			"written: change them first to keep it");
	return arena_strdup(a, b.buf);
}

static void add_waivers(const struct waivers_input *in, const struct obj *accepted,
			const struct obj *waivers, struct arena *a, struct obj *steps)
{
	CLEANUP(obj_unrefp) struct obj *all = waivers_join(in->old, waivers);
	const char *command = waivers_command(in->app, all, a);
	if (obj_len(waivers) > WAIVERS_INLINE_MAX || strlen(command) > WAIVERS_INLINE_BYTES_MAX)
		command = nextstep_new(a, NULL,
				       "alm why-not %s %s -o yaml | kubectl patch apptype %s "
				       "--type=merge --patch-file=/dev/stdin",
				       in->app, in->version, in->app);
	nextstep_add(steps, nextstep_new(a, note_of(accepted, a), "%s", command));
}

static bool is_over(const struct waivers_input *in, const struct obj *waivers, struct arena *a,
		    struct obj *steps)
{
	CLEANUP(obj_unrefp) struct obj *all = waivers_join(in->old, waivers);
	size_t n = obj_len(all) + in->n_unlisted;
	if (n <= WAIVERS_MAX)
		return false;
	add_stuck(in,
		  arena_fmt(a,
			    "the publisher must keep the CRDs compatible: it would take %zu items "
			    "of spec.upgrade.waivers, which holds %d",
			    n, WAIVERS_MAX),
		  a, steps);
	return true;
}

static const char *stuck_note(const struct obj *f, struct arena *a)
{
	const char *remedy = obj_str(f, "remedy");
	return arena_fmt(a, "no waiver covers %s: %s", finding_text(f, a),
			 remedy ? remedy : "wait for another version");
}

struct obj *waivers_steps(const struct waivers_input *in, struct arena *a, struct obj *steps)
{
	CLEANUP(obj_unrefp) struct obj *waivers = obj_list(), *accepted = obj_list();
	const struct obj *stuck = NULL;
	for (size_t i = 0; i < obj_len(in->refusals); i++) {
		const struct obj *f = obj_at(in->refusals, i);
		const char *command = obj_str(f, "command");
		if (command) {
			add_step(steps, command, finding_text(f, a), a);
		} else if (obj_flag(f, "waivable", false)) {
			obj_append(accepted, obj_ref(f));
			obj_append(waivers, waiver_of(in, f, a));
		} else if (!stuck) {
			stuck = f;
		}
	}
	if (stuck)
		add_stuck(in, stuck_note(stuck, a), a, steps);
	if (stuck || !obj_len(waivers) || is_over(in, waivers, a, steps))
		return obj_list();
	add_waivers(in, accepted, waivers, a, steps);
	return STEAL(waivers);
}
