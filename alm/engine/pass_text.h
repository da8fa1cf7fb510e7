/*
 * pass_text: what one reconcile did, for who reads the log at level debug or the trace of the
 * simulation: the steps that planned something, in order, and in braces what; then the step that
 * ended it, if it was not the last one of the table.
 *
 *	resolve{entry Decision Resolved} decide{create InstallStrategy install.1} status{status X}
 *	adopt{patch AppType etcd} adopt ends
 *	nothing
 *
 * Kinds, names and reasons only, no body, no message, and no name of an object that a chart made:
 * nothing that is secret. Pure.
 */
#ifndef ALM_ENGINE_PASS_TEXT_H
#define ALM_ENGINE_PASS_TEXT_H

#include "alm/base/strbuf.h"
#include "alm/engine/controller.h"

#define PASS_TEXT_MAX         ((size_t)8 << 10)
#define PASS_TEXT_ACTIONS_MAX 12 /* of one step; the rest is counted */

/* b: its limit bounds the text. After controller_run(), also after one that failed. */
void pass_text(const struct controller *c, const struct plan *p, struct strbuf *b);

#endif
