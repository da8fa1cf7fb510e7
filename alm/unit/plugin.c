#include "alm/unit/plugin.h"

#include <string.h>

#include "alm/obj/decode.h"
#include "alm/obj/json.h"

static const char *const kinds[PLUGIN_KINDS] = {[PLUGIN_ACTION] = "action",
						[PLUGIN_CHECK] = "check",
						[PLUGIN_RENDERER] = "renderer",
						[PLUGIN_TRIGGER] = "trigger"};

const char *plugin_kind_text(enum plugin_kind kind)
{
	return kinds[kind];
}

static bool is_name(const char *s)
{
	size_t n = strlen(s);
	for (size_t i = 0; i < n; i++)
		if (!char_is_alnum(s[i]) && (s[i] != '-' || i == 0))
			return false;
	return n && n <= PLUGIN_NAME_MAX;
}

bool plugin_name(const char *file, enum plugin_kind *ret_kind, const char **ret_name)
{
	for (int i = 0; i < PLUGIN_KINDS; i++) {
		size_t n = strlen(kinds[i]);
		if (strncmp(file, kinds[i], n) != 0 || file[n] != '-' || !is_name(file + n + 1))
			continue;
		*ret_kind = (enum plugin_kind)i;
		*ret_name = file + n + 1;
		return true;
	}
	return false;
}

/* --- answers --- */

struct raw_answer {
	const char *state, *message;
	const struct obj *writes, *record, *runs;
	int64_t poll_ns;
};

#define ANSWER(path, type, member) {path, type, offsetof(struct raw_answer, member)}
static const struct decode_field action_fields[] = {
	ANSWER("writes", DECODE_LIST, writes),     ANSWER("state", DECODE_STR, state),
	ANSWER("message", DECODE_STR, message),    ANSWER("record", DECODE_ANY, record),
	ANSWER("pollAfter", DECODE_SPAN, poll_ns), {0},
};
static const struct decode_field check_fields[] = {
	ANSWER("state", DECODE_STR, state),
	ANSWER("message", DECODE_STR, message),
	ANSWER("record", DECODE_ANY, record),
	ANSWER("pollAfter", DECODE_SPAN, poll_ns),
	{0},
};
static const struct decode_field trigger_fields[] = {
	ANSWER("runs", DECODE_LIST, runs),
	ANSWER("record", DECODE_ANY, record),
	ANSWER("pollAfter", DECODE_SPAN, poll_ns),
	{0},
};

struct raw_write {
	const struct obj *apply;
	bool deletes;
};

static const struct decode_field write_fields[] = {
	{"apply", DECODE_MAP, offsetof(struct raw_write, apply)},
	{"delete", DECODE_BOOL, offsetof(struct raw_write, deletes)},
	{0},
};

struct raw_run {
	const char *key;
	const struct obj *config;
};

static const struct decode_field run_fields[] = {
	{"key", DECODE_STR, offsetof(struct raw_run, key)},
	{"config", DECODE_MAP, offsetof(struct raw_run, config)},
	{0},
};

static int check_writes(const struct obj *writes, struct arena *a, struct error *err)
{
	if (obj_len(writes) > PLUGIN_WRITES_MAX)
		return error_set(err, E_LIMIT, "writes: %zu entries, at most %d are done",
				 obj_len(writes), PLUGIN_WRITES_MAX);
	for (size_t i = 0; i < obj_len(writes); i++) {
		struct raw_write w = {0};
		const char *field = arena_fmt(a, "writes[%zu]", i);
		if (decode_members(obj_at(writes, i), field, write_fields, &w, a, err) < 0)
			return -err->code;
		if (!w.apply == !w.deletes)
			return error_set(err, E_INVALID,
					 "%s: want {\"apply\": OBJECT} or {\"delete\": true}",
					 field);
	}
	return 0;
}

static int check_runs(const struct obj *runs, struct arena *a, struct error *err)
{
	if (obj_len(runs) > PLUGIN_RUNS_MAX)
		return error_set(err, E_LIMIT, "runs: %zu entries, at most %d are taken",
				 obj_len(runs), PLUGIN_RUNS_MAX);
	for (size_t i = 0; i < obj_len(runs); i++) {
		struct raw_run r = {0};
		const char *field = arena_fmt(a, "runs[%zu]", i);
		if (decode_members(obj_at(runs, i), field, run_fields, &r, a, err) < 0)
			return -err->code;
		if (!r.key || !*r.key || strlen(r.key) > PLUGIN_KEY_MAX)
			return error_set(err, E_INVALID,
					 "%s.key: want a text of 1 to %d bytes that names the run",
					 field, PLUGIN_KEY_MAX);
	}
	return 0;
}

