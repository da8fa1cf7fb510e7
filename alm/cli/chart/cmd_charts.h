/* cmd_charts: commands on charts with an option syntax of their own, Helm's. Each gets what follows
 * its name and returns the exit status. */
#ifndef ALM_CLI_CHART_CMD_CHARTS_H
#define ALM_CLI_CHART_CMD_CHARTS_H

int cmd_template_main(int argc, char **argv); /* alm template [NAME] CHART */
int cmd_package_main(int argc, char **argv);  /* alm package build DIR -o OUTDIR */
int cmd_lint_main(int argc, char **argv);     /* alm lint CHART... */

#endif
