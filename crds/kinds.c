/* kinds: see kinds.h. The texts are made by the Makefile from the *.yaml beside this file. */
#include "crds/kinds.h"

#include <string.h>

#include "alm/base/carried.h"

extern const struct carried_text crds_apptype_yaml, crds_strategy_yaml, crds_catalog_yaml,
	crds_rollout_yaml, crds_bundle_yaml, crds_install_yaml;

/* clang-format off */
static const struct crd_kind kind_apptype = {
	"app.coreos.com", "v1beta1", "AppType", "apps", "apptype", false, &crds_apptype_yaml};
static const struct crd_kind kind_strategy = {
	"opinstaller.coreos.com", "v1beta1", "InstallStrategy", "installstrategies", "installstrategy",
	false, &crds_strategy_yaml};
static const struct crd_kind kind_catalog = {
	"app.coreos.com", "v1alpha1", "Catalog", "catalogs", "catalog", false, &crds_catalog_yaml};
static const struct crd_kind kind_rollout = {
	"app.coreos.com", "v1alpha1", "Rollout", "rollouts", "rollout", false, &crds_rollout_yaml};
static const struct crd_kind kind_bundle = {
	"app.coreos.com", "v1alpha1", "Bundle", "bundles", "bundle", false, &crds_bundle_yaml};
static const struct crd_kind kind_install = {
	"store.app.coreos.com", "v1", "Install", "installs", "install", true, &crds_install_yaml};
/* clang-format on */

const struct crd_kind *const crd_kinds[] = {
	&kind_apptype, &kind_strategy, &kind_catalog, &kind_rollout, &kind_bundle, &kind_install,
};
const size_t n_crd_kinds = sizeof(crd_kinds) / sizeof(*crd_kinds);

/* domain itself, or a name below it. */
static bool is_below(const char *group, const char *domain)
{
	size_t n = strlen(group), d = strlen(domain);
	return n >= d && strcmp(group + n - d, domain) == 0 && (n == d || group[n - d - 1] == '.');
}

bool crd_group_is_ours(const char *group)
{
	for (size_t i = 0; i < n_crd_kinds; i++)
		if (strcmp(crd_kinds[i]->group, group) == 0)
			return true;
	return is_below(group, kind_apptype.group);
}

bool crd_group_is_reserved(const char *group)
{
	return !strchr(group, '.') || crd_group_is_ours(group) || is_below(group, "k8s.io") ||
	       is_below(group, "kubernetes.io");
}
