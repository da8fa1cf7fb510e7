/*
 * manager_fixture: a whole manager against the server of this program, in process, on virtual time:
 *
 *	struct manager_fixture f;
 *	manager_fixture_init(&f, NULL);
 *	manager_fixture_file(&f, "/catalog/a.yaml", text);
 *	manager_fixture_do(&f, "POST", FIXTURE_CATALOGS, catalog, 201);
 *	manager_fixture_strike(&f, "GET", "/api/v1/namespaces/alm-system/secrets/s", 403, 2);
 *	manager_fixture_run(&f, NS_PER_MIN);
 *	manager_fixture_str(&f, FIXTURE_CATALOGS "/a", "status.revision");
 *	manager_fixture_release(&f);
 *
 * Sources are files of a map, git is a table (git_table.h), jobs of the sandbox run in this process,
 * Pods run because the server says so. A restart keeps the server and the log, and nothing else.
 */
#ifndef TESTS_LIB_MANAGER_FIXTURE_H
#define TESTS_LIB_MANAGER_FIXTURE_H

#include "alm/base/clock.h"
#include "alm/controllers/manager_internal.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/git_table.h"
#include "tests/lib/program_fake.h"

#define FIXTURE_CATALOGS "/apis/app.coreos.com/v1alpha1/catalogs"
#define FIXTURE_APPS     "/apis/app.coreos.com/v1beta1/apps"
#define FIXTURE_BUNDLES  "/apis/app.coreos.com/v1alpha1/bundles"
#define FIXTURE_ROLLOUTS "/apis/app.coreos.com/v1alpha1/rollouts"
#define FIXTURE_SECRETS  "/api/v1/namespaces/alm-system/secrets"
#define FIXTURE_MAPS     "/api/v1/namespaces/alm-system/configmaps"
#define FIXTURE_GIT      "/srv/web" /* the repository, which any url of git is */

#define FIXTURE_STRIKES_MAX 16
#define FIXTURE_FOREVER     1000000
#define FIXTURE_HELD_MAX    64

/* Requests of the manager that are answered so instead; 0: they are not answered at all. */
struct manager_strike {
	const char *method, *path; /* method NULL: any; a path that ends in * is a prefix */
	int status;
	unsigned times;
	unsigned hit;
};

struct manager_fixture_config {
	const struct git_table_commit
		*commits;               /* NULL: no programs, so that Bundles are not served */
	const struct sandbox_job *jobs; /* NULL: the product's, without Jsonnet */
	const struct address_policy *addresses;
	bool beside; /* the controllers are a process of their own, with a log of its own */
	bool watch_dirs;
};

struct manager_fixture {
	struct manager_fixture_config c;
	struct apifake *server;
	struct loop *loop;
	struct transport *transport;
	struct client *client;
	struct db *db; /* of its own log; NULL: it has the server's */
	struct audit *audit;
	struct metrics *metrics;
	struct sandbox *sandbox;
	struct programs *programs;
	struct program_fake_row rows[5];
	struct git_table git;
	struct map *files; /* path -> struct fixture_file */
	uint64_t n_files;
	struct source_files source;
	struct manager_strike strikes[FIXTURE_STRIKES_MAX];
	size_t n_strikes;
	struct exchange *held[FIXTURE_HELD_MAX]; /* that are not answered */
	size_t n_held;
	struct strbuf sent; /* a line a request: "METHOD PATH?QUERY AS" */
	struct arena *a;    /* of texts that are borrowed */
	struct manager *manager;
};

/* c NULL: without git, in the server's process. It is started, and works. */
void manager_fixture_init(struct manager_fixture *f, const struct manager_fixture_config *c);
void manager_fixture_release(struct manager_fixture *f);
/* The manager ends at once, whatever it does; another one begins. */
void manager_fixture_restart(struct manager_fixture *f);

/* As the user, who no strike is for; another status than this fails the test. */
struct answer manager_fixture_do(struct manager_fixture *f, const char *method, const char *target,
				 const char *body, int status);
/* text NULL: it is taken away. */
void manager_fixture_file(struct manager_fixture *f, const char *path, const char *text);
/* NAME-VERSION.tgz of one template into the folder. */
void manager_fixture_chart(struct manager_fixture *f, const char *dir, const char *name,
			   const char *version, const char *template);
/* The same with these files besides: path, text, path ... NULL. */
void manager_fixture_chart_of(struct manager_fixture *f, const char *dir, const char *name,
			      const char *version, const char *const *more);
struct manager_strike *manager_fixture_strike(struct manager_fixture *f, const char *method,
					      const char *path, int status, unsigned times);
/* Time goes by. */
void manager_fixture_run(struct manager_fixture *f, int64_t ns);
/* Until the field of the object is so ("" is absence), at most for so long: then the test fails. */
void manager_fixture_await(struct manager_fixture *f, const char *target, const char *field,
			   const char *value, int64_t ns);

/* A text of an object, or of the condition "@TYPE/reason"; "" if it is absent. In the arena. */
const char *manager_fixture_str(struct manager_fixture *f, const char *target, const char *field);
/* Requests of the manager since the last call that match; and how many entries the log has of it. */
size_t manager_fixture_sent(const struct manager_fixture *f, const char *method, const char *path);
void manager_fixture_forget(struct manager_fixture *f);
size_t manager_fixture_rows(struct manager_fixture *f, const char *type, const char *reason,
			    const char *name);
/* A series of its metrics: "name" or "name{labels}"; "" if there is none. In the arena. */
const char *manager_fixture_metric(struct manager_fixture *f, const char *series);

#endif
