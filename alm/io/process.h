/*
 * process: what this process gives up, so that a fault in it gives nobody more than it needs itself
 * (reliability.md 7). Three steps: process_seal() first in main(), process_become() before a
 * service opens anything, process_confine() once it listens and its folder is open.
 *
 * After the last one the process has no capabilities, can gain none, runs no other program, looks
 * into no other process, makes no namespace and no code out of data, and the calls that change the
 * machine are closed to it. Not closed: files of its user, TCP, and a copy of itself (the
 * sandbox's; one that is made again has no namespaces of its own, which its children do without).
 */
#ifndef ALM_IO_PROCESS_H
#define ALM_IO_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "alm/base/error.h"

/* No core dump of any page, no debugger but root's, no new privileges. debuggable: for developers,
 * with core dumps and debuggers. */
void process_seal(bool debuggable);
/* The user NAME from here on: root gives up all but binding low ports, until process_confine().
 * NULL: stays what it is. Another user than oneself is E_FORBIDDEN for anybody but root. */
int process_become(const char *name, struct error *err);
/* Drops all capabilities and closes system calls, for this process and its threads. E_UNSUPPORTED
 * if the machine cannot. Under the sanitizers nothing is closed. */
int process_confine(struct error *err);
/* The capabilities alone, for good; for the sandbox. 0, or -1 and errno. */
int process_drop_capabilities(void);
/* "user 65534, no core dumps, ...": what holds now, asked from the kernel. size: PROCESS_TEXT. */
#define PROCESS_TEXT 256
void process_describe(char *out, size_t size);

#endif
