/* audit_log: a log on a fixed clock, for the tests of alm/audit. */
#ifndef TESTS_LIB_AUDIT_LOG_H
#define TESTS_LIB_AUDIT_LOG_H

#include "alm/audit/audit.h"
#include "alm/audit/verify.h"

/* Time stands still until the test moves it; random bytes are a counter. */
struct fixed_loop {
	struct loop base;
	int64_t now_ns;
	int64_t set_ns; /* how far somebody set the wall clock */
	unsigned char counter;
};

struct audit_log {
	struct fixed_loop loop;
	struct db *db;
	struct audit *audit;
};

/* key_dir NULL: keys in memory. Fails the test on errors. */
void audit_log_open(struct audit_log *l, const char *path, const char *key_dir);
void audit_log_close(struct audit_log *l);
/* n rows of all kinds, per_commit of them a transaction; blobs, transitions, ops and causes. */
void audit_log_fill(struct audit_log *l, int n, int per_commit);
/* The entries up to this one count as pruned: no anchor need know, as the test has none. */
void audit_log_prune(struct audit_log *l, int64_t to);
void audit_log_assert_intact(struct audit_log *l);
void audit_log_remove(const char *dir);

#endif
