/*
 * flat_job: the flat map out of files, as jobs of the sandbox (fleet.md 3.2, 3.5): files of
 * manifests, or a Jsonnet program. Bytes in, one JSON document out: {"objects", "rollout"}, or
 * {"error"}, the text of Jsonnet with its stack, which may be longer than an error holds. Both
 * functions are pure, so equal inputs give equal bytes.
 *
 *	struct render_call call = {.done = done, .arg = x, .name = "main.jsonnet"};
 *	flat_job_jsonnet(sandbox, &files, &request, &call);
 *	...
 *	done(x, rendered, err): flat_job_read(rendered, "default", &flat, &rollout, &msg, &e)
 */
#ifndef ALM_RENDER_FLAT_JOB_H
#define ALM_RENDER_FLAT_JOB_H

#include "alm/io/jsonnet_lib.h"
#include "alm/render/render_job.h"
#include "alm/source/files.h"
#include "alm/source/imports.h"

#define FILES_JOB   "files"
#define JSONNET_JOB "jsonnet"
/* Rows of the sandbox' job table. */
#define FLAT_JOBS                                             \
	{FILES_JOB, files_job, NULL},                         \
	{                                                     \
		JSONNET_JOB, jsonnet_job, jsonnet_lib_prepare \
	}

int files_job(struct str input, struct strbuf *output, struct error *err);
int jsonnet_job(struct str input, struct strbuf *output, struct error *err);

/* Files are sorted; an object without a namespace counts as of ns. If they have a list of flaws, the
 * job looks for all that there are. instances NULL: none. */
void flat_job_files(struct sandbox *s, const struct files *f, const char *ns,
		    const struct flat_instances *instances, struct render_call *call);

/* What a program can read besides its files; all but entrypoint may be NULL. */
struct flat_request {
	const char *ns;
	const char *entrypoint; /* normal, among the files */
	struct import_roots roots;
	const struct obj *ext_str; /* {NAME: TEXT} */
	/* {"config": {..}, "cluster": {..}, "values": {..}, "secrets/list": LIST}: what alm-runtime/
	 * NAME imports. {"NAME": "why"} of those that cannot be read, told if it is imported; "/list" is
	 * any list. */
	const struct obj *runtime, *unavailable;
	bool asks; /* it is told first of other lists than runtime has, or of fewer: flat_job_lists() */
};
/* f has the files that it can import, or all of a tree (f->refused): then nothing is looked for elsewhere. */
void flat_job_jsonnet(struct sandbox *s, const struct files *f, const struct flat_request *rq,
		      struct render_call *call);

/* {"NAME/list": true} of all that the program imports, which then was not run, as it was not given
 * exactly these; NULL: it was. Nobody has looked at the names. */
const struct obj *flat_job_lists(const struct obj *rendered);

/* What a job gave, checked again; ret has the instances that it was told. Its flaws are added to those of ret. *ret_rollout is borrowed from rendered; NULL: there is none. msg
 * gets the whole message of a failure, which may have lines; err its beginning. */
int flat_job_read(const struct obj *rendered, const char *ns, struct flat *ret,
		  const struct obj **ret_rollout, struct strbuf *msg, struct error *err);

#endif
