/*
 * work_fixture: an executor on a scripted transport, for one kind of work at a time:
 *
 *	struct work_fixture f;
 *	work_fixture_init(&f);
 *	fake_answer(f.transport, ...);
 *	executor_start(f.executor, "strategy", "k", &plan, arena, work_fixture_ended, &f);
 *	loop_fake_settle(f.loop);
 *	stash_get(f.stash, "id of the work");
 *	work_fixture_release(&f);	no answer is left over, no call is open
 */
#ifndef TESTS_LIB_WORK_FIXTURE_H
#define TESTS_LIB_WORK_FIXTURE_H

#include "alm/engine/executor.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

struct work_fixture {
	struct loop *loop;
	struct db *db;
	struct audit *audit;
	struct disk_watch *disk;
	struct transport_fake *transport;
	struct client *client;
	struct discovery *discovery;
	struct stash *stash;
	struct executor *executor;
	size_t n_done; /* plans */
	int code;      /* of the last one */
};

void work_fixture_init(struct work_fixture *f);
void work_fixture_release(struct work_fixture *f);
void work_fixture_ended(void *arg, const char *controller, const char *key, enum run_result result,
			int64_t requeue_after_ns, const struct error *err);

#endif
