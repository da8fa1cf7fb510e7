/*
 * toml_go: TOML as Helm's toToml and fromToml have it (BurntSushi/toml 1.6), on template values.
 * Integers are int64, dates times, lists of tables []map[string]interface {}.
 */
#ifndef INSTALLERS_TMPL_FN_TOML_GO_H
#define INSTALLERS_TMPL_FN_TOML_GO_H

#include "alm/base/strbuf.h"
#include "installers/value/value.h"

#define TOML_BYTES_MAX ((size_t)16 << 20)
#define TOML_DEPTH_MAX 1000

/* The zones of dates and times that have none: they are written back as they were. */
#define TOML_LOCAL_DATETIME "datetime-local"
#define TOML_LOCAL_DATE     "date-local"
#define TOML_LOCAL_TIME     "time-local"

/* -E_INVALID "toml: cannot encode array with nil element". */
int toml_go_encode(struct arena *a, struct value v, struct strbuf *b, struct strbuf *msg);
/* Bare, or in quotes. */
void toml_write_key(struct strbuf *b, struct str key);
/* -E_INVALID "toml: line 1 (last key \"a\"): unexpected EOF; expected value". */
int toml_go_decode(struct arena *a, struct str text, struct vmap **ret, struct strbuf *msg);

#endif
