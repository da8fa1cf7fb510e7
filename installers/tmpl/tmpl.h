/*
 * tmpl: the Go template language as Helm runs it. Pure: text, values, time and entropy go in, text
 * comes out. A set owns its parsed templates and can be run many times; a run has an arena of the
 * caller and a budget.
 *
 *	struct tmpl_set *set = tmpl_set_new(TMPL_PROFILE_4_1, false);
 *	tmpl_set_add(set, STR("c/templates/t.yaml"), text, &msg);      for every file, in parse order
 *	struct tmpl_run *run = tmpl_run_new(set, arena, &host, &tmpl_limits_default);
 *	tmpl_run_file(run, STR("c/templates/t.yaml"), data, &out, &msg);
 *	tmpl_run_free(run);
 *
 * Messages are Helm's text without "Error: ", of any length, hence a strbuf; the return value is
 * 0 or a negative error code: E_INVALID (the template's fault), E_LIMIT (a budget: the message is
 * "RenderLimit: BUDGET ..."), E_UNSUPPORTED, E_UNAVAILABLE (missing entropy or a wanted lookup).
 *
 * To add a function: a row in the table of its fn_*.c, and a line in
 * tests/golden/charts/coverage.txt.
 */
#ifndef INSTALLERS_TMPL_TMPL_H
#define INSTALLERS_TMPL_TMPL_H

#include "alm/base/error.h"
#include "installers/value/value.h"

struct tmpl_limits {
	size_t steps;        /* nodes executed */
	size_t iterations;   /* of range, all together */
	size_t output_bytes; /* all files together */
	size_t file_bytes;
	size_t string_bytes; /* one string */
	size_t arena_bytes;  /* values and strings */
	size_t tpl_calls, tpl_bytes;
	size_t frames;      /* templates in each other */
	size_t nested_name; /* Helm's 1,000 for one name */
	size_t list_len;
	size_t key_pairs;   /* private keys */
	size_t slow_hashes; /* bcrypt, scrypt */
	size_t stack_bytes; /* of the C stack */
};
extern const struct tmpl_limits tmpl_limits_default;

/* The outside world of a run, all of it input. */
struct tmpl_host {
	int64_t now_ns;
	const char *zone; /* of the local time: "UTC", "Europe/Berlin"; NULL is UTC */
	/* The TZif bytes of a zone ("Europe/Berlin"), negative if there is none; NULL: only UTC. */
	int (*zone_bytes)(void *ctx, struct arena *a, struct str name, struct str *ret);
	/* len bytes of entropy; NULL, or a negative return: random functions fail. */
	int (*entropy)(void *ctx, void *out, size_t len);
	/* The object (a list object for an empty name), *ret nil if it does not exist; NULL: always
	 * nil, as offline. A negative return ends the render with err. */
	int (*lookup)(void *ctx, struct arena *a, struct str api_version, struct str kind,
		      struct str ns, struct str name, struct value *ret, struct error *err);
	/* Told of every function that gave a result (tests/golden/charts/coverage.txt); or NULL. */
	void (*called)(void *ctx, const char *function);
	void *ctx;
};

/* ---- set ---- */
struct tmpl_set;
struct tmpl_set *tmpl_set_new(enum tmpl_profile profile, bool strict);
/* For lint: fail and required give "" instead of ending the render. */
void tmpl_set_lenient(struct tmpl_set *set);
void tmpl_set_free(struct tmpl_set *set);
DEFINE_FREEP(tmpl_set)
/* Parses a file as the template NAME; its defines join the set, a later one replaces an earlier.
 * Call in Helm's order (tmpl_order_cmp). The text is borrowed. */
int tmpl_set_add(struct tmpl_set *set, struct str name, struct str text, struct strbuf *msg);
/* The same for a file that will be executed once: without a define it is parsed only then, and the
 * tree is freed behind it. An error in it is found then, too late: whoever meets any error of the
 * set or of a run asks tmpl_set_check() whether this comes before it. */
int tmpl_set_add_later(struct tmpl_set *set, struct str name, struct str text, struct strbuf *msg);
/* Parses all that was added for later: 0, or the error of the first that cannot be. */
int tmpl_set_check(struct tmpl_set *set, struct strbuf *msg);
/* Parse and execution order of names: most slashes first, then bytes descending. */
int tmpl_order_cmp(struct str a, struct str b);

/* ---- run ---- */
struct tmpl_run;
/* Everything is borrowed until tmpl_run_free(); values made by the run live in the arena. */
struct tmpl_run *tmpl_run_new(struct tmpl_set *set, struct arena *a, const struct tmpl_host *host,
			      const struct tmpl_limits *limits);
