/*
 * landlock: which files a process may open from now on, and all that it starts (landlock(7)).
 */
#ifndef ALM_IO_LANDLOCK_H
#define ALM_IO_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>

/* Does this kernel have it? */
bool landlock_is_there(void);
/* Nothing but to read and execute what is at or below reads, and to write to files of writes, too; a
 * path that is not there is left out. No new privileges must be set. False: nothing has changed. */
bool landlock_confine(const char *const *reads, size_t n_reads, const char *const *writes,
		      size_t n_writes);

#endif
