/*
 * sim: seed -> pass, or one line with the seed and the command that plays it again.
 *
 *	build/sim --scenario toy --seed 1 --runs 200          random faults
 *	build/sim --scenario toy --exhaustive                 one fault at every point
 *	build/sim --scenario toy --crash-only                 a crash at every API write and commit
 *	build/sim --scenario toy --crash-only --writes-only   at every API write
 *	build/sim --scenario toy --exhaustive --only 409      one kind of fault at every point
 *	build/sim --disk                                      power loss at every operation
 *	build/sim --table                                     every edge of phases and states
 *	build/sim --libraries                                 those a digest is recorded with
 *	build/sim --upgrade                                   the same, of an upgrade of a data folder
 *	build/sim --scenario toy --seed 7 --fault crash-after@w17 --trace
 */
#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alm/base/log.h"
#include "tests/lib/digests.h"
#include "tests/sim/digest.h"
#include "tests/sim/disk_check.h"
#include "tests/sim/edges.h"
#include "tests/sim/points.h"
#include "tests/sim/scenarios.h"

#define FAULTS_MAX 16
#define RECORDED   "tests/sim/recorded.txt"

struct options {
	const struct scenario *scenario;
	uint64_t seed, runs, every; /* every n-th point only */
	const char *faults[FAULTS_MAX], *query, *only;
	const char *recorded;  /* the key of its digest; NULL: it is not compared */
	struct sha256 *digest; /* of all runs */
	int here;              /* the folder it was started in: runs have homes of their own */
	size_t n_faults;
	bool disk, upgrade, table, libraries, exhaustive, crash_only, writes_only, together, trace,
		verbose, twice, keep_going;
};

struct counts {
	uint64_t struck[FAULTS_N]; /* summed over the runs */
	char hash[SHA256_HEX];
};

static char current[512];   /* for the handler of a crash */
static const char *program; /* as it was called: build/sim, or that of a plant */

static void on_crash(int number)
{
	static const char head[] = "not ok crashed; replay: ";
	ssize_t n = write(STDOUT_FILENO, head, sizeof(head) - 1);
	n += write(STDOUT_FILENO, current, strlen(current));
	n += write(STDOUT_FILENO, "\n", 1);
	(void)n;
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

static void describe(const struct options *o, uint64_t seed, const char *fault)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(sizeof(current) - 1);
	assert(o->scenario);
	strbuf_addf(&b, "%s --scenario %s --seed %" PRIu64, program, o->scenario->name, seed);
	for (size_t i = 0; i < o->n_faults && !fault; i++)
		strbuf_addf(&b, " --fault %s", o->faults[i]);
	if (fault)
		strbuf_addf(&b, " --fault %s", fault);
	if (o->together)
		strbuf_adds(&b, " --together");
	memcpy(current, b.buf, b.len + 1);
}

/* One run. fault: instead of the options' ones. */
static int play(const struct options *o, uint64_t seed, const char *fault, struct counts *ret,
		struct error *err)
{
	CLEANUP(xfreep) struct world *w = xcalloc(1, sizeof(*w));
	int r = 0;
	describe(o, seed, fault);
	for (size_t i = 0; i < o->n_faults && r == 0 && !fault; i++)
		r = faults_parse(o->faults[i], &w->faults, &w->point, err);
	if (!fault && !o->n_faults)
		r = faults_parse("all", &w->faults, &w->point, err);
	if (fault)
		r = faults_parse(fault, &w->faults, &w->point, err);
	if (r < 0)
		return r;
	w->together = o->together;
	enum trace_level level = o->verbose ? TRACE_WIRE : o->trace ? TRACE_STORY : TRACE_NOTHING;
	r = world_init(w, o->scenario, seed, level, err);
	if (r == 0)
		r = world_run(w, err);
	digest_world(w);
	if (r < 0 && level != TRACE_NOTHING)
		world_tell(w, o->query);
	for (int i = 0; i < FAULTS_N; i++)
		ret->struck[i] += w->faults.n[i];
	trace_final(&w->sim.trace, ret->hash);
	digest_adds(o->digest, ret->hash);
	world_free(w);
	return r;
}

