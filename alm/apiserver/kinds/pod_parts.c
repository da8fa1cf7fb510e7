/* pod_parts: environments, policies and claims of Pods, as core/validation of Kubernetes 1.36 has them; see pod_parts.h. */
#include "alm/apiserver/kinds/pod_parts.h"

#include <stdlib.h>
#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/obj/quantity.h"

#define CLAIMS_SHOWN      64
#define RESTART_RULES_MAX 20
#define EXIT_CODES_MAX    255

static const char printable[] =
	"a valid environment variable name must consist only of printable ASCII characters other "
	"than '='";

static bool is_printable(const char *name)
{
	for (const char *p = name; *p; p++)
		if (*p < ' ' || *p > '~' || *p == '=')
			return false;
	return true;
}

void pod_check_steps(struct field_errors *e, const char *path, const char *text)
{
	struct str rest = str_of(text), part;
	while (str_next(&rest, '/', &part))
		if (str_is(part, "..")) {
			check_invalid_text(e, path, text, "must not contain '..'");
			break;
		}
}

/* --- environments --- */

static void check_key_ref(struct field_errors *e, const char *path, const struct obj *ref)
{
	const char *key = check_text(ref, "key"), *at = check_below(e, path, "key");
	size_t from = e->n;
	check_named(e, check_below(e, path, "name"), NAME_DNS_SUBDOMAIN, check_text(ref, "name"));
	if (!*key)
		check_required(e, at, NULL);
	else
		check_config_key(e, at, key);
	if (*key)
		check_said_since(e, from, ref);
}

static void check_file_ref(struct field_errors *e, const char *path, const struct obj *ref)
{
	static const char *const fields[] = {"key", "volumeName", "path"};
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const char *text = check_text(ref, fields[i]),
			   *at = check_below(e, path, fields[i]);
		if (!*text)
			check_required(e, at, NULL);
		else if (i == 0 && !is_printable(text))
			check_invalid_text(e, at, text, printable);
		else if (i == 1)
			check_named(e, at, NAME_DNS_LABEL, text);
		else if (i == 2)
			pod_check_steps(e, at, text);
	}
}

static void check_file_volume(struct field_errors *e, const char *path, const struct obj *ref,
			      const struct map *volumes)
{
	const char *name = check_text(ref, "volumeName");
	const struct obj *volume = map_get(volumes, name);
	size_t from = e->n;
	if (!volume)
		field_errors_add_text(e, FIELD_NOT_FOUND, path, name);
	else if (!obj_has(volume, "emptyDir"))
		check_invalid_text(e, path, name, "referenced volume must be of type emptyDir");
	check_said_since(e, from, ref);
}

static void check_value_from(struct field_errors *e, const char *path, const struct obj *from,
			     bool has_value)
{
	static const struct {
		const char *field;
		void (*check)(struct field_errors *e, const char *path, const struct obj *ref);
	} refs[] = {{"fieldRef", pod_check_field_ref},
		    {"resourceFieldRef", pod_check_resource_ref},
		    {"configMapKeyRef", check_key_ref},
		    {"secretKeyRef", check_key_ref},
		    {"fileKeyRef", check_file_ref}};
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(refs); i++) {
		const struct obj *ref = obj_get(from, refs[i].field);
		size_t had = e->n;
		if (!ref)
			continue;
		n++;
		refs[i].check(e, check_below(e, path, refs[i].field), ref);
		if (refs[i].check != check_key_ref)
			check_said_since(e, had, ref);
	}
	if (!n)
		check_invalid_text(e, path, "",
				   "must specify one of: `fieldRef`, `resourceFieldRef`, "
				   "`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`");
	else if (has_value)
		check_invalid_text(e, path, "", "may not be specified when `value` is not empty");
	else if (n > 1)
		check_invalid_text(e, path, "",
				   "may not have more than one field specified at a time");
}

static void check_env(struct field_errors *e, const char *path, const struct obj *env)
{
	for (size_t i = 0; i < obj_len(env); i++) {
		const struct obj *one = obj_at(env, i), *from = obj_get(one, "valueFrom");
		const char *here = check_at(e, path, i), *name = check_text(one, "name");
		if (!*name)
			check_required(e, check_below(e, here, "name"), NULL);
		else if (!is_printable(name))
			check_invalid_text(e, check_below(e, here, "name"), name, printable);
		if (from)
			check_value_from(e, check_below(e, here, "valueFrom"), from,
					 !check_is_empty(one, "value"));
	}
}

/* Sic: as if more were to follow the name. */
static void check_as_prefix(struct field_errors *e, const char *path, const char *name)
{
	const char *all[NAME_FAULTS_MAX];
	size_t n = name_faults(NAME_DNS_SUBDOMAIN, check_prefix(e, name), all);
	for (size_t i = 0; i < n; i++)
		check_invalid_text(e, path, name, all[i]);
}

