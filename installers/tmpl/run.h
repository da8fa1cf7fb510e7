/*
 * run: the inside of a running template, shared by exec.c, eval.c, eval_param.c, failure.c and fn_core.c.
 */
#ifndef INSTALLERS_TMPL_RUN_H
#define INSTALLERS_TMPL_RUN_H

#include "installers/tmpl/node.h"
#include "installers/tmpl/parse.h"
#include "installers/tmpl/table.h"

struct tmpl_set {
	struct arena *arena;
	enum tmpl_profile profile;
	bool strict;
	bool lenient;           /* fail and required do not */
	struct table trees;     /* name -> struct tmpl_tree */
	struct table functions; /* name -> struct tmpl_func */
	struct table later;     /* name -> struct later, unless it is in trees */
	struct later *first_later, **end_later;
	struct arena *texts;       /* what texts of a run may point at */
	struct arena *short_lived; /* the trees of the loaded; NULL if there are none */
	struct later *loaded;
};

/* A file that is parsed when it is executed. */
struct later {
	struct str name, text;
	struct tmpl_tree *tree; /* in short_lived, or NULL */
	bool is_known;          /* in trees by now */
	struct later *next, *next_loaded;
};

/* Templates seen by name: those of a tpl text on top of those around it. */
struct scope {
	struct table trees;
	const struct scope *parent; /* NULL: the set */
};

struct var {
	struct str name;
	struct value value;
};

/* An error on its way out: what each level puts in front, innermost first. */
struct tmpl_failure {
	int code; /* negative; 0: none */
	bool located;
	struct str *levels;
	size_t n, cap;
};

struct tmpl_run {
	struct tmpl_set *set;
	struct arena *arena;
	const struct tmpl_host *host;
	const struct tmpl_limits *limits;
	const struct scope *scope;
	struct var *vars;
	size_t n_vars, cap_vars;
	struct table includes;  /* name -> size_t, how often it is running */
	struct table tpl_texts; /* text -> struct parsed */
	struct table regexes;   /* pattern -> struct regex */
	size_t steps, iterations, output_bytes, tpl_calls, tpl_bytes, frames, key_pairs,
		slow_hashes;
	const char *stack_base;
	void *stack; /* of limits->stack_bytes and a margin, as soon as it executes */
	size_t stack_size;
	bool random;
	const struct tmpl_node *call_node; /* the first operand of the call at hand, for call */
	struct tmpl_failure failure;
};

/* A template being executed. */
struct state {
	struct tmpl_run *run;
	const struct tmpl_tree *tree;
	const struct tmpl_node *node; /* where an error would be */
	struct strbuf *out;
	size_t base; /* of its variables */
};

/* ---- set.c ---- */
const struct tmpl_func *set_function(const void *set, struct str name);
/* NULL if absent; the tree of a later one is there until set_forget(). */
const struct tmpl_tree *set_tree(struct tmpl_set *set, struct str name);
void set_forget(struct tmpl_set *set);

/* ---- exec.c ---- */
const struct tmpl_tree *run_lookup(const struct tmpl_run *run, struct str name);
/* Executes the tree with data as dot and $, and appends to out. */
int run_execute(struct tmpl_run *run, const struct tmpl_tree *tree, struct value data,
		struct strbuf *out);
/* One step of work: budgets and the C stack. */
int state_tick(struct state *s);
void run_push_var(struct tmpl_run *run, struct str name, struct value v);

/* ---- eval.c ---- */
int eval_pipeline(struct state *s, struct value dot, const struct tmpl_node *pipe,
		  struct value *ret);
int eval_set_var(struct state *s, struct str name, struct value v);

/* ---- eval_param.c: a type is the letter of a signature (tmpl.h); 0: any ---- */
const char *eval_param_name(char type);
bool eval_can_be_nil(char type);
struct value eval_zero(char type); /* of a type that can be nil */
const char *eval_type_name(const struct state *s, struct value v);
/* *ret is v as the parameter gets it. */
int eval_validate(struct state *s, struct value v, char type, struct value *ret);
int eval_constant(struct state *s, const struct tmpl_node *n, struct value *ret);
/* For a parameter of a plain type. */
int eval_typed_constant(struct state *s, char type, const struct tmpl_node *n, struct value *ret);

/* ---- failure.c ---- */
/* "template: F:L:C: executing "N" at <NODE>: " and the message; returns a negative code. */
int state_fail(struct state *s, const char *fmt, ...) PRINTF(2, 3);
int state_fail_str(struct state *s, struct str msg);
/* The function at s->node failed: adds the level "error calling NAME: ". */
int state_wrap_call(struct state *s, struct str name);
/* Adds a level that a function puts in front itself. */
int run_wrap(struct tmpl_run *run, struct str prefix);
#ifdef __clang_analyzer__ /* see error.h */
#define state_fail(...)      ((void)state_fail(__VA_ARGS__), -1)
#define state_fail_str(...)  ((void)state_fail_str(__VA_ARGS__), -1)
#define state_wrap_call(...) ((void)state_wrap_call(__VA_ARGS__), -1)
#define run_wrap(...)        ((void)run_wrap(__VA_ARGS__), -1)
#endif
/* The text for the user, in the form of the profile. */
void failure_print(const struct tmpl_run *run, struct strbuf *msg);
/* "parse error at (F:L): MSG" from the parser's message. */
void failure_print_parse(struct str file, struct str parser_msg, struct strbuf *msg);

/* ---- methods.c ---- */
/* The method of v's type, its signature without the receiver, which is args[0]; or NULL. */
const struct tmpl_func *value_method(struct value v, struct str name);

#endif
