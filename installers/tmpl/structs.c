/* structs: the struct types that charts and functions hand to templates. */
#include "installers/value/value.h"

static struct str kube_string(const struct vstruct *st)
{
	/* the normalised version if there is one */
	return value_text(st->fields[1]).len ? value_text(st->fields[1])
					     : value_text(st->fields[0]);
}

static const struct vfield kube_fields[] = {
	{"Version", NULL, false},
	{"normalizedVersion", NULL, false},
	{"Major", NULL, false},
	{"Minor", NULL, false},
};
static const struct vstruct_type kubeversion = {
	.name = "common.KubeVersion",
	.pointer = "*common.KubeVersion",
	.name_v3 = "chartutil.KubeVersion",
	.pointer_v3 = "*chartutil.KubeVersion",
	.fields = kube_fields,
	.n_fields = 4,
	.string = kube_string,
};
static const struct vfield kube_fields_v3[] = {
	{"Version", NULL, false},
	{"Major", NULL, false},
	{"Minor", NULL, false},
};
static struct str kube_string_v3(const struct vstruct *st)
{
	return value_text(st->fields[0]);
}
static const struct vstruct_type kubeversion_v3 = {
	.name = "chartutil.KubeVersion",
	.pointer = "*chartutil.KubeVersion",
	.fields = kube_fields_v3,
	.n_fields = 3,
	.string = kube_string_v3,
};

static const struct vfield helm_fields[] = {
	{"Version", "version", true},
	{"GitCommit", "git_commit", true},
	{"GitTreeState", "git_tree_state", true},
	{"GoVersion", "go_version", true},
	{"KubeClientVersion", "kube_client_version", false},
};
static const struct vstruct_type helmversion = {
	.name = "version.BuildInfo",
	.pointer = "*version.BuildInfo",
	.fields = helm_fields,
	.n_fields = 5,
};

static const struct vfield capability_fields[] = {
	{"KubeVersion", NULL, false},
	{"APIVersions", NULL, false},
	{"HelmVersion", NULL, false},
};
static const struct vstruct_type capabilities = {
	.name = "common.Capabilities",
	.pointer = "*common.Capabilities",
	.name_v3 = "chartutil.Capabilities",
	.pointer_v3 = "*chartutil.Capabilities",
	.fields = capability_fields,
	.n_fields = 3,
};

static const struct vfield metadata_fields[] = {
	{"Name", "name", true},
	{"Home", "home", true},
	{"Sources", "sources", true},
	{"Version", "version", true},
	{"Description", "description", true},
	{"Keywords", "keywords", true},
	{"Maintainers", "maintainers", true},
	{"Icon", "icon", true},
	{"APIVersion", "apiVersion", true},
	{"Condition", "condition", true},
	{"Tags", "tags", true},
	{"AppVersion", "appVersion", true},
	{"Deprecated", "deprecated", true},
	{"Annotations", "annotations", true},
	{"KubeVersion", "kubeVersion", true},
	{"Dependencies", "dependencies", true},
	{"Type", "type", true},
	{"IsRoot", NULL, false},
};
const struct vstruct_type vstruct_metadata = {
	.name = "chart.Metadata",
	.pointer = "*chart.Metadata",
	.fields = metadata_fields,
	.n_fields = sizeof(metadata_fields) / sizeof(metadata_fields[0]),
};

static const struct vfield maintainer_fields[] = {
	{"Name", "name", true},
	{"Email", "email", true},
	{"URL", "url", true},
};
const struct vstruct_type vstruct_maintainer = {
	.name = "chart.Maintainer",
	.pointer = "*chart.Maintainer",
	.list = "[]*chart.Maintainer",
	.fields = maintainer_fields,
	.n_fields = 3,
};

static const struct vfield dependency_fields[] = {
	{"Name", "name", true},
	{"Version", "version", true},
	{"Repository", "repository", false},
	{"Condition", "condition", true},
	{"Tags", "tags", true},
	{"Enabled", "enabled", true},
	{"ImportValues", "import-values", true},
	{"Alias", "alias", true},
};
const struct vstruct_type vstruct_dependency = {
	.name = "chart.Dependency",
	.pointer = "*chart.Dependency",
	.list = "[]*chart.Dependency",
	.fields = dependency_fields,
	.n_fields = 8,
};

static const struct vfield certificate_fields[] = {
	{"Cert", NULL, false},
	{"Key", NULL, false},
};
const struct vstruct_type vstruct_certificate = {
	.name = "sprig.certificate",
	.pointer = "*sprig.certificate",
	.fields = certificate_fields,
	.n_fields = 2,
};

static struct value helm_version(struct arena *a, enum tmpl_profile profile)
{
	struct vstruct *st = vstruct_new(a, &helmversion);
	const char *version = profile == TMPL_PROFILE_3     ? "v3.21.4"
			      : profile == TMPL_PROFILE_4_1 ? "v4.1.4"
							    : "v4.2.4";
	const char *client = profile == TMPL_PROFILE_4_1 ? "v1.35" : "v1.36";
	st->fields[0] = value_cstr(version);
	st->fields[1] = value_cstr("");
	st->fields[2] = value_cstr("");
	st->fields[3] = value_cstr("go1.26");
	st->fields[4] = value_cstr(client);
	return value_struct(st, false);
}

struct value value_capabilities(struct arena *a, enum tmpl_profile profile, struct str kube_text,
				struct str kube_normal, struct str major, struct str minor,
				struct value api_versions)
{
	bool v3 = profile == TMPL_PROFILE_3;
	struct vstruct *kube = vstruct_new(a, v3 ? &kubeversion_v3 : &kubeversion);
	size_t i = 0;
	kube->fields[i++] = value_strcpy(a, v3 ? kube_normal : kube_text);
	if (!v3)
		kube->fields[i++] = value_strcpy(a, kube_normal);
	kube->fields[i++] = value_strcpy(a, major);
	kube->fields[i] = value_strcpy(a, minor);
	struct vstruct *st = vstruct_new(a, &capabilities);
	st->fields[0] = value_struct(kube, false);
	st->fields[1] = api_versions;
	st->fields[2] = helm_version(a, profile);
	return value_struct(st, true);
}