static void check_env_from(struct field_errors *e, const char *field, const struct obj *list)
{
	static const char *const sources[] = {"configMapRef", "secretRef"};
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *prefix = check_text(obj_at(list, i), "prefix");
		size_t n = 0;
		if (!is_printable(prefix))
			check_invalid_text(e, arena_fmt(e->arena, "%s[%zu].prefix", field, i),
					   prefix, printable);
		for (size_t k = 0; k < ARRAY_LEN(sources); k++) {
			const struct obj *ref = obj_get(obj_at(list, i), sources[k]);
			const char *at =
				arena_fmt(e->arena, "%s[%zu].%s.name", field, i, sources[k]);
			n += ref != NULL;
			if (ref && check_is_empty(ref, "name"))
				check_required(e, at, NULL);
			else if (ref)
				check_as_prefix(e, at, check_text(ref, "name"));
		}
		if (n == 0)
			check_invalid_text(e, field, "",
					   "must specify one of: `configMapRef` or `secretRef`");
		else if (n > 1)
			check_invalid_text(e, field, "",
					   "may not have more than one field specified at a time");
	}
}

void pod_check_env(struct field_errors *e, const char *path, const struct obj *container)
{
	check_env(e, check_below(e, path, "env"), obj_get(container, "env"));
	check_env_from(e, check_below(e, path, "envFrom"), obj_get(container, "envFrom"));
}

/* --- policies --- */

static void check_resize(struct field_errors *e, const char *path, const struct obj *list,
			 bool never)
{
	static const char *const resources[] = {"cpu", "memory", NULL};
	static const char *const policies[] = {"NotRequired", "RestartContainer", NULL};
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *policy = check_text(obj_at(list, i), "restartPolicy");
		const char *resource = check_text(obj_at(list, i), "resourceName");
		if (check_again(seen, resource))
			field_errors_add_text(e, FIELD_DUPLICATE, check_at(e, path, i), resource);
		check_one_of_or_empty(e, path, resource, resources);
		check_one_of_or_empty(e, path, policy, policies);
		if (never && strcmp(policy, "NotRequired") != 0)
			check_invalid_text(
				e, path, policy,
				"must be 'NotRequired' when pod `restartPolicy` is 'Never'");
	}
}

static void check_rules(struct field_errors *e, const char *path, const struct obj *list)
{
	static const char *const actions[] = {"Restart", "RestartAllContainers", NULL};
	static const char *const operators[] = {"In", "NotIn", NULL};
	(void)check_length(e, path, list, RESTART_RULES_MAX);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const struct obj *rule = obj_at(list, i), *codes = obj_get(rule, "exitCodes");
		const char *at = check_at(e, path, i), *in = check_below(e, at, "exitCodes");
		field_errors_one_of(e, check_below(e, at, "action"), check_text(rule, "action"),
				    actions);
		if (!codes)
			check_required(e, in, "must be specified");
		else
			field_errors_one_of(e, check_below(e, in, "operator"),
					    check_text(codes, "operator"), operators);
		(void)check_length(e, check_below(e, in, "values"), obj_get(codes, "values"),
				   EXIT_CODES_MAX);
	}
}

void pod_check_resize(struct field_errors *e, const char *path, const struct obj *container,
		      bool never)
{
	const struct obj *list = obj_get(container, "resizePolicy");
	size_t from = e->n;
	check_resize(e, check_below(e, path, "resizePolicy"), list, never);
	check_said_since(e, from, list);
}

void pod_check_restart(struct field_errors *e, const char *path, const struct obj *container,
		       bool init)
{
	static const char *const policies[] = {"Always", "Never", "OnFailure", NULL};
	const struct obj *list = obj_get(container, "restartPolicyRules");
	const char *at = check_below(e, path, "restartPolicy");
	bool has = obj_has(container, "restartPolicy");
	size_t from;
	if (has)
		field_errors_one_of(e, at, check_text(container, "restartPolicy"), policies);
	else if (obj_len(list))
		check_required(e, at, "must specify restartPolicy when restart rules are used");
	from = e->n;
	if (has || !init)
		check_rules(e, check_below(e, path, "restartPolicyRules"), list);
	check_said_since(e, from, list);
}

