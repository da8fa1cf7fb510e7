/* files: the methods of .Files (engine.files: path -> bytes). */
#ifndef INSTALLERS_TMPL_FN_FILES_H
#define INSTALLERS_TMPL_FN_FILES_H

#include "installers/tmpl/tmpl.h"

extern const struct tmpl_func files_methods[];
/* Does the pattern of .Files.Glob match the path? A pattern that is none matches everything. */
bool files_glob_match(struct str pattern, struct str path);

#endif
