/* legacy_words: what legacy and legacy_crd share: versions in groups, and the warnings. */
#ifndef CRDS_LEGACY_WORDS_H
#define CRDS_LEGACY_WORDS_H

#include "crds/legacy.h"

/* "v1alpha1.etcd.coreos.com" is version v1 of etcd.coreos.com, "1.etcd.coreos.com" as well: the
 * form of 2017 numbers majors. false: no label of a version in front. The version is in the arena.
 */
bool legacy_group(struct str group, struct arena *a, struct str *ret_group,
		  const char **ret_version);
/* "OLD is legacy; stored as NOW" */
void legacy_warn(struct arena *a, struct legacy *ret, const char *old, const char *now);

#endif
