/*
 * manager_hooks: a server of git says that something was pushed. Bundles that read that repository,
 * and whose own Secret (spec.source.git.hookSecretRef, in alm-system) it knows, read it at once.
 */
#ifndef ALM_CONTROLLERS_MANAGER_HOOKS_H
#define ALM_CONTROLLERS_MANAGER_HOOKS_H

#include "alm/controllers/manager.h"
#include "alm/source/git_hook.h"

#define HOOK_BUNDLES_MAX 100 /* of one repository; the others wait for their interval */

struct manager_hook;
/* How many Bundles have taken it: 0 alike for a repository that none reads, for one whose Bundles
 * name no Secret, and for a wrong signature. failed: no Secret could be asked for. */
typedef void (*manager_hook_fn)(void *arg, size_t n_taken, bool failed);

/* h is borrowed until the end. done is called once, in a later turn, unless it was cancelled. */
struct manager_hook *manager_hook_start(struct manager *m, const struct git_hook *h,
					manager_hook_fn done, void *arg);
void manager_hook_cancel(struct manager_hook *k);

#endif
