/*
 * catalog_source: a catalog as a command sees it: a folder, an archive of one, a Helm repository or
 * a registry, read once and waited for, on a loop of its own.
 */
#ifndef ALM_CLI_CATALOG_SOURCE_H
#define ALM_CLI_CATALOG_SOURCE_H

#include "alm/cli/cli.h"
#include "alm/sources/registry.h"
#include "catalog/index/index.h"

struct catalog_source;

/* what: FOLDER, FILE.tgz, https://..., oci://... With the options below. */
int catalog_source_read(struct cli *c, const char *what, struct catalog_source **ret,
			struct error *err);
void catalog_source_free(struct catalog_source *s);
DEFINE_FREEP(catalog_source)
const struct catalog_index *catalog_source_index(const struct catalog_source *s);
int64_t catalog_source_now(const struct catalog_source *s); /* the wall clock, ns */
/* Checked against the digest of the index, and inspected. */
int catalog_source_fetch(struct catalog_source *s, const struct package_version *p,
			 struct strbuf *ret, struct error *err);

/* A registry for writing: requests that are waited for. */
struct registry_session;
int registry_session_open(struct cli *c, const char *url, const char *actions,
			  struct registry_session **ret, struct error *err);
void registry_session_free(struct registry_session *s);
DEFINE_FREEP(registry_session)
const struct oci_reference *registry_session_reference(const struct registry_session *s);
/* The answer, whatever its status; body and headers live in the arena of the command. */
int registry_session_send(struct registry_session *s, const struct registry_request *q,
			  struct remote_reply *ret, struct error *err);

/* Rows for the option tables of commands that read sources. */
/* clang-format off */
#define CATALOG_SOURCE_OPTIONS                                                                      \
	{"username", "NAME", "user name of the server", 0},                                        \
	{"password-file", "FILE", "its password; - is standard input", 0},                         \
	{"token-file", "FILE", "a bearer token instead", 0},                                       \
	{"token-service", "https://HOST[:PORT]",                                                   \
	 "they go there too: where a registry has its tokens from; may be given again", 0},        \
	{"ca-file", "FILE", "the only authority to believe, PEM", 0},                              \
	{"allow-unpinned", NULL, "take entries whose index gives no digest", 0}
/* clang-format on */

#endif
