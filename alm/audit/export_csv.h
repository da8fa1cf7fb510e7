/* export_csv: a row of the log as a line of csv (export_form.h), safe to open in a spreadsheet. Pure. */
#ifndef ALM_AUDIT_EXPORT_CSV_H
#define ALM_AUDIT_EXPORT_CSV_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

/* Its words stand in the order of the columns of export_csv.c. */
#define EXPORT_CSV_HEADER                                                                    \
	"seq,time,type,reason,cluster,kind,namespace,name,uid,transitionSeq,op,cause,actor," \
	"trust,via,address,verb,outcome,code,from,to,versionFrom,versionTo,plan,approves,"   \
	"justification,message,changed,body\r\n"

void export_csv_row(const struct obj *row, const char *origin, struct strbuf *b);

#endif
