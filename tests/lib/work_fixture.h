/*
 * work_fixture: an executor on a scripted transport, for one kind of work or write at a time:
 *
 *	struct work_fixture f;
 *	work_fixture_init(&f);
 *	fake_answer(f.transport, ...);
 *	work_fixture_plan(&plan);
 *	plan_work(&plan, ...);
 *	work_fixture_run(&f, &plan);
 *	stash_get(f.stash, "id of the work");
 *	work_fixture_release(&f);	no answer is left over, no call is open
 */
#ifndef TESTS_LIB_WORK_FIXTURE_H
#define TESTS_LIB_WORK_FIXTURE_H

#include "alm/engine/executor.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

#define WORK_FIXTURE_ACCOUNT "system:serviceaccount:alm-system:app-x"

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
	/* of the last one */
	int code;
	enum run_result result;
	int64_t requeue_after_ns;
};

/* Beside the server that it writes to. */
void work_fixture_init(struct work_fixture *f);
/* host NULL: none of its functions is called. */
void work_fixture_init_as(struct work_fixture *f, bool same_process,
			  const struct executor_host *host);
struct work_fixture_config {
	bool same_process;
	const char *path;                 /* of the log's database; NULL: it is in memory */
	const struct executor_host *host; /* NULL: none of its functions is called */
	struct work_host *work_host;      /* NULL: none */
	int64_t (*free_bytes)(void *arg); /* of the disk; NULL: it is not asked */
	void *free_bytes_arg;
};
void work_fixture_init_with(struct work_fixture *f, const struct work_fixture_config *c);
/* The process ends, and another one begins with the log that it left. */
void work_fixture_end(struct work_fixture *f);
void work_fixture_begin(struct work_fixture *f, const struct work_fixture_config *c);
/* The server serves ConfigMaps and Events; read at once. */
void work_fixture_discover(struct work_fixture *f);
/* ... what the documents at /apis and /api say. */
void work_fixture_discover_these(struct work_fixture *f, const char *groups, const char *core);
/* An empty plan for an app, and what becomes of it. */
void work_fixture_plan(struct plan *p);
void work_fixture_run(struct work_fixture *f, struct plan *p);
void work_fixture_release(struct work_fixture *f);
/* Whatever answers and calls there are. */
void work_fixture_drop(struct work_fixture *f);
void work_fixture_ended(void *arg, const char *controller, const char *key, enum run_result result,
			int64_t requeue_after_ns, const struct error *err);

#endif
