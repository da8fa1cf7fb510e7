/* `alm server`: the embedded API server alone, until a signal comes. */
#include "alm/main/cmd_server.h"

#include <stdio.h>

#include "alm/main/embedded.h"

struct server_command {
	struct embedded_config config;
	struct loop *loop;
	struct embedded *embedded;
};

static void stopped(void *arg)
{
	struct server_command *c = arg;
	loop_stop(c->loop);
}

static void on_signal(void *arg, int signal)
{
	struct server_command *c = arg;
	(void)signal;
	embedded_stop(c->embedded, stopped, c);
}

static int usage(void)
{
	fprintf(stderr, "usage: alm server --data-dir DIR [--listen ADDR:PORT] [--token-file FILE] "
			"[--simulate-workloads] [--no-audit]\n");
	return error_exit(E_USAGE);
}

static bool read_options(struct embedded_config *c, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		const char **value = cstr_eq(argv[i], "--data-dir")     ? &c->data_dir
				     : cstr_eq(argv[i], "--listen")     ? &c->listen
				     : cstr_eq(argv[i], "--token-file") ? &c->token_file
									: NULL;
		if (cstr_eq(argv[i], "--simulate-workloads"))
			c->simulate_workloads = true;
		else if (cstr_eq(argv[i], "--no-audit"))
			c->no_audit = true;
		else if (value && i + 1 < argc)
			*value = argv[++i];
		else
			return false;
	}
	return c->data_dir != NULL;
}

int cmd_server_main(int argc, char **argv)
{
	struct server_command c = {.config = {.listen = "127.0.0.1:6443"}};
	struct error err = ERROR_INIT;
	if (!read_options(&c.config, argc, argv))
		return usage();
	c.loop = loop_event_new();
	if (embedded_start(&c.config, c.loop, &c.embedded, &err) < 0) {
		fprintf(stderr, "alm server: %s\n", err.msg);
		loop_free(c.loop);
		return error_exit(err.code);
	}
	loop_on_signal(c.loop, on_signal, &c);
	printf("alm server: https://%s, kubeconfig %s\n", embedded_address(c.embedded),
	       embedded_kubeconfig(c.embedded));
	(void)fflush(stdout);
	loop_run(c.loop);
	embedded_free(c.embedded);
	loop_free(c.loop);
	return 0;
}
