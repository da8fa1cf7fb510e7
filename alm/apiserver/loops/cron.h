/* cron: the schedule of a CronJob, "M H DOM MON DOW" or "@hourly", "@every 1h30m". In UTC. Pure. */
#ifndef ALM_APISERVER_LOOPS_CRON_H
#define ALM_APISERVER_LOOPS_CRON_H

#include <stdbool.h>
#include <stdint.h>

#include "alm/base/error.h"
#include "alm/base/str.h"

struct cron {
	uint64_t minutes, hours, days, months, weekdays; /* a bit each */
	bool any_day, any_weekday;                       /* "*": the other of the two decides */
	int64_t every_ns;                                /* of @every; else 0 */
};

/* E_INVALID in the words that a real server has for spec.schedule. */
int cron_parse(struct str text, struct cron *ret, struct error *err);
/* The first time after after_ns, in ns; 0: there is none in the next four years. */
int64_t cron_next(const struct cron *c, int64_t after_ns);

#endif