/* True if it held. */
static bool tell(const struct options *o, uint64_t seed, const char *fault, struct counts *c)
{
	struct error err = ERROR_INIT;
	if (play(o, seed, fault, c, &err) == 0)
		return true;
	printf("not ok %s; replay: %s\n", err.msg, current);
	(void)fflush(stdout);
	return false;
}

static bool replays_equally(const struct options *o, uint64_t seed)
{
	struct counts a = {0}, b = {0};
	struct error err = ERROR_INIT;
	play(o, seed, NULL, &a, &err);
	play(o, seed, NULL, &b, &err);
	if (strcmp(a.hash, b.hash) == 0)
		return true;
	printf("not ok two runs of one seed differ; replay: %s --twice\n", current);
	return false;
}

static uint64_t run_seeds(const struct options *o)
{
	uint64_t failed = 0;
	struct counts c = {0};
	for (uint64_t i = 0; i < o->runs && (!failed || o->keep_going); i++)
		failed += o->twice ? !replays_equally(o, o->seed + i)
				   : !tell(o, o->seed + i, NULL, &c);
	printf("# struck:");
	for (int i = 0; i < FAULTS_N && !o->twice; i++)
		printf(" %s %" PRIu64, fault_name((enum fault_id)i), c.struck[i]);
	printf("\n# %s: %" PRIu64 " runs, %" PRIu64 " failed, last trace %.16s\n",
	       o->scenario->name, o->runs, failed, o->twice ? "(compared)" : c.hash);
	return failed;
}

static const char *replay_of(void *arg, const char *fault)
{
	const struct options *o = arg;
	if (fault)
		describe(o, o->seed, fault);
	return current;
}

static uint64_t run_exhaustive(struct options *o)
{
	struct points_config c = {.scenario = o->scenario,
				  .seed = o->seed,
				  .every = o->every,
				  .together = o->together,
				  .crash_only = o->crash_only,
				  .writes_only = o->writes_only,
				  .keep_going = o->keep_going,
				  .only = o->only,
				  .digest = o->digest,
				  .replay = replay_of,
				  .arg = o};
	return points_run(&c);
}

static int usage(const char *why)
{
	fprintf(stderr,
		"sim: %s\nusage: sim --disk | --upgrade | --table | --libraries | --scenario NAME "
		"[--seed N] "
		"[--runs N] "
		"[--fault F]... "
		"[--exhaustive|--crash-only [--writes-only] [--every N] [--only FAULT]] "
		"[--together] [--twice] "
		"[--keep-going] [--edges FILE] [--recorded KEY] [--trace | -v] [--sql QUERY]\n"
		"--recorded KEY: the digest is compared with that of KEY in " RECORDED "\n"
		"--trace: passes of the controllers, writes, crashes; -v: the wire, too; of a run\n"
		"that fails both end with the log (or the rows of --sql)\n"
		"F: none, all, a fault of tests/sim/faults.h, or crash-before, crash-after, "
		"reply-lost, 409, 500, duplicate, revoked @wN (API write) or @cN "
		"(commit)\nscenarios:\n",
		why);
	for (size_t i = 0; scenario_at(i); i++)
		fprintf(stderr, "  %-10s %s\n", scenario_at(i)->name, scenario_at(i)->about);
	return 2;
}

/* An option whose value is a number. */
static bool number(struct options *o, const char *name, struct str value)
{
	if (strcmp(name, "--seed") == 0)
		return str_parse_u64(value, &o->seed);
	if (strcmp(name, "--every") == 0)
		return str_parse_u64(value, &o->every) && o->every;
	return strcmp(name, "--runs") == 0 && str_parse_u64(value, &o->runs);
}

