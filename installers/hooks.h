/*
 * hooks: objects with the annotation helm.sh/hook (charts.md 10.5): events, weight, delete
 * policies, and in which order those of one event run.
 */
#ifndef INSTALLERS_HOOKS_H
#define INSTALLERS_HOOKS_H

#include "installers/manifest.h"

enum hook_event {
	HOOK_PRE_INSTALL = 1 << 0,
	HOOK_POST_INSTALL = 1 << 1,
	HOOK_PRE_DELETE = 1 << 2,
	HOOK_POST_DELETE = 1 << 3,
	HOOK_PRE_UPGRADE = 1 << 4,
	HOOK_POST_UPGRADE = 1 << 5,
	HOOK_PRE_ROLLBACK = 1 << 6,
	HOOK_POST_ROLLBACK = 1 << 7,
	HOOK_TEST = 1 << 8,
};

enum hook_policy {
	HOOK_BEFORE_CREATION = 1 << 0, /* the default where none is given */
	HOOK_SUCCEEDED = 1 << 1,
	HOOK_FAILED = 1 << 2,
};

#define HOOK_EVENTS_MAX 16

struct hook {
	const char *path; /* of its template */
	struct str text;
	struct str kind, name, api_version, ns;
	unsigned events;
	enum hook_event order[HOOK_EVENTS_MAX]; /* as written, for the release record */
	size_t n_order;
	int weight;
	unsigned delete_policies; /* as written; 0: none was given */
	unsigned log_policies;
};

/* 1: it is a hook; 0: an object; -E_UNSUPPORTED: an unknown event, Helm drops the object silently
 * (*ret_event names it). */
int hook_read(const struct manifest_head *head, struct hook *ret, struct str *ret_event);

const char *hook_event_name(enum hook_event event);    /* "pre-install" */
const char *hook_policy_name(enum hook_policy policy); /* "hook-succeeded" */
unsigned hook_policies(const struct hook *h);          /* with the default */
/* Order of execution within an event: weight, name, kind. Total over (weight, name, kind). */
int hook_cmp(const struct hook *a, const struct hook *b);

#endif
