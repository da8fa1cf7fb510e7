/* The command line of `alm run`: what is left out has its default, and what says nothing is refused. */
#include "tests/lib/test.h"

#include <string.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/cli/args.h"
#include "alm/cli/cmds.h"
#include "alm/cli/run/run_command.h"

#define ARGS_MAX 16

static int read_line(struct run_command *c, struct cli *cli, struct arena *a, const char *line,
		     struct error *err)
{
	char *argv[ARGS_MAX];
	int argc = 0;
	struct str rest = str_of(line), word;
	while (str_next(&rest, ' ', &word)) {
		assert_true(argc < ARGS_MAX);
		argv[argc++] = arena_strndup(a, word.ptr, word.len);
	}
	*cli = (struct cli){.arena = a, .cmd = &cmd_run};
	*c = (struct run_command){.cli = cli};
	assert_ok(args_parse(cli, argc, argv, err), err);
	return run_options_read(c, err);
}

static void test_run_options__what_is_left_out_has_its_default(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	struct run_command c;
	struct cli cli;
	assert_ok(read_line(&c, &cli, a, "--trigger=interval", &err), &err);
	assert_int_equal(c.trigger, TRIGGER_INTERVAL);
	assert_int_equal(c.interval_ns, NS_PER_MIN); /* L5 */
	assert_int_equal(c.max_deletes, 10);
	assert_int_equal(c.lease.wait_ns, 5 * NS_PER_MIN);
	assert_ok(read_line(&c, &cli, a, "--trigger interval --trigger.interval.duration 5s", &err),
		  &err);
	assert_int_equal(c.interval_ns, 5 * NS_PER_S);
	assert_ok(read_line(&c, &cli, a, "--one-off --accept-empty=false --adopt=false", &err),
		  &err);
	assert_int_equal(c.trigger, TRIGGER_ONEOFF);
}

static void test_run_options__what_says_nothing_is_refused(void **state)
{
	static const char *const rows[][2] = {
		{"", "--trigger is missing: want oneoff, interval, resource, sql, or NAME"},
		{"--trigger git", "--trigger git is not built yet"},
		{"--one-off --trigger interval", "--one-off and --trigger interval are two"},
		{"--trigger oneoff --trigger.interval.duration 5s",
		 "--trigger.interval.duration says nothing to --trigger oneoff"},
		{"--trigger interval --lease-timeout 5s", "--lease-timeout says nothing to"},
		{"--trigger sql", "--trigger.database.config is missing"},
		{"--trigger resource", "--trigger.resource.config is missing"},
		{"--trigger interval --trigger.interval.duration 0s",
		 "--trigger.interval.duration 0s: want 1ms or more"},
		{"--trigger oneoff --max-deletes=-1", "--max-deletes -1: want 0 or more"},
		{"--one-off --render-only --adopt", "--adopt says nothing to --render-only"},
		{"--one-off --render-only --feedback.sql x",
		 "--feedback.sql says nothing to --render-only"},
		{"--one-off --default-database-url-file /dev/null",
		 "/dev/null: want one line, sqlite://PATH"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		struct run_command c;
		struct cli cli;
		if (read_line(&c, &cli, a, rows[i][0], &err) >= 0)
			fail_msg("%s is taken", rows[i][0]);
		if (!strstr(err.msg, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], err.msg);
	}
}

#define FILES \
	"--kubeconfig k --renderer=file --renderer.file.dir=m/ --renderer.file.rollout=r.yaml "

#define CONFIG "run_options_config.yaml" /* here, and removed afterwards */

/* The command lines of the seed as they stand there but for their folders, then each other flag that its program has. */
static void test_run_options__the_command_lines_of_the_seed(void **state)
{
	static const struct {
		const char *line;
		enum trigger trigger;
		bool renders;
	} rows[] = {
		{FILES "--trigger=oneoff --render-only", TRIGGER_ONEOFF, true},
		{FILES "--trigger=oneoff", TRIGGER_ONEOFF, false},
		{FILES "--trigger=interval", TRIGGER_INTERVAL, false},
		{"--kubeconfig k --renderer=jsonnet --renderer.jsonnet.entrypoint=main.jsonnet "
		 "--trigger=oneoff --render-only",
		 TRIGGER_ONEOFF, true},
		{"--kubeconfig k --renderer=jsonnet --renderer.jsonnet.entrypoint=main.jsonnet "
		 "--trigger=oneoff "
		 "--config-file=config.json --render-only",
		 TRIGGER_ONEOFF, true},
		{"--kubeconfig k --renderer=jsonnet --renderer.jsonnet.entrypoint=main.jsonnet "
		 "--trigger=resource "
		 "--trigger.resource.config=" CONFIG,
		 TRIGGER_RESOURCE, false},
		{FILES "--one-off --log-level=none --master=https://h:1 --config-file=c",
		 TRIGGER_ONEOFF, false},
		{FILES "--trigger=interval --trigger.interval.duration=1m --log-level=all",
		 TRIGGER_INTERVAL, false},
		{"--renderer=jsonnet --renderer.jsonnet.entrypoint=m --renderer.jsonnet.jpaths=a,b "
		 "--renderer.jsonnet.ext-str=a=b --trigger=oneoff",
		 TRIGGER_ONEOFF, false},
		{"--trigger=resource --trigger.resource.config=" CONFIG " "
		 "--trigger.resource.write-status=false "
		 "--qps=5 --burst=10",
		 TRIGGER_RESOURCE, false},
	};
	(void)state;
	struct error err = ERROR_INIT;
	assert_ok(file_write_atomic(CONFIG,
				    STR("mainResource: g\nresources:\n- {name: g, kind: Grafana, "
					"apiVersion: monitoring.coreos.com/v1}\n"),
				    0600, &err),
		  &err);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct run_command c;
		struct cli cli;
		if (read_line(&c, &cli, a, rows[i].line, &err) < 0)
			fail_msg("%s: %s", rows[i].line, err.msg);
		assert_int_equal(c.trigger, rows[i].trigger);
		assert_int_equal(cli_flag(&cli, "render-only"), rows[i].renders);
	}
	(void)unlink(CONFIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_options__what_is_left_out_has_its_default),
		cmocka_unit_test(test_run_options__what_says_nothing_is_refused),
		cmocka_unit_test(test_run_options__the_command_lines_of_the_seed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