static int read_state(const char *text, enum plugin_state *ret, struct error *err)
{
	static const char *const states[] = {[PLUGIN_IN_PROGRESS] = "InProgress",
					     [PLUGIN_FINISHED] = "Finished",
					     [PLUGIN_FAILED] = "Failed"};
	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (!text || cstr_eq(text, states[i])) {
			*ret = (enum plugin_state)i;
			return 0;
		}
	return error_set(err, E_INVALID, "state: \"%.64s\" is none of Finished, InProgress, Failed",
			 text);
}

static int check_record(const struct obj *record, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PLUGIN_RECORD_BYTES);
	if (record)
		json_print(record, &b);
	return strbuf_check(&b, "record", err);
}

int plugin_answer_read(const struct obj *answer, enum plugin_kind kind, struct arena *a,
		       struct plugin_answer *ret, struct error *err)
{
	const struct decode_field *fields = kind == PLUGIN_ACTION    ? action_fields
					    : kind == PLUGIN_TRIGGER ? trigger_fields
								     : check_fields;
	struct raw_answer raw = {0};
	enum plugin_state state = PLUGIN_IN_PROGRESS;
	if (decode_members(answer, "its answer", fields, &raw, a, err) < 0 ||
	    read_state(raw.state, &state, err) < 0 || check_record(raw.record, err) < 0 ||
	    check_writes(raw.writes, a, err) < 0 || check_runs(raw.runs, a, err) < 0)
		return -err->code;
	struct str message = str_clip(str_of(raw.message), PLUGIN_MESSAGE_MAX);
	*ret = (struct plugin_answer){
		.state = state,
		.message = raw.message ? arena_strndup(a, message.ptr, message.len) : NULL,
		.writes = raw.writes,
		.record = raw.record,
		.runs = raw.runs,
		.poll_ns = raw.poll_ns};
	return 0;
}

/* --- grants --- */

struct raw_grant {
	bool network;
	struct decode_strs env, files;
};

#define GRANT(path, type, member) {path, type, offsetof(struct raw_grant, member)}
static const struct decode_field grant_fields[] = {
	GRANT("network", DECODE_BOOL, network),
	GRANT("env", DECODE_STRS, env),
	GRANT("files", DECODE_STRS, files),
	{0},
};

static int check_grant(const struct raw_grant *g, struct error *err)
{
	if (g->env.n > PLUGIN_GRANTS_MAX || g->files.n > PLUGIN_GRANTS_MAX)
		return error_set(err, E_LIMIT, "more than %d variables or files",
				 PLUGIN_GRANTS_MAX);
	for (size_t i = 0; i < g->env.n; i++)
		if (!*g->env.items[i] || strchr(g->env.items[i], '='))
			return error_set(err, E_INVALID,
					 "env[%zu]: want the name of a variable, whose value is "
					 "that of this process",
					 i);
	for (size_t i = 0; i < g->files.n; i++)
		if (g->files.items[i][0] != '/')
			return error_set(err, E_INVALID, "files[%zu]: want an absolute path", i);
	return 0;
}

static const char *const *list_of(const struct decode_strs *s, struct arena *a)
{
	const char **list = ARENA_ARRAY(a, const char *, s->n + 1);
	for (size_t i = 0; i < s->n; i++)
		list[i] = s->items[i];
	return list;
}

int plugin_grant_read(struct str text, const char *file, struct arena *a, struct plugin_grant *ret,
		      struct error *err)
{
	struct raw_grant raw = {0};
	struct obj *o = NULL;
	if (json_parse(text, &o, err) < 0)
		return error_wrap(err, "%s", file);
	obj_keep(a, o);
	if (decode_members(o, "it", grant_fields, &raw, a, err) < 0 || check_grant(&raw, err) < 0)
		return error_wrap(err, "%s", file);
	*ret = (struct plugin_grant){raw.network, list_of(&raw.env, a), list_of(&raw.files, a)};
	return 0;
}