void tmpl_run_free(struct tmpl_run *run);
DEFINE_FREEP(tmpl_run)
/* Executes the template NAME and appends its text to out, "<no value>" removed. */
int tmpl_run_file(struct tmpl_run *run, struct str name, struct value data, struct strbuf *out,
		  struct strbuf *msg);
/* A non-reproducible function (rand*, now, gen*, lookup) was called. */
bool tmpl_run_is_random(const struct tmpl_run *run);

/* ---- for functions (fn_*.c) ---- */
typedef int (*tmpl_fn)(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret);

/*
 * sig names the parameters and, after a colon, the result: s string, i int, l int64, f float64,
 * b bool, v interface {}, m map[string]interface {}, S []string, A []interface {}, t time.Time,
 * c certificate, U uint32, w io.Writer, r anything with its iface flag; a * after the last
 * parameter makes it variadic. "svs*:s". The executor checks and converts; nil reaches only v (and
 * a nil m, S, A through a pipe of a typed nil). The result letter v is an interface.
 */
struct tmpl_func {
	const char *name;
	const char *sig;
	tmpl_fn fn;
	unsigned flags; /* TMPL_FN_* */
};
#define TMPL_FN_RANDOM  1u /* not reproducible */
#define TMPL_FN_FROM_41 2u /* not in profile 3 */
#define TMPL_FN_FROM_42 4u /* only in profile 4.2 */
#define TMPL_FN_AND     8u /* of the executor */
#define TMPL_FN_OR      16u
#define TMPL_FN_THREE   32u /* a Go method with three results: calling it is an error */

/* Tables end with a row whose name is NULL. */
extern const struct tmpl_func tmpl_fn_core[], tmpl_fn_compare[], tmpl_fn_text[], tmpl_fn_cut[],
	tmpl_fn_random[], tmpl_fn_list[], tmpl_fn_dict[], tmpl_fn_math[], tmpl_fn_date[],
	tmpl_fn_crypto[], tmpl_fn_encode[], tmpl_fn_regex[], tmpl_fn_misc[];

/* All functions of all profiles, one after the other; NULL after the last. */
const struct tmpl_func *tmpl_function_at(size_t i);

/* fn_encode.c is of yaml_go, JSON and TOML: toYaml toYamlPretty toJson toToml fromYaml
 * fromYamlArray fromJson fromJsonArray fromToml mustToYaml mustToJson mustToToml toPrettyJson
 * toRawJson mustToPrettyJson mustToRawJson mustFromJson. */

/* The function's error: "error calling NAME: MSG". Returns a negative code. */
int tmpl_fail(struct tmpl_run *run, const char *fmt, ...) PRINTF(2, 3);
int tmpl_fail_str(struct tmpl_run *run, struct str msg);
/* Ends the render with another code than E_INVALID. */
int tmpl_fail_code(struct tmpl_run *run, int code, const char *fmt, ...) PRINTF(3, 4);
/* A budget: the whole render ends. */
int tmpl_over(struct tmpl_run *run, const char *budget, size_t limit);
#ifdef __clang_analyzer__ /* see error.h */
#define tmpl_fail(...)      ((void)tmpl_fail(__VA_ARGS__), -1)
#define tmpl_fail_str(...)  ((void)tmpl_fail_str(__VA_ARGS__), -1)
#define tmpl_fail_code(...) ((void)tmpl_fail_code(__VA_ARGS__), -1)
#define tmpl_over(...)      ((void)tmpl_over(__VA_ARGS__), -1)
#endif
struct arena *tmpl_arena(struct tmpl_run *run);
enum tmpl_profile tmpl_run_profile(const struct tmpl_run *run);
const struct tmpl_limits *tmpl_run_limits(const struct tmpl_run *run);
const struct tmpl_host *tmpl_run_host(const struct tmpl_run *run);
/* Appends text without "<no value>". */
void tmpl_add_cleaned(struct strbuf *out, struct str text);
/* Fails with E_LIMIT if a string of n bytes may not be made. */
int tmpl_want_string(struct tmpl_run *run, size_t n);
int tmpl_want_list(struct tmpl_run *run, size_t n);
int tmpl_want_steps(struct tmpl_run *run, size_t n);
int tmpl_want_key(struct tmpl_run *run);       /* one more key pair */
int tmpl_want_slow_hash(struct tmpl_run *run); /* one more bcrypt or scrypt */
/* *ret = the text of b as a string value (b over its limit: the string budget is over). */
int tmpl_return(struct tmpl_run *run, const struct strbuf *b, struct value *ret);
/* The result cannot be had again. */
void tmpl_mark_random(struct tmpl_run *run);
/* len bytes of entropy, or the error "no entropy was given". */
int tmpl_entropy(struct tmpl_run *run, void *out, size_t len);

#endif
