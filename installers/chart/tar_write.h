/*
 * tar_write: tar archives in GNU form. Each file has mode 0644, no owner and no time, so the same
 * files give the same bytes.
 *
 * Reading is libarchive's (archive.c). Its writers would bring every format it knows into the
 * program, with libxml2, ICU and nettle, for these few lines.
 */
#ifndef INSTALLERS_CHART_TAR_WRITE_H
#define INSTALLERS_CHART_TAR_WRITE_H

#include "alm/base/strbuf.h"

void tar_write_file(struct strbuf *b, struct str name, struct str data);
void tar_write_end(struct strbuf *b);

#endif
