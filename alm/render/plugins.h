/*
 * plugins: the executables of $ALM_PLUGIN_DIR, and how one is asked (alm/unit/plugin.h has what is
 * said). Each call is a process of its own (alm/io/program.h): no variable, no network, no file but
 * the system's programs and libraries and the folder itself, unless KIND-NAME.json beside it says
 * so; 60 s, 64 MiB, 8 MiB of output.
 *
 * Neither the folder nor a file in it may be written by others than its owner: who can put a file
 * there runs it as this user. A folder or plugin of which that is not so is refused.
 *
 * Every error names the plugin, says "PluginFailed: action-Foo: ...", and how to see it.
 */
#ifndef ALM_RENDER_PLUGINS_H
#define ALM_RENDER_PLUGINS_H

#include "alm/io/loop.h"
#include "alm/unit/plugin.h"

#define PLUGINS_MAX          256
#define PLUGIN_WALL_NS       (60 * NS_PER_S)
#define PLUGIN_MEMORY_BYTES  ((size_t)64 << 20)
#define PLUGIN_OUTPUT_BYTES  ((size_t)8 << 20)
#define PLUGIN_FILE_BYTES    ((size_t)64 << 20)
#define PLUGIN_REQUEST_BYTES ((size_t)64 << 20)

struct plugins;
struct plugin_call;

struct plugin {
	enum plugin_kind kind;
	const char *name, *path;
	struct plugin_grant grant;
	struct error wrong; /* code 0: it can be called */
};

/* Consumes answer, a map; NULL with an error. Called once, in a later turn, unless cancelled. */
typedef void (*plugin_done)(void *arg, struct obj *answer, const struct error *err);

/* dir absolute or not; NULL: there are no plugins. env: the value of a variable of this process. E_NOTFOUND,
 * E_NOTALLOWED for the folder; what is wrong with one plugin is told when it is called. Forks, so
 * it is made while the process is small. */
int plugins_open(struct loop *l, const char *dir, const char *(*env)(const char *name),
		 struct plugins **ret, struct error *err);
void plugins_free(struct plugins *p); /* what is under way is cancelled; NULL is fine */
DEFINE_FREEP(plugins)

/* By kind and name; NULL beyond the last one. */
const struct plugin *plugins_at(const struct plugins *p, size_t i);
/* Names of one kind, NULL-ended; p may be NULL. */
const char *const *plugins_names(const struct plugins *p, enum plugin_kind kind);

/* It is ended after wall_ns, PLUGIN_WALL_NS at most; 0: that. */
struct plugin_call *plugins_ask(struct plugins *p, enum plugin_kind kind, const char *name,
				const struct obj *request, int64_t wall_ns, plugin_done done,
				void *arg);
void plugins_cancel(struct plugin_call *c);

#endif
