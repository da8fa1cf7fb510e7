/* pod_kept: see pod_kept.h. */
#include "alm/apiserver/kinds/pod_kept.h"

#include "alm/apiserver/kinds/defaults.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_parts.h"
#include "alm/apiserver/kinds/rule_check.h"
#include "alm/apiserver/store/store.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/schema/api_same.h"

/* false: containers came or went, and nothing more is told. */
static bool check_containers(struct field_errors *e, const struct obj *is, const struct obj *was,
			     const char *path)
{
	if (obj_len(is) != obj_len(was)) {
		check_forbidden(e, path, "pod updates may not add or remove containers");
		return false;
	}
	for (size_t i = 0; i < obj_len(is); i++) {
		const char *at = check_at(e, path, i);
		if (check_is_empty(obj_at(is, i), "image"))
			check_required(e, check_below(e, at, "image"), NULL);
		pod_check_image(e, at, obj_at(is, i));
	}
	return true;
}

/* It may come, and be lowered. false: nothing more is told. */
static bool check_deadline(struct field_errors *e, const struct obj *is, const struct obj *was)
{
	static const char path[] = "spec.activeDeadlineSeconds";
	int64_t now = 0, before = INT32_MAX;
	if (!is) {
		if (was)
			check_invalid(e, path, NULL,
				      "must not update from a positive integer to nil value");
		return true;
	}
	obj_as_i64(was, &before);
	if (!obj_as_i64(is, &now) || now < 0 || now > INT32_MAX) {
		check_invalid(e, path, is, "must be between 0 and 2147483647, inclusive");
		return false;
	}
	if (now > before)
		check_invalid(e, path, is, "must be less than or equal to previous value");
	return now <= before;
}

/* What of a toleration may not change. */
static void print_toleration(const struct obj *t, struct strbuf *b)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_copy_map(t);
	obj_del(o, "tolerationSeconds");
	strbuf_clear(b);
	json_print_canonical(o, b);
}

/* What is wrong with them is told once more, but not of what was there before. */
static void check_tolerations_again(struct field_errors *e, const struct obj *o,
				    const struct obj *before)
{
	CLEANUP(arena_freep) struct arena *a = NULL;
	struct field_errors was;
	size_t from = e->n;
	rule_check_part(e, "tolerations", "spec", obj_get(o, "spec"));
	if (e->n == from)
		return;
	a = arena_new(ARENA_REQUEST_BYTES_MAX);
	field_errors_init(&was, a);
	rule_check_part(&was, "tolerations", "spec", obj_get(before, "spec"));
	check_forgive(e, from, &was);
}

static void check_tolerations(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const struct obj *is = obj_path(o, "spec.tolerations");
	const struct obj *was = obj_path(before, "spec.tolerations");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX);
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(is); i++) {
		print_toleration(obj_at(is, i), &b);
		(void)map_set(seen, b.buf, NULL);
	}
	for (size_t i = 0; i < obj_len(was); i++) {
		print_toleration(obj_at(was, i), &b);
		if (map_has(seen, b.buf))
			continue;
		check_forbidden(e, "spec.tolerations",
				"existing toleration can not be modified except its "
				"tolerationSeconds");
		return;
	}
	check_tolerations_again(e, o, before);
}

static void check_gates(struct field_errors *e, const struct obj *is, const struct obj *was)
{
	CLEANUP(map_freep) struct map *had = map_new(NULL);
	for (size_t i = 0; i < obj_len(was); i++)
		(void)map_set(had, check_text(obj_at(was, i), "name"), NULL);
	for (size_t i = 0; i < obj_len(is) && !field_errors_full(e); i++) {
		const char *name = check_text(obj_at(is, i), "name");
		if (!map_has(had, name))
			check_forbidden(
				e, check_below(e, check_at(e, "spec.schedulingGates", i), "name"),
				arena_fmt(e->arena,
					  "only deletion is allowed, but found new "
					  "scheduling gate '%s'",
					  name));
	}
}

/* A Pod that nobody may place yet is placed more narrowly. */
static void check_selector(struct field_errors *e, const struct obj *is, const struct obj *was)
{
	OBJ_EACH (it, was)
		if (!obj_get(is, it.key) || !obj_equal(obj_get(is, it.key), it.value)) {
			check_invalid(e, "spec.nodeSelector", is,
				      "only additions to spec.nodeSelector are allowed (no "
				      "mutations or deletions)");
			return;
		}
}

/* Without what may change: of the spec of before, if that is the same object with its defaults. */
static struct obj *fixed(const struct obj *o, bool gated, bool was_negative)
{
	static const char *const may[] = {"activeDeadlineSeconds", "tolerations",
					  "schedulingGates"};
	static const char *const lists[] = {"containers", "initContainers"};
	CLEANUP(obj_unrefp) struct obj *copy = obj_copy(o);
	int64_t grace = 0;
	defaults_set(copy, "", "pods");
	struct obj *spec = obj_copy_map(obj_get(copy, "spec"));
	for (size_t i = 0; i < ARRAY_LEN(may); i++)
		obj_del(spec, may[i]);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (size_t k = 0; k < obj_len(obj_get(spec, lists[i])); k++)
			obj_del(obj_at_mut(obj_get_mut(spec, lists[i]), k), "image");
	if (gated) {
		obj_del(spec, "nodeSelector");
		obj_del_path(spec, "affinity.nodeAffinity");
		if (!obj_len(obj_get(spec, "affinity")))
			obj_del(spec, "affinity");
	}
	if (was_negative && obj_as_i64(obj_get(spec, "terminationGracePeriodSeconds"), &grace) &&
	    (grace < 0 || grace == 1))
		obj_del(spec, "terminationGracePeriodSeconds");
	return spec;
}

void pod_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const struct obj *is = obj_get(o, "spec"), *was = obj_get(before, "spec");
	int64_t grace = 0;
	if (!check_containers(e, obj_get(is, "containers"), obj_get(was, "containers"),
			      "spec.containers") ||
	    !check_containers(e, obj_get(is, "initContainers"), obj_get(was, "initContainers"),
			      "spec.initContainers") ||
	    !check_deadline(e, obj_get(is, "activeDeadlineSeconds"),
			    obj_get(was, "activeDeadlineSeconds")))
		return;
	check_tolerations(e, o, before);
	check_gates(e, obj_get(is, "schedulingGates"), obj_get(was, "schedulingGates"));
	bool gated = obj_len(obj_get(was, "schedulingGates"));
	if (gated)
		check_selector(e, obj_get(is, "nodeSelector"), obj_get(was, "nodeSelector"));
	obj_as_i64(obj_get(was, "terminationGracePeriodSeconds"), &grace);
	CLEANUP(obj_unrefp) struct obj *a = fixed(o, gated, grace < 0);
	CLEANUP(obj_unrefp) struct obj *b = fixed(before, gated, grace < 0);
	if (!api_same(api_type_named("core.v1.PodSpec"), a, b))
		check_forbidden(e, "spec",
				"pod updates may not change fields other than "
				"`spec.containers[*].image`,`spec.initContainers[*].image`,"
				"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions "
				"to existing tolerations),`spec.terminationGracePeriodSeconds` "
				"(allow it to be set to 1 if it was previously negative)");
}
