/*
 * source_jobs: what is asked of the bytes that a catalog consists of, as jobs of the sandbox: no
 * process with rights or Secrets parses them. Pure.
 *
 *	job                  input                                    output
 *	SOURCE_JOB_ARCHIVE   a chart archive                          its entry (inspect.h)
 *	SOURCE_JOB_TEXT      "NAME\n", catalog.yaml or a file of OLM  entry lines, or nothing
 *	SOURCE_JOB_FOLDER    an archive of a folder (file://)         the entry lines of all files
 *	SOURCE_JOB_MEMBER    "NAME\n", an archive of a folder         the bytes of NAME
 *	SOURCE_JOB_SIGNED    an archive of a folder                   {NAME: provenance in base64}
 *	SOURCE_JOB_PACKAGE   an entry whose descriptor is text        the same, sealed (entry.h)
 */
#ifndef ALM_SOURCES_SOURCE_JOBS_H
#define ALM_SOURCES_SOURCE_JOBS_H

#include "alm/io/sandbox.h"
#include "alm/sources/inspect.h"
#include "catalog/index/helm_index.h"
#include "catalog/trust/verify.h"

#define SOURCE_ARCHIVE_BYTES_MAX ((size_t)32 << 20)
#define SOURCE_FOLDER_BYTES_MAX  ((size_t)512 << 20) /* a whole catalog in one archive */

#define SOURCE_JOB_ARCHIVE "catalog-archive"
#define SOURCE_JOB_TEXT    "catalog-text"
#define SOURCE_JOB_FOLDER  "catalog-folder"
#define SOURCE_JOB_MEMBER  "catalog-member"
#define SOURCE_JOB_SIGNED  "catalog-signed"
#define SOURCE_JOB_PACKAGE "catalog-package"

int source_job_archive(struct str input, struct strbuf *output, struct error *err);
int source_job_text(struct str input, struct strbuf *output, struct error *err);
int source_job_folder(struct str input, struct strbuf *output, struct error *err);
int source_job_member(struct str input, struct strbuf *output, struct error *err);
int source_job_signed(struct str input, struct strbuf *output, struct error *err);
int source_job_package(struct str input, struct strbuf *output, struct error *err);

/* Of one archive; of a text, an index or a whole folder. */
extern const struct sandbox_limits source_limits_one, source_limits_all;

/* Rows for the table of a sandbox. */
#define SOURCE_JOBS                                                                           \
	{HELM_INDEX_JOB, helm_index_job, NULL}, {INSPECT_JOB, inspect_job, NULL},             \
		{SOURCE_JOB_ARCHIVE, source_job_archive, NULL},                               \
		{SOURCE_JOB_TEXT, source_job_text, NULL},                                     \
		{SOURCE_JOB_FOLDER, source_job_folder, NULL},                                 \
		{SOURCE_JOB_MEMBER, source_job_member, NULL},                                 \
		{SOURCE_JOB_SIGNED, source_job_signed, NULL}, {VERIFY_JOB, verify_job, NULL}, \
	{                                                                                     \
		SOURCE_JOB_PACKAGE, source_job_package, NULL                                  \
	}

#define SOURCE_NOTICES "catalog.yaml"
/* That, or a file that may be of OLM; by its name. */
bool source_is_text(const char *name);

#endif
