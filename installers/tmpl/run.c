/*
 * run: what a run has (run.h), and its budgets, as functions ask for them. Executes nothing, so that what
 * functions call does not lead back to them.
 */
#include "installers/tmpl/run.h"

/* clang-format off */
const struct tmpl_limits tmpl_limits_default = {
	.steps = 50000000,
	.iterations = 10000000,
	.output_bytes = (size_t)32 << 20,
	.file_bytes = (size_t)8 << 20,
	.string_bytes = (size_t)16 << 20,
	.arena_bytes = (size_t)256 << 20,
	.tpl_calls = 20000,
	.tpl_bytes = (size_t)16 << 20,
	.frames = 4000,
	.nested_name = 1000,
	.list_len = 1000000,
	.key_pairs = 64,
	.slow_hashes = 32,
	.stack_bytes = (size_t)56 << 20,
};
/* clang-format on */

struct tmpl_run *tmpl_run_new(struct tmpl_set *set, struct arena *a, const struct tmpl_host *host,
			      const struct tmpl_limits *limits)
{
	struct tmpl_run *run = xcalloc(1, sizeof(*run));
	run->set = set;
	run->arena = a;
	run->host = host;
	run->limits = limits;
	table_init(&run->includes, a);
	table_init(&run->tpl_texts, a);
	table_init(&run->regexes, a);
	return run;
}

void tmpl_run_free(struct tmpl_run *run)
{
	if (!run)
		return;
	xfree(run->vars);
	if (run->stack)
		mem_region_free(run->stack, run->stack_size);
	xfree(run);
}

/* Appends text without "<no value>", which Helm deletes from every result. */
void tmpl_add_cleaned(struct strbuf *out, struct str text)
{
	const struct str hole = STR("<no value>");
	for (ptrdiff_t i; (i = str_find(text, hole)) >= 0;) {
		strbuf_add(out, text.ptr, (size_t)i);
		text = str_skip(text, (size_t)i + hole.len);
	}
	strbuf_addstr(out, text);
}

bool tmpl_run_is_random(const struct tmpl_run *run)
{
	return run->random;
}

struct arena *tmpl_arena(struct tmpl_run *run)
{
	return run->arena;
}

enum tmpl_profile tmpl_run_profile(const struct tmpl_run *run)
{
	return run->set->profile;
}

const struct tmpl_limits *tmpl_run_limits(const struct tmpl_run *run)
{
	return run->limits;
}

const struct tmpl_host *tmpl_run_host(const struct tmpl_run *run)
{
	return run->host;
}

int tmpl_want_string(struct tmpl_run *run, size_t n)
{
	if (n <= run->limits->string_bytes)
		return 0;
	return tmpl_over(run, "bytes in one string", run->limits->string_bytes);
}

int tmpl_want_list(struct tmpl_run *run, size_t n)
{
	if (n <= run->limits->list_len)
		return 0;
	return tmpl_over(run, "items in one list", run->limits->list_len);
}

int tmpl_want_steps(struct tmpl_run *run, size_t n)
{
	run->steps += n;
	if (run->steps <= run->limits->steps)
		return 0;
	return tmpl_over(run, "steps", run->limits->steps);
}

int tmpl_return(struct tmpl_run *run, const struct strbuf *b, struct value *ret)
{
	if (b->over || b->len > run->limits->string_bytes)
		return tmpl_over(run, "bytes in one string", run->limits->string_bytes);
	*ret = value_take(run->arena, b);
	return 0;
}

int tmpl_entropy(struct tmpl_run *run, void *out, size_t len)
{
	run->random = true;
	if (!run->host->entropy || run->host->entropy(run->host->ctx, out, len) < 0)
		return tmpl_fail_code(run, E_UNAVAILABLE, "no entropy was given to this render");
	return 0;
}

void tmpl_mark_random(struct tmpl_run *run)
{
	run->random = true;
}

int tmpl_want_key(struct tmpl_run *run)
{
	if (++run->key_pairs <= run->limits->key_pairs)
		return 0;
	return tmpl_over(run, "key pairs", run->limits->key_pairs);
}

int tmpl_want_slow_hash(struct tmpl_run *run)
{
	if (++run->slow_hashes <= run->limits->slow_hashes)
		return 0;
	return tmpl_over(run, "calls of bcrypt and scrypt", run->limits->slow_hashes);
}
