/* gvk: group, version, kind and the text forms of API names. Values borrow unless said. */
#ifndef ALM_OBJ_GVK_H
#define ALM_OBJ_GVK_H

#include <stdbool.h>

#include "alm/base/arena.h"
#include "alm/base/str.h"
#include "alm/obj/obj.h"

#define GVK_NAME_MAX 253

struct gvk {
	const char *group; /* "" for the core group; never NULL */
	const char *version;
	const char *kind;
};

/* plural.group/version, the managed unit: etcds.etcd.coreos.com/v1. The seed's plural.N.group is
 * read as plural.group/vN. */
struct resource_ref {
	const char *plural, *group, *version; /* version "" when the text had none */
};

/* From apiVersion and kind; false if either is missing or malformed. Strings live in a. */
bool gvk_of(const struct obj *o, struct arena *a, struct gvk *ret);
/* "g/v" or "v"; false for more than one slash or an empty version. */
bool gvk_split_api_version(const char *api_version, struct arena *a, const char **ret_group,
			   const char **ret_version);

bool resource_ref_parse(const char *text, struct arena *a, struct resource_ref *ret);
char *resource_ref_fmt(const struct resource_ref *r, struct arena *a);

/* Kubernetes order of API versions, highest first: v2, v1, v2beta1, v1alpha1, then others by name
 * (k8s.io/apimachinery version.CompareKubeAwareVersionStrings). <0 if a sorts before b. */
int kube_version_cmp(const char *a, const char *b);

/* Name rules. The fault is Kubernetes' own text (k8s.io/apimachinery util/validation; golden G38,
 * G40), NULL for a good name. */
enum name_rule {
	NAME_DNS_LABEL,     /* lower-case RFC 1123 label, 63 */
	NAME_DNS_SUBDOMAIN, /* lower-case RFC 1123 subdomain, 253 */
	NAME_DNS1035_LABEL, /* starts with a letter, 63 */
	NAME_QUALIFIED,     /* [subdomain/]name: keys of labels and annotations, finalizers */
	NAME_LABEL_VALUE,
	NAME_PATH_SEGMENT,
};
const char *name_fault(enum name_rule rule, struct str s);
/* All that is wrong with it: how many. */
#define NAME_FAULTS_MAX 3
size_t name_faults(enum name_rule rule, struct str s, const char *ret[NAME_FAULTS_MAX]);

/* The first max characters at most, without what no part of a name ends with ('.', '-' and the
 * like): a name goes on behind it. */
char *name_cut(const char *name, size_t max, struct arena *a);

bool name_is_dns_label(struct str s);
bool name_is_dns_subdomain(struct str s);
bool name_is_path_segment(struct str s);

#endif
