/*
 * strategy_steps: the steps of an InstallStrategy, as the table of strategy.c names them beside its
 * phases.
 *
 *	   +------------ retry, chosen again, changed input -------------+
 *	   v                                                             |
 *	Pending -> AwaitingApproval -> Installing -> Verifying -> Succeeded -> Superseded
 *	 ^   |            |                 |            |             ^
 *	 |   v            v                 +------------+             | the former values
 *	 Blocked <--------+                       v                    | run again
 *	                      Failed <- RollingBack -> RolledBack, or -+
 *
 * Every edge, with its reason, is in app/phases.h, which refuses any other; what each phase does,
 * in which order, is the table. A reconcile begins with the first step of its phase and ends with the
 * first that is not DONE: nothing remembers a position (lifecycle.md 7.3).
 */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_STEPS_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_STEPS_H

#include "alm/controllers/strategy/strategy_pass.h"

/* strategy_plan.c */
enum ensured strategy_look_anew(struct strategy_pass *s);
enum ensured strategy_ensure_turn(struct strategy_pass *s);
enum ensured strategy_find_archive(struct strategy_pass *s);
enum ensured strategy_verify_archive(struct strategy_pass *s);
enum ensured strategy_load_planned(struct strategy_pass *s);
enum ensured strategy_fetch(struct strategy_pass *s);
void strategy_end_planning(struct strategy_pass *s);

/* strategy_access.c */
enum ensured strategy_plan_account(struct strategy_pass *s);
enum ensured strategy_review(struct strategy_pass *s);

/* strategy_require.c, strategy_render.c, strategy_try.c */
enum ensured strategy_require(struct strategy_pass *s);
enum ensured strategy_render(struct strategy_pass *s);
enum ensured strategy_try(struct strategy_pass *s);

/* strategy_takeover.c */
enum ensured strategy_take_over(struct strategy_pass *s);
enum ensured strategy_ensure_number(struct strategy_pass *s);
enum ensured strategy_adopt_release(struct strategy_pass *s);
enum ensured strategy_delete_former(struct strategy_pass *s);

/* strategy_survey.c */
enum ensured strategy_await_informers(struct strategy_pass *s);
enum ensured strategy_ensure_kinds(struct strategy_pass *s);
enum ensured strategy_survey(struct strategy_pass *s);

/* strategy_gate.c */
enum ensured strategy_judge_crds(struct strategy_pass *s);
enum ensured strategy_seal_plan(struct strategy_pass *s);
enum ensured strategy_keep_judgement(struct strategy_pass *s);

/* strategy_approve.c */
enum ensured strategy_ensure_approved(struct strategy_pass *s);
enum ensured strategy_begin(struct strategy_pass *s);

/* strategy_apply.c */
enum ensured strategy_load_plan(struct strategy_pass *s);
enum ensured strategy_keep_install_deadline(struct strategy_pass *s);
enum ensured strategy_keep_account(struct strategy_pass *s);
enum ensured strategy_apply_crds(struct strategy_pass *s);
enum ensured strategy_record_begun(struct strategy_pass *s);
enum ensured strategy_run_pre_hooks(struct strategy_pass *s);
enum ensured strategy_apply_objects(struct strategy_pass *s);
enum ensured strategy_end_install(struct strategy_pass *s);
void strategy_tell_refusal(struct strategy_pass *s);
enum ensured strategy_reapply(struct strategy_pass *s);
enum ensured strategy_await_ready(struct strategy_pass *s);
enum ensured strategy_ensure_converted(struct strategy_pass *s);
enum ensured strategy_run_post_hooks(struct strategy_pass *s);
enum ensured strategy_soak(struct strategy_pass *s);
enum ensured strategy_end_verify(struct strategy_pass *s);

/* strategy_handoff.c */
enum ensured strategy_handoff_account(struct strategy_pass *s);
enum ensured strategy_hand_over(struct strategy_pass *s);
enum ensured strategy_record_deployed(struct strategy_pass *s);
enum ensured strategy_succeed(struct strategy_pass *s);

/* strategy_keep.c */
enum ensured strategy_make_way(struct strategy_pass *s);
enum ensured strategy_take_changes(struct strategy_pass *s);
enum ensured strategy_repair(struct strategy_pass *s);
enum ensured strategy_record_failed(struct strategy_pass *s);
enum ensured strategy_choose_again(struct strategy_pass *s);
enum ensured strategy_keep_plan(struct strategy_pass *s);

/* strategy_migrated.c */
enum ensured strategy_tell_migrated(struct strategy_pass *s);

/* strategy_back.c */
enum ensured strategy_load_back(struct strategy_pass *s);
enum ensured strategy_ensure_back_allowed(struct strategy_pass *s);
enum ensured strategy_settle_failed(struct strategy_pass *s);
enum ensured strategy_record_rolling_back(struct strategy_pass *s);
enum ensured strategy_run_pre_rollback(struct strategy_pass *s);
enum ensured strategy_apply_back(struct strategy_pass *s);
enum ensured strategy_await_back_ready(struct strategy_pass *s);
enum ensured strategy_run_post_rollback(struct strategy_pass *s);
enum ensured strategy_delete_failed(struct strategy_pass *s);
enum ensured strategy_record_rolled_back(struct strategy_pass *s);
enum ensured strategy_end_rollback(struct strategy_pass *s);
void strategy_await_back(struct strategy_pass *s);

#endif