void pod_check_files(struct field_errors *e, const char *path, const struct obj *spec)
{
	static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
	const struct obj *list = obj_get(spec, "volumes");
	CLEANUP(map_freep) struct map *volumes = map_new(NULL);
	for (size_t i = 0; i < obj_len(list); i++)
		(void)map_set(volumes, check_text(obj_at(list, i), "name"),
			      mem_unconst(obj_at(list, i)));
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < obj_len(obj_get(spec, lists[k])); i++) {
			const struct obj *env = obj_get(obj_at(obj_get(spec, lists[k]), i), "env");
			for (size_t j = 0; j < obj_len(env); j++) {
				const struct obj *ref =
					obj_path(obj_at(env, j), "valueFrom.fileKeyRef");
				if (!ref)
					continue;
				check_file_volume(e,
						  arena_fmt(e->arena,
							    "%s.%s[%zu].env[%zu].valueFrom."
							    "fileKeyRef.volumeName",
							    path, lists[k], i, j),
						  ref, volumes);
			}
		}
}

void pod_check_image(struct field_errors *e, const char *path, const struct obj *container)
{
	const char *image = check_text(container, "image");
	if (str_trim(str_of(image)).len != strlen(image))
		check_invalid_text(e, check_below(e, path, "image"), image,
				   "must not have leading or trailing whitespace");
}

/* --- claims --- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Which there are, as a refusal tells it. */
static const char *known_claims(struct field_errors *e, const struct obj *claims)
{
	const char **names = arena_alloc(e->arena, (obj_len(claims) + 1) * sizeof *names);
	const char *all = "";
	size_t n = 0;
	for (size_t i = 0; i < obj_len(claims); i++)
		if (!check_is_empty(obj_at(claims, i), "name"))
			names[n++] = check_text(obj_at(claims, i), "name");
	if (!n)
		return " which is empty";
	qsort(names, n, sizeof *names, by_name);
	for (size_t i = 0; i < n && i < CLAIMS_SHOWN; i++)
		all = arena_fmt(e->arena, "%s%s %s", all, i ? "," : ":", names[i]);
	return all;
}

static void check_claim_name(struct field_errors *e, const char *path, const struct obj *claim,
			     struct map *seen)
{
	const char *name = check_text(claim, "name"), *request = check_text(claim, "request");
	const char *key = *request ? arena_fmt(e->arena, "%s/%s", name, request) : name;
	if (map_has(seen, name)) {
		field_errors_add_text(e, FIELD_DUPLICATE, path, name);
		return;
	}
	check_name_rule(e, check_below(e, path, "request"), NAME_DNS_LABEL, request);
	if (check_again(seen, key))
		field_errors_add_text(e, FIELD_DUPLICATE, path, key);
}

void pod_check_claim_names(struct field_errors *e, const char *path, const struct obj *list,
			   const struct obj *claims)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	CLEANUP(map_freep) struct map *known = map_new(NULL);
	size_t from = e->n;
	for (size_t i = 0; i < obj_len(claims); i++)
		(void)map_set(known, check_text(obj_at(claims, i), "name"), NULL);
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *name = check_text(obj_at(list, i), "name"), *at = check_at(e, path, i);
		if (field_errors_full(e))
			break;
		if (!*name) {
			check_required(e, at, NULL);
			continue;
		}
		check_claim_name(e, at, obj_at(list, i), seen);
		if (!map_has(known, name))
			field_errors_add(e, FIELD_NOT_FOUND, at,
					 "Not found: %s: must be one of the names in "
					 "pod.spec.resourceClaims%s",
					 check_quoted(e, name), known_claims(e, claims));
	}
	check_said_since(e, from, list);
}

void pod_check_claims(struct field_errors *e, const char *path, const struct obj *list)
{
	static const char *const names[] = {"resourceClaimName", "resourceClaimTemplateName"};
	static const char *const shown[] = {"Name:name", "*ResourceClaimName:resourceClaimName",
					    "*ResourceClaimTemplateName:resourceClaimTemplateName",
					    NULL};
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *claim = obj_at(list, i);
		const char *at = check_at(e, path, i), *name = check_text(claim, "name");
		size_t n = 0, from = e->n;
		if (!*name)
			check_required(e, check_below(e, at, "name"), NULL);
		else if (check_again(seen, name))
			field_errors_add_text(e, FIELD_DUPLICATE, check_below(e, at, "name"), name);
		else
			check_named(e, check_below(e, at, "name"), NAME_DNS_LABEL, name);
		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			n += obj_has(claim, names[k]);
		if (n != 1)
			check_invalid_struct(e, at, claim, shown,
					     n ? "at most one of `resourceClaimName` or "
						 "`resourceClaimTemplateName` may be specified"
					       : "must specify one of: `resourceClaimName`, "
						 "`resourceClaimTemplateName`");
		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			if (obj_has(claim, names[k]))
				check_named(e, check_below(e, at, names[k]), NAME_DNS_SUBDOMAIN,
					    check_text(claim, names[k]));
		check_said_since(e, from, claim);
	}
}
