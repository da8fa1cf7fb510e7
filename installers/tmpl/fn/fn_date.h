/* fn_date: the methods of times, durations, months and weekdays. */
#ifndef INSTALLERS_TMPL_FN_FN_DATE_H
#define INSTALLERS_TMPL_FN_FN_DATE_H

#include "installers/tmpl/tmpl.h"

extern const struct tmpl_func date_time_methods[], date_duration_methods[], date_name_methods[];

#endif
