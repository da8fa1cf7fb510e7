/* alm.yaml: what is read has edges that lead up and ranges that can be read, and its copy in the
 * annotation of Chart.yaml says the same. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <string.h>

#include "catalog/index/package.h"

#define INPUT_BYTES_MAX 16384

static void check_edge(const struct package_version *p, const char *text)
{
	struct version v;
	struct error err = ERROR_INIT;
	int r = text ? version_parse(str_of(text), VERSION_STRICT, &v, &err) : 0;
	assert(r >= 0);
	assert(!text || version_cmp(&v, &p->version) < 0);
}

static struct package_version *read_one(struct str text, bool annotated, struct arena *a)
{
	struct error err = ERROR_INIT;
	struct package_version *p = NULL;
	CLEANUP(obj_unrefp) struct obj *chart = obj_map();
	obj_set_str(chart, "name", "etcd");
	obj_set_str(chart, "version", "1.2.3");
	if (annotated) {
		struct obj *annotations = obj_map();
		obj_set(annotations, PACKAGE_ANNOTATION, obj_stringn(text));
		obj_set(chart, "annotations", annotations);
	}
	struct package_source s = {.chart = chart,
				   .descriptor = annotated ? STR_NONE : text,
				   .digest = "0",
				   .locator = "etcd.tgz"};
	return fuzz_noted(package_read(&s, a, &p, &err), &err) < 0 ? NULL : p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	struct str text = str_n((const char *)data, size);
	struct range range;
	struct error err = ERROR_INIT;
	if (size > INPUT_BYTES_MAX || memchr(data, 0, size))
		return 0;
	const struct package_version *p = read_one(text, false, a);
	const struct package_version *q = read_one(text, true, a);
	if (!p)
		return 0;
	check_edge(p, p->replaces);
	for (size_t i = 0; i < p->n_skips; i++)
		check_edge(p, p->skips[i]);
	int r = p->skip_range ? range_parse(str_of(p->skip_range), a, &range, &err) : 0;
	assert(r >= 0);
	for (size_t i = 0; i < p->n_provides; i++)
		assert(strchr(p->provides[i], '/'));
	fuzz_note_text(p->descriptor_digest);
	assert(q && !strcmp(p->descriptor_digest, q->descriptor_digest));
	assert(p->n_provides == q->n_provides && p->n_requires == q->n_requires);
	return 0;
}
