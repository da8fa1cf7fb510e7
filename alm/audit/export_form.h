/*
 * export_form: a row of the log in the form of others (audit.md 10): csv, the audit events of
 * Kubernetes, CloudEvents, OCSF. Pure; a row is an object with the keys of a record.
 *
 * To add a form: a row in the table of export_form.c, a case in its test, a word in the help of
 * alm audit export. jsonl, which can be verified, is export.h.
 */
#ifndef ALM_AUDIT_EXPORT_FORM_H
#define ALM_AUDIT_EXPORT_FORM_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

struct export_form {
	const char *name;
	const char *header; /* the first line, or NULL */
	/* One line, with its end. */
	void (*row)(const struct obj *row, const char *origin, struct strbuf *b);
};

/* NULL: there is none of this name. */
const struct export_form *export_form_find(const char *name);
/* The row as an event of CloudEvents 1.0 (what the form cloudevents prints); owned. */
struct obj *export_cloudevent(const struct obj *row, const char *origin);

#endif
