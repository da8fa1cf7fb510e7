/* main: wiring only. */
#include <stdio.h>

#include "alm/base/str.h"
#include "alm/cli/cmd_charts.h"
#include "alm/main/cmd_server.h"
#include "alm/main/cmd_up.h"

int main(int argc, char **argv)
{
	if (argc > 1 && cstr_eq(argv[1], "server"))
		return cmd_server_main(argc - 2, argv + 2);
	if (argc > 1 && cstr_eq(argv[1], "template"))
		return cmd_template_main(argc - 2, argv + 2);
	if (argc > 1 && cstr_eq(argv[1], "package"))
		return cmd_package_main(argc - 2, argv + 2);
	if (argc > 1 && cstr_eq(argv[1], "lint"))
		return cmd_lint_main(argc - 2, argv + 2);
	if (argc > 1 && cstr_eq(argv[1], "up"))
		return cmd_up_main(argc - 2, argv + 2);
	printf("alm %s\n", ALM_VERSION);
	return 0;
}
