/* overview_print: the document of overview.h as a person reads it. */
#include <string.h>

#include "alm/base/visible.h"
#include "alm/cli/app/overview.h"
#include "alm/cli/kube/printer.h"

#define ORPHANS_SHOWN 10
#define DIGEST_SHOWN  12 /* hex digits of a digest that text shows */

/* Digests are cut: a person compares the beginning. */
static void add_short(struct str text, struct strbuf *b)
{
	static const char mark[] = "sha256:";
	while (text.len) {
		const char *at = memmem(text.ptr, text.len, mark, strlen(mark));
		if (!at)
			break;
		size_t head = (size_t)(at - text.ptr) + strlen(mark), n = head;
		while (n < text.len && char_is_hex(text.ptr[n]))
			n++;
		bool cut = n - head > DIGEST_SHOWN;
		visible_add(b, str_n(text.ptr, cut ? head + DIGEST_SHOWN : n));
		if (cut)
			visible_adds(b, "…");
		text = str_n(text.ptr + n, text.len - n);
	}
	visible_add(b, text);
}

static const char *shown(const struct obj *o, const char *key)
{
	const char *s = obj_str(o, key);
	return s && *s ? s : "-";
}

static void print_table(const struct obj *apps, struct arena *a, struct strbuf *b)
{
	static const char *const headers[] = {"APP",  "INSTALLED", "AVAILABLE",
					      "MODE", "READY",     "STATE"};
	static const char *const keys[] = {"name", "installed", "available",
					   "mode", "ready",     "state"};
	struct grid g;
	grid_init(&g, a);
	for (size_t i = 0; i < ARRAY_LEN(headers); i++)
		grid_column(&g, headers[i]);
	for (size_t i = 0; i < obj_len(apps); i++) {
		const char *cells[ARRAY_LEN(keys)];
		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			cells[k] = shown(obj_at(apps, i), keys[k]);
		grid_row(&g, cells);
	}
	grid_print(&g, true, b);
}

/* "COMMAND # what it does": the command alone can be copied. One of many lines, a manifest in the
 * shell's words, cannot be in this table; `alm rbac` before it prints the same, and -o json has it.
 */
static void print_next(const struct obj *next, struct strbuf *b)
{
	for (size_t i = 0; i < obj_len(next); i++) {
		struct str command = str_of(obj_as_string(obj_at(next, i))), note = STR_NONE;
		if (i && str_contains(command, STR("\n")))
			continue;
		(void)str_cut(command, '#', &command, &note);
		visible_adds(b, i ? "        " : "  next: ");
		visible_add(b, str_trim(command));
		strbuf_addc(b, '\n');
		if (str_trim(note).len)
			visible_addf(b, "          %.*s\n", STR_ARG(str_trim(note)));
	}
	if (!obj_len(next))
		visible_addf(b, "  next: nothing to do, it goes on by itself\n");
}

static void print_wait(const char *app, const struct obj *w, struct strbuf *b)
{
	const char *version = obj_str(w, "version"), *message = obj_str(w, "message");
	visible_addf(b, "\n%s%s%s: %s", app, version ? " " : "", version ? version : "",
		     obj_str(w, "reason"));
	if (message && *message) {
		visible_adds(b, ": ");
		add_short(str_of(message), b);
	}
	strbuf_addc(b, '\n');
	print_next(obj_get(w, "next"), b);
}

static void print_orphans(const struct obj *bundle, struct strbuf *b)
{
	const struct obj *orphans = obj_get(bundle, "orphans");
	size_t n = obj_len(orphans);
	for (size_t i = 0; i < n && i < ORPHANS_SHOWN; i++)
		visible_addf(b, "  Orphan %s: not declared; %s\n",
			     obj_str(obj_at(orphans, i), "what"),
			     obj_str(obj_at(orphans, i), "text"));
	if (n > ORPHANS_SHOWN)
		visible_addf(b, "  and %zu more\n", n - ORPHANS_SHOWN);
	if (obj_str(bundle, "orphansUnknown"))
		visible_addf(b, "  Orphans are not known: %s\n", obj_str(bundle, "orphansUnknown"));
	if (*obj_str(bundle, "held"))
		visible_addf(b, "  PruneHeld: %s\n", obj_str(bundle, "held"));
}

/* Those that are not ready; of a bundle that was named, all. */
static void print_instances(const struct obj *bundle, bool all, struct strbuf *b)
{
	const struct obj *list = obj_get(bundle, "instances");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		const char *state = shown(o, "state"), *message = obj_str(o, "message");
		int64_t n = obj_i64(o, "objects", 0);
		if (!all && cstr_eq(state, "Ready"))
			continue;
		visible_addf(b, "  instance %s: %s, %lld object%s%s%s\n", shown(o, "name"), state,
			     (long long)n, n == 1 ? "" : "s", message ? ": " : "",
			     message ? message : "");
	}
}

/* All of them in a line each, and what those in trouble wait for. How many these are. */
static size_t print_bundles(const struct obj *bundles, bool named, struct strbuf *b)
{
	size_t n = 0;
	for (size_t i = 0; i < obj_len(bundles); i++) {
		const struct obj *o = obj_at(bundles, i), *next = obj_get(o, "next");
		if (b->len)
			strbuf_addc(b, '\n');
		visible_addf(b, "bundle %s: %s %s", obj_str(o, "name"), shown(o, "state"),
			     shown(o, "revision"));
		bool synced = cstr_eq(obj_str(o, "state"), "Synced");
		bool paused = obj_flag(o, "paused", false);
		if (!synced && *obj_str(o, "message"))
			visible_addf(b, ": %s", obj_str(o, "message"));
		strbuf_addc(b, '\n');
		if (paused)
			visible_addf(b, "  spec.paused is true: no push is applied\n");
		print_instances(o, named, b);
		print_orphans(o, b);
		if (next)
			print_next(next, b);
		n += !synced || paused || next || obj_len(obj_get(o, "orphans"));
	}
	return n;
}

void overview_print(const struct obj *overview, struct arena *a, struct strbuf *b)
{
	const struct obj *apps = obj_get(overview, "apps"),
			 *catalogs = obj_get(overview, "catalogs"),
			 *bundles = obj_get(overview, "bundles");
	static const char *const all[] = {"server", "controller"};
	size_t n_waits = obj_len(catalogs);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (obj_str(overview, all[i])) {
			visible_addf(b, "%s: %s\n\n", all[i], obj_str(overview, all[i]));
			n_waits++;
		}
	if (obj_len(apps))
		print_table(apps, a, b);
	else if (!obj_len(bundles))
		visible_addf(b, "No app is declared: `kubectl create -f` an AppType.\n");
	for (size_t i = 0; i < obj_len(apps); i++) {
		const struct obj *waits = obj_get(obj_at(apps, i), "waits");
		for (size_t k = 0; k < obj_len(waits); k++)
			print_wait(obj_str(obj_at(apps, i), "name"), obj_at(waits, k), b);
		n_waits += obj_len(waits);
	}
	for (size_t i = 0; i < obj_len(catalogs); i++) {
		const struct obj *o = obj_at(catalogs, i);
		visible_addf(b, "\ncatalog %s: %s: %s\n", obj_str(o, "name"), obj_str(o, "reason"),
			     obj_str(o, "message"));
		print_next(obj_get(o, "next"), b);
	}
	n_waits += print_bundles(bundles, obj_flag(overview, "named", false), b);
	if ((obj_len(apps) || obj_len(bundles)) && !n_waits)
		visible_addf(b, "\nNothing waits.\n");
}
