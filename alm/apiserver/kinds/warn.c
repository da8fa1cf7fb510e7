/* warn: see warn.h. One function a kind; to add one, a row in the table. */
#include "alm/apiserver/kinds/warn.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/warn_parts.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/obj/schema/schema_node.h"

#define SCHEMA_LEVELS 64

/* --- workloads --- */

/* Its name is a part of those of its Pods. */
static void warn_of_name(struct field_errors *w, const struct obj *o, const char *of)
{
	const char *faults[NAME_FAULTS_MAX], *name = meta_name(o), *text = "";
	size_t n = name ? name_faults(NAME_DNS_LABEL, str_of(name), faults) : 0;
	for (size_t i = 0; i < n; i++)
		text = arena_fmt(w->arena, "%s%s%s", text, i ? " " : "", faults[i]);
	if (n)
		field_errors_add(w, FIELD_INVALID, "metadata.name",
				 "this is used in %s, which can result in surprising behavior; a "
				 "DNS label is recommended: [%s]",
				 of, text);
}

static bool is_same_spec(const struct obj *o, const struct obj *before)
{
	return before && meta_generation(o) == meta_generation(before);
}

static void warn_of_workload(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	if (!before)
		warn_of_name(w, o, "Pod names and hostnames");
	if (!is_same_spec(o, before))
		warn_of_pod(w, "spec.template.", obj_path(o, "spec.template"));
}

static void warn_of_daemons(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	/* admission counts there how often the template changed */
	static const char count[] = "deprecated.daemonset.template.generation";
	if (!before || !cstr_eq(meta_annotation(o, count), meta_annotation(before, count)))
		warn_of_pod(w, "spec.template.", obj_path(o, "spec.template"));
}

static void warn_of_claim_spec(struct field_errors *w, const char *path, const struct obj *spec)
{
	static const char *const lists[] = {"requests", "limits"};
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		warn_of_fraction(w, arena_fmt(w->arena, "%s.resources.%s", path, lists[i]),
				 obj_get(obj_get(spec, "resources"), lists[i]), "storage");
}

static void warn_of_stateful(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	const struct obj *list = obj_path(o, "spec.volumeClaimTemplates");
	if (!is_same_spec(o, before))
		warn_of_pod(w, "spec.template.", obj_path(o, "spec.template"));
	for (size_t i = 0; i < obj_len(list); i++)
		warn_of_claim_spec(w,
				   arena_fmt(w->arena, "spec.volumeClaimTemplates[%zu]%s", i,
					     before ? ".Spec" : ""),
				   obj_get(obj_at(list, i), "spec"));
	if (obj_i64(o, "spec.revisionHistoryLimit", 0) < 0)
		warn_add(w, "spec.revisionHistoryLimit",
			 "a negative value retains all historical revisions; a value >= 0 is "
			 "recommended");
}

static void warn_of_job_spec(struct field_errors *w, const char *path, const struct obj *spec)
{
	if (cstr_eq(obj_str(spec, "completionMode"), "Indexed") &&
	    obj_i64(spec, "completions", 0) > 100000 && obj_i64(spec, "parallelism", 0) > 10000)
		warn_add(w, path,
			 "In Indexed Jobs with a number of completions higher than 10^5 and a "
			 "parallelism higher than 10^4, Kubernetes might not be able to track "
			 "completedIndexes when a big number of indexes fail");
	warn_of_pod(w, arena_fmt(w->arena, "%s.template.", path), obj_get(spec, "template"));
}

static void warn_of_job(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	if (!before)
		warn_of_name(w, o, "Pod names and hostnames");
	if (!is_same_spec(o, before))
		warn_of_job_spec(w, "spec", obj_get(o, "spec"));
}

static void warn_of_cron(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	if (!before)
		warn_of_name(w, o, "Pod names and hostnames");
	if (!is_same_spec(o, before))
		warn_of_job_spec(w, "spec.jobTemplate.spec", obj_path(o, "spec.jobTemplate.spec"));
	if (before && strstr(check_text(o, "spec.schedule"), "TZ"))
		warn_add(
			w, "",
			"cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
			"https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for "
			"more details");
}

/* Nobody writes Pods that are there. */
static void warn_of_own_pod(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	if (before)
		return;
	warn_of_name(w, o, "the Pod's hostname");
	warn_of_pod(w, "", o);
}

static void warn_of_template(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	if (!is_same_spec(o, before))
		warn_of_pod(w, "template.", obj_get(o, "template"));
}

/* --- storage --- */

#define BETA_CLASS "volume.beta.kubernetes.io/storage-class"

static void warn_of_annotation(struct field_errors *w, const struct obj *o, const char *key,
			       const char *why)
{
	if (meta_annotation(o, key))
		warn_add(w, arena_fmt(w->arena, "metadata.annotations[%s]", key), why);
}