static bool flag(struct options *o, const char *name)
{
	const struct {
		const char *name;
		bool *on;
	} flags[] = {
		{"--disk", &o->disk},
		{"--upgrade", &o->upgrade},
		{"--table", &o->table},
		{"--libraries", &o->libraries},
		{"--exhaustive", &o->exhaustive},
		{"--crash-only", &o->crash_only},
		{"--writes-only", &o->writes_only},
		{"--together", &o->together},
		{"--twice", &o->twice},
		{"--keep-going", &o->keep_going},
		{"--trace", &o->trace},
		{"-v", &o->verbose},
	};
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (strcmp(name, flags[i].name) == 0)
			return *flags[i].on = true;
	return false;
}

/* With a value: how many words were read, 0: it is none. */
static int option(struct options *o, const char *name, char *v)
{
	if (!*v)
		return 0;
	if (strcmp(name, "--scenario") == 0)
		o->scenario = scenario_find(v);
	else if (strcmp(name, "--sql") == 0)
		o->query = v;
	else if (strcmp(name, "--only") == 0)
		o->only = v;
	else if (strcmp(name, "--recorded") == 0)
		o->recorded = v;
	else if (strcmp(name, "--fault") == 0 && o->n_faults < FAULTS_MAX)
		o->faults[o->n_faults++] = v;
	else if (strcmp(name, "--edges") == 0)
		return edges_open(v);
	else
		return number(o, name, str_of(v));
	return 1;
}

static int parse(int argc, char **argv, struct options *o)
{
	for (int i = 1; i < argc; i++) {
		static char none[] = "";
		if (flag(o, argv[i]))
			continue;
		int n = option(o, argv[i], i + 1 < argc ? argv[i + 1] : none);
		if (!n)
			return usage(argv[i]);
		i += n;
	}
	o->exhaustive = o->exhaustive || o->crash_only;
	bool tells = o->table || o->libraries;
	return o->scenario || o->disk || o->upgrade || tells ? 0 : usage("want --scenario");
}

static void print_libraries(void)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	digests_libraries(&b);
	puts(b.buf);
}

/* All runs together: what one of them does otherwise than when it was recorded, and no invariant forbids. */
static bool is_as_recorded(const struct options *o)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(STRBUF_SMALL);
	char number[DIGEST_HEX];
	digest_end(o->digest, number);
	if (!o->recorded) {
		printf("# digest %s\n", number);
		return true;
	}
	if (fchdir(o->here) < 0)
		printf("# the folder it was started in is gone\n");
	enum digest_verdict v = digests_compare(RECORDED, o->recorded, number, &why);
	if (v == DIGEST_EQUAL)
		strbuf_addf(&why, "digest %s, as recorded", number);
	printf("%s%s\n", v == DIGEST_DIFFERS ? "not ok " : "# ", why.buf);
	return v != DIGEST_DIFFERS;
}

int main(int argc, char **argv)
{
	CLEANUP(sha256_freep) struct sha256 *digest = sha256_new();
	struct options o = {.seed = 1, .runs = 1, .every = 1, .digest = digest};
	o.here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	program = argv[0];
	int r = parse(argc, argv, &o);
	if (r != 0)
		return r;
	if (o.table)
		edges_print();
	if (o.libraries)
		print_libraries();
	if (o.table || o.libraries)
		return 0;
	log_setup(o.verbose || o.trace ? LOG_DEBUG : LOG_NONE, LOG_FORMAT_KV, NULL);
	(void)signal(SIGABRT, on_crash);
	(void)signal(SIGSEGV, on_crash);
	uint64_t failed = o.disk         ? disk_check(o.seed, o.every, digest)
			  : o.upgrade    ? upgrade_check(o.seed, o.every, digest)
			  : o.exhaustive ? run_exhaustive(&o)
					 : run_seeds(&o);
	return failed || !is_as_recorded(&o) ? 1 : 0;
}
