/*
 * process_id: what a process is called where others must know whether it still lives: "HOST_PID_START_PLACE_RANDOM"
 * (a Lease: leader.h). Two processes never have one text, whatever machines they are on.
 *
 * START is when it began, in ticks of its kernel; PLACE is made of that boot, of the namespaces in which PID and
 * START count, and of the machine's names (/etc/machine-id, host name). So nothing is said of a process elsewhere: on
 * another machine, in another container, before the last boot, before the host was renamed, or where the kernel does
 * not tell all of it ("-", in a sandbox that hides /proc). Copies of a running virtual machine that have neither
 * name of their own are one place to each other, and must not run beside each other.
 */
#ifndef ALM_IO_PROCESS_ID_H
#define ALM_IO_PROCESS_ID_H

#include <stdbool.h>
#include <sys/types.h>

#include "alm/base/arena.h"
#include "alm/io/loop.h"

/* Of this process; in the arena. */
const char *process_id(struct loop *l, struct arena *a);
/* Has that process certainly ended, in this very place? Then it sends nothing any more, and its kernel has closed its
 * connections; what a server or a proxy had read of them by then may still be carried out, for as long as that takes:
 * it is not over because the process is. false: it lives (also stopped, or as another user), or nobody here can
 * know. */
bool process_id_is_dead(const char *text);

#endif
