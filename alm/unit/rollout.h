/*
 * rollout: in which groups and steps the objects of a unit are applied, and what tells that a step
 * succeeded or failed. Pure.
 *
 * Read is a Rollout of app.coreos.com/v1alpha1 (a resource, or a file), and the file of Locutus,
 * workflow.kubernetes.io/v1alpha1, whose defaults are its own: rest Ignore, rollback None.
 *
 * A rollout is immutable after parsing. It lives in the arena, with what it refers to: the object
 * it was parsed from, its paths and expressions. What a rollout says that ALM does not do is
 * refused: every message begins with the file and the field, "rollout.yaml:
 * spec.groups[0].steps[1].action: ", and says what would be taken.
 *
 * Spans are nanoseconds.
 */
#ifndef ALM_UNIT_ROLLOUT_H
#define ALM_UNIT_ROLLOUT_H

#include "alm/obj/query/wait_expr.h"
#include "alm/unit/check_prometheus.h"
#include "alm/unit/failure.h"

#define ROLLOUT_BYTES_MAX    ((size_t)1 << 20) /* text of a file */
#define ROLLOUT_NODES_MAX    ((size_t)1 << 18)
#define ROLLOUT_GROUPS_MAX   100
#define ROLLOUT_STEPS_MAX    1000 /* of a group */
#define ROLLOUT_CHECKS_MAX   16   /* success checks of a step */
#define ROLLOUT_FAILURES_MAX 32   /* failure checks of a step */
#define ROLLOUT_VALUES_MAX   64   /* expected values of one check */
#define ROLLOUT_OBJECT_MAX   1024 /* bytes of a key or pattern */

#define ROLLOUT_STEP_TIMEOUT     (10 * NS_PER_MIN)
#define ROLLOUT_CHECK_TIMEOUT    (5 * NS_PER_MIN)
#define ROLLOUT_PROGRESS_TIMEOUT (2 * NS_PER_MIN)
#define ROLLOUT_POLL_INTERVAL    (2 * NS_PER_S)
#define ROLLOUT_NO_TIMEOUT       (7 * NS_PER_DAY) /* the longest span */

struct canary;

enum rollout_action {
	ACTION_CREATE_OR_UPDATE,
	ACTION_CREATE_IF_NOT_EXIST,
	ACTION_DELETE_IF_EXIST,
	ACTION_JOB,
	ACTION_PLUGIN, /* action-NAME; NAME is the step's action_name */
};

/* When the objects are applied that no step names. */
enum rollout_rest { REST_BEFORE, REST_AFTER, REST_IGNORE };

enum rollout_rollback { ROLLBACK_PREVIOUS, ROLLBACK_NONE };

/* One of fieldComparisons: the value at path, or fallback where there is none, is to equal the one
 * at value_path, or want. */
struct expected_value {
	const char *name, *path_text, *value_text; /* as written; value_text NULL: want */
	struct jsonpath *path, *value_path;
	const struct obj *fallback; /* NULL: a missing value is not yet there */
	const struct obj *want;
};

enum rollout_check_type { CHECK_FIELDS, CHECK_WAIT, CHECK_PLUGIN, CHECK_PROMETHEUS };

struct rollout_check {
	enum rollout_check_type type;
	const char *field; /* "spec.groups[0].steps[1].success[0]" */
	int64_t timeout_ns, poll_ns;
	int64_t progress_ns;           /* CHECK_FIELDS: some value moves within it */
	struct expected_value *values; /* CHECK_FIELDS */
	size_t n_values;
	struct wait_expr wait;         /* CHECK_WAIT */
	const char *plugin;            /* CHECK_PLUGIN: NAME of check-NAME */
	const struct obj *config;      /* ... and what it is told; NULL: nothing */
	struct prometheus *prometheus; /* CHECK_PROMETHEUS; its time is the step's by default */
};

struct rollout_step {
	const char *name;   /* never NULL: that of the object where it says none */
	const char *field;  /* "spec.groups[0].steps[1]" */
	const char *object; /* a key of the flat map, or a pattern: rollout_step_takes() */
	const char *action_name;
	enum rollout_action action;
	struct rollout_check *success; /* all true at one look; none: the object is ready */
	size_t n_success;
	struct failure_check *failure; /* any of them ends the step */
	size_t n_failure;
	int64_t timeout_ns;
	bool continue_on_error;   /* its failure stops nothing, but the run fails at its end */
	const struct obj *config; /* for a plugin; NULL: none */
	struct canary *canary;    /* of an ACTION_CREATE_OR_UPDATE; NULL: none */
};

struct rollout_group {
	const char *name; /* never NULL: "group-1" where it says none */
	bool parallel;    /* its steps at once, else one after the other */
	struct rollout_step *steps;
	size_t n;
};

struct rollout {
	const char *file; /* as in rollout_options */
	const char *name; /* "" where it says none */
	bool parallel;    /* its groups at once, else one after the other */
	enum rollout_rest rest;
	enum rollout_rollback rollback;
	struct rollout_group *groups;
	size_t n;
};

struct rollout_options {
	const char *file;           /* begins every message; NULL: the field does */
	const char *const *plugins; /* actions besides ours, NULL-ended; NULL: none */
	const char *const *checks;  /* check-NAME; NULL-ended; NULL: none */
	bool any_plugin;            /* a stored one: its plugins were known when it was made */
	bool no_canary;             /* whoever rolls out splits no Deployment */
};

/* E_INVALID with the field, E_LIMIT with the limit. o is kept alive by the arena. */
int rollout_parse(const struct obj *o, const struct rollout_options *options, struct arena *a,
		  struct rollout **ret, struct error *err);
/* The text of a file, one document of YAML or JSON: errors of its syntax have the line. */
int rollout_read(struct str text, const struct rollout_options *options, struct arena *a,
		 struct rollout **ret, struct error *err);

/* "CreateOrUpdate, CreateIfNotExist, ...": without plugins. */
void rollout_actions(struct strbuf *b);

/* Does the step name the object of that key? Its own key; a file or a List of several objects by
 * its name ("a.yaml" names "a.yaml!0" and "a.yaml!1.2"); a pattern of Go's path.Match
 * ("crds/ *" without the blank), in which * and ? stay inside a folder. */
bool rollout_step_takes(const struct rollout_step *s, const char *key);

#endif