static void warn_of_claim(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	(void)before;
	warn_of_annotation(w, o, BETA_CLASS,
			   "deprecated since v1.8; use \"storageClassName\" attribute instead");
	warn_of_claim_spec(w, "spec", obj_get(o, "spec"));
}

static void warn_of_volume(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	static const char *const gone[][2] = {
		{"cephfs", "deprecated in v1.28, non-functional in v1.31+"},
		{"photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
		{"scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
		{"storageos", "deprecated in v1.22, non-functional in v1.25+"},
		{"glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
		{"rbd", "deprecated in v1.28, non-functional in v1.31+"},
	};
	static const char at[] = "spec.nodeAffinity.required.nodeSelectorTerms";
	const struct obj *spec = obj_get(o, "spec"), *terms = obj_path(o, at);
	(void)before;
	warn_of_annotation(w, o, BETA_CLASS,
			   "deprecated since v1.8; use \"storageClassName\" attribute instead");
	warn_of_annotation(w, o, "volume.beta.kubernetes.io/mount-options",
			   "deprecated since v1.31; use \"mountOptions\" attribute instead");
	if (cstr_eq(obj_str(spec, "persistentVolumeReclaimPolicy"), "Recycle"))
		warn_add(w, "spec.persistentVolumeReclaimPolicy",
			 "The Recycle reclaim policy is deprecated. Instead, the recommended "
			 "approach is to use dynamic provisioning.");
	for (size_t i = 0; i < obj_len(terms); i++)
		warn_of_term(w, check_at(w, at, i), obj_at(terms, i), false);
	for (size_t i = 0; i < ARRAY_LEN(gone); i++)
		if (obj_has(spec, gone[i][0]))
			warn_add(w, check_below(w, "spec", i == 3 ? "storageOS" : gone[i][0]),
				 gone[i][1]);
}

static void warn_of_driver(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	const struct obj *is = obj_path(o, "spec.tokenRequests");
	const struct obj *was = obj_path(before, "spec.tokenRequests");
	if (obj_len(is) && !(was && obj_equal(is, was)) &&
	    !obj_path(o, "spec.serviceAccountTokenInSecrets"))
		warn_add(w, "",
			 "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI "
			 "driver, set to true to prevent possible logging of tokens in volume "
			 "attributes");
}

/* --- networks and nodes --- */

static void warn_of_service(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	const struct obj *spec = obj_get(o, "spec");
	const char *type = obj_str(spec, "type");
	bool external = obj_len(obj_get(spec, "externalIPs"));
	bool named = cstr_eq(type, "ExternalName");
	bool headless = cstr_eq(type, "ClusterIP") && cstr_eq(obj_str(spec, "clusterIP"), "None");
	(void)before;
	if (meta_annotation(o, "service.kubernetes.io/topology-aware-hints"))
		warn_add(w, "",
			 "annotation service.kubernetes.io/topology-aware-hints is deprecated, "
			 "please use service.kubernetes.io/topology-mode instead");
	if (headless && !check_is_empty(spec, "loadBalancerIP"))
		warn_add(w, "", "spec.loadBalancerIP is ignored for headless services");
	if (headless && external)
		warn_add(w, "", "spec.externalIPs is ignored for headless services");
	if (headless && !cstr_eq(obj_str(spec, "sessionAffinity"), "None"))
		warn_add(w, "", "spec.SessionAffinity is ignored for headless services");
	if (external && !headless && !named)
		warn_add(w, "",
			 "spec.externalIPs is deprecated and may no longer be implemented in some "
			 "clusters");
	if (named && external)
		warn_add(w, "", "spec.externalIPs is ignored when spec.type is \"ExternalName\"");
	if (!named && !check_is_empty(spec, "externalName"))
		warn_add(w, "",
			 "spec.externalName is ignored when spec.type is not \"ExternalName\"");
	if (cstr_eq(obj_str(spec, "trafficDistribution"), "PreferClose"))
		warn_add(w, "spec.trafficDistribution",
			 "\"PreferClose\" is deprecated; use \"PreferSameZone\"");
}

static void warn_of_ingress(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	if (!before && meta_annotation(o, "kubernetes.io/ingress.class") &&
	    !obj_path(o, "spec.ingressClassName"))
		warn_add(w, "",
			 "annotation \"kubernetes.io/ingress.class\" is deprecated, please use "
			 "'spec.ingressClassName' instead");
}

static void warn_of_slice(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	if (!before && cstr_eq(obj_str(o, "addressType"), "FQDN"))
		warn_add(w, "spec.addressType", "FQDN endpoints are deprecated");
}

static void warn_of_node(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	(void)before;
	if (!check_is_empty(o, "spec.externalID"))
		warn_add(w, "spec.externalID",
			 "this field is deprecated, and is unused by Kubernetes");
}

/* --- definitions --- */

static bool is_format_known(const char *type, const char *format)
{
	bool is_int = cstr_eq(format, "int32") || cstr_eq(format, "int64");
	if (cstr_eq(type, "integer"))
		return is_int;
	if (cstr_eq(type, "number"))
		return cstr_eq(format, "float") || cstr_eq(format, "double");
	return (!*type || cstr_eq(type, "string")) && !is_int && schema_format_known(format);
}

static void warn_unknown_format(struct field_errors *w, const char *format)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, "unrecognized format ");
	go_quote(str_of(format), &b);
	warn_add(w, "", arena_strdup(w->arena, b.buf));
}

/* Formats that nobody checks, of a schema and all below it. */
/* NOLINTNEXTLINE(misc-no-recursion): one level less each time */
static void warn_of_formats(struct field_errors *w, const struct obj *o, int level)
{
	const char *format = obj_type(o) == OBJ_MAP ? check_text(o, "format") : "";
	if (*format && !is_format_known(check_text(o, "type"), format))
		warn_unknown_format(w, format);
	for (size_t i = 0; level && obj_type(o) == OBJ_LIST && i < obj_len(o); i++)
		warn_of_formats(w, obj_at(o, i), level - 1);
	OBJ_EACH (it, obj_type(o) == OBJ_MAP && level ? o : NULL) {
		static const char *const values[] = {"default", "example", "enum", NULL};
		if (!cstr_in(it.key, values))
			warn_of_formats(w, it.value, level - 1);
	}
}

static void warn_of_definition(struct field_errors *w, const struct obj *o,
			       const struct obj *before)
{
	static const char at[] = "schema.openAPIV3Schema";
	const struct obj *is = obj_path(o, "spec.versions"),
			 *was = obj_path(before, "spec.versions");
	const struct obj *last = NULL;
	for (size_t i = 0; i < obj_len(is); i++) {
		const struct obj *s = obj_path(obj_at(is, i), at);
		const struct obj *old = obj_path(obj_at(was, i), at);
		bool again = last && s && obj_equal(last, s); /* one of all versions is told once */
		if (!again && !(s && old && obj_equal(s, old)))
			warn_of_formats(w, s, SCHEMA_LEVELS);
		last = s;
	}
}

static void warn_of_devices(struct field_errors *w, const struct obj *o, const struct obj *before)
{
	const char *driver = check_text(o, "spec.driver");
	(void)before;
	if (strcspn(driver, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") < strlen(driver))
		warn_add(w, "spec.driver",
			 arena_fmt(w->arena,
				   "driver names should be lowercase; %s contains uppercase "
				   "characters",
				   check_quoted(w, driver)));
}

/* Of an update what was there is told, as if it came now. */
static void warn_of_replication(struct field_errors *w, const struct obj *o,
				const struct obj *before)
{
	warn_of_workload(w, before ? before : o, before ? o : NULL); /* sic */
}

/* clang-format off */
static const struct {
	const char *group, *plural;
	void (*warn)(struct field_errors *w, const struct obj *o, const struct obj *before);
} kinds[] = {
	{"",      "nodes",                  warn_of_node},
	{"",      "persistentvolumeclaims", warn_of_claim},
	{"",      "persistentvolumes",      warn_of_volume},
	{"",      "pods",                   warn_of_own_pod},
	{"",      "podtemplates",           warn_of_template},
	{"",      "replicationcontrollers", warn_of_replication},
	{"",      "services",               warn_of_service},
	{"apiextensions.k8s.io", "customresourcedefinitions", warn_of_definition},
	{"apps",  "daemonsets",             warn_of_daemons},
	{"apps",  "deployments",            warn_of_workload},
	{"apps",  "replicasets",            warn_of_workload},
	{"apps",  "statefulsets",           warn_of_stateful},
	{"batch", "cronjobs",               warn_of_cron},
	{"batch", "jobs",                   warn_of_job},
	{"discovery.k8s.io", "endpointslices", warn_of_slice},
	{"networking.k8s.io", "ingresses",  warn_of_ingress},
	{"resource.k8s.io", "resourceslices", warn_of_devices},
	{"storage.k8s.io", "csidrivers",    warn_of_driver},
};
/* clang-format on */

void warn_of(struct field_errors *w, const char *group, const char *plural, const struct obj *o,
	     const struct obj *before)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].group, group) == 0 && strcmp(kinds[i].plural, plural) == 0)
			kinds[i].warn(w, o, before);
}
