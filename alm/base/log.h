/*
 * log: one line an event, key=value or JSON, on stderr. Only the edges log: main, cli, manager,
 * executor and the server shell. Values are escaped; Secret values and tokens never come here.
 *
 *	log_info("installed", "app", app, "version", version);
 *
 * error: somebody must act; warn: will not hold for ever; info: a transition; debug: the rest.
 */
#ifndef ALM_BASE_LOG_H
#define ALM_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_NONE = -1 };
enum log_format { LOG_FORMAT_KV, LOG_FORMAT_JSON };

/* now_ns may be NULL: lines then carry no time. */
void log_setup(enum log_level level, enum log_format format, int64_t (*now_ns)(void));
/* Lines go to fn instead of stderr; NULL: to stderr again. For the simulation's trace. */
void log_divert(void (*fn)(void *arg, const char *line), void *arg);
bool log_level_parse(const char *name, enum log_level *ret);
bool log_on(enum log_level level);

/* Pairs of const char * key, const char * value, ended by NULL. A NULL value is left out. */
void log_line(enum log_level level, const char *msg, ...) __attribute__((sentinel));

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__, (char *)0)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__, (char *)0)
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__, (char *)0)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__, (char *)0)

#endif
