/*
 * plugin: what ALM and a plugin say to each other (fleet.md 4.2). Pure.
 *
 * A plugin is an executable KIND-NAME in $ALM_PLUGIN_DIR: one document of JSON is its standard
 * input, it prints one and ends with status 0. It writes nothing to the cluster: ALM does.
 *
 *	action-NAME    {step, object, live, config, record} -> {writes[], state, message, record,
 *	               pollAfter}. writes: {apply: OBJECT} or {delete: true}, of the step's object alone.
 *	check-NAME     the same -> {state, message, record, pollAfter}
 *	renderer-NAME  {name, namespace, config} -> {objects: {KEY: OBJECT}, rollout}
 *	trigger-NAME   {name, record} -> {runs: [{key, config}], record, pollAfter}
 *
 * live is null while the object is absent. state is Finished, InProgress (the default: called again
 * after pollAfter, with the record that it gave) or Failed. An answer is hostile: what is not in
 * these lists is refused.
 *
 * What it may besides (KIND-NAME.json): {network: BOOL, env: [NAME], files: [PATH]}, of which
 * nothing is the default.
 */
#ifndef ALM_UNIT_PLUGIN_H
#define ALM_UNIT_PLUGIN_H

#include "alm/base/clock.h"
#include "alm/obj/obj.h"

#define PLUGIN_NAME_MAX     63
#define PLUGIN_MESSAGE_MAX  512
#define PLUGIN_RECORD_BYTES ((size_t)64 << 10)
#define PLUGIN_WRITES_MAX   16
#define PLUGIN_RUNS_MAX     10000
#define PLUGIN_KEY_MAX      256
#define PLUGIN_GRANT_BYTES  ((size_t)64 << 10)
#define PLUGIN_GRANTS_MAX   64 /* variables, or files */
#define PLUGIN_POLL_NS      (2 * NS_PER_S)

enum plugin_kind { PLUGIN_ACTION, PLUGIN_CHECK, PLUGIN_RENDERER, PLUGIN_TRIGGER, PLUGIN_KINDS };

enum plugin_state { PLUGIN_IN_PROGRESS, PLUGIN_FINISHED, PLUGIN_FAILED };

struct plugin_answer {
	enum plugin_state state;
	const char *message;      /* NULL: none */
	const struct obj *writes; /* action: [{apply} or {delete}]; NULL: none */
	const struct obj *record; /* NULL: none */
	const struct obj *runs;   /* trigger: [{key, config}]; NULL: none */
	int64_t poll_ns;          /* 0: it does not say */
};

struct plugin_grant {
	bool network;
	const char *const *env, *const *files; /* NULL-ended */
};

const char *plugin_kind_text(enum plugin_kind kind); /* "action" */
/* Of a file: "action-Foo" is an action named "Foo", which points into file. */
bool plugin_name(const char *file, enum plugin_kind *ret_kind, const char **ret_name);

/* Borrows answer. E_INVALID with the field, and what is wanted. Not for renderers, whose answer is
 * read as any renderer's. */
int plugin_answer_read(const struct obj *answer, enum plugin_kind kind, struct arena *a,
		       struct plugin_answer *ret, struct error *err);
/* The text of KIND-NAME.json; file begins every message. Lives in the arena. */
int plugin_grant_read(struct str text, const char *file, struct arena *a, struct plugin_grant *ret,
		      struct error *err);

#endif
