/*
 * bench_tmpl: renders per second in process. One template with include, range, toYaml, tpl and
 * nindent over lists of growing length; the time for an item must stay the same (linear cost), and
 * parsed templates are used again.
 */
#include <stdio.h>
#include <time.h>

#include "installers/tmpl/tmpl.h"

#define SECONDS 0.5

static const char text[] =
	"{{ define \"labels\" }}app: {{ .name | trunc 63 | trimSuffix \"-\" }}\n"
	"{{ toYaml .labels }}{{ end }}"
	"{{ range $i, $e := .items }}\n---\nkind: ConfigMap\nmetadata:\n"
	"  name: {{ printf \"%s-%d\" $e.name $i | quote }}\n"
	"  labels: {{ include \"labels\" $e | nindent 4 }}\n"
	"data: {{ toYaml $e | nindent 2 }}\n  t: {{ tpl \"{{ .name }}-x\" $e }}\n{{ end }}";

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct value items(struct arena *a, size_t n)
{
	struct value list = value_list(a, VALUE_LIST, n);
	for (size_t i = 0; i < n; i++) {
		struct vmap *m = vmap_new(a), *labels = vmap_new(a);
		vmap_setc(labels, "tier", value_cstr("backend"));
		vmap_setc(labels, "index", value_float((double)i));
		vmap_setc(m, "name", value_cstr(arena_fmt(a, "item-%zu", i)));
		vmap_setc(m, "labels", value_map(labels));
		list.items[i] = value_map(m);
	}
	return list;
}

static size_t render(struct tmpl_set *set, size_t n)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	const struct tmpl_host host = {0};
	struct vmap *top = vmap_new(a);
	vmap_setc(top, "items", items(a, n));
	CLEANUP(tmpl_run_freep) struct tmpl_run *run =
		tmpl_run_new(set, a, &host, &tmpl_limits_default);
	if (tmpl_run_file(run, STR("t"), value_map(top), &out, &msg) < 0)
		printf("%s\n", msg.buf);
	return out.len;
}

int main(void)
{
	static const size_t sizes[] = {1, 10, 100, 1000, 10000};
	CLEANUP(tmpl_set_freep) struct tmpl_set *set = tmpl_set_new(TMPL_PROFILE_4_1, false);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	if (tmpl_set_add(set, STR("t"), STR(text), &msg) < 0) {
		printf("%s\n", msg.buf);
		return 1;
	}
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		size_t runs = 0, bytes = 0;
		double start = now_s(), took;
		do {
			bytes = render(set, sizes[i]);
			runs++;
			took = now_s() - start;
		} while (took < SECONDS);
		printf("%6zu items  %9.0f renders/s  %6.2f us an item  %8zu bytes\n", sizes[i],
		       (double)runs / took, took / (double)runs * 1e6 / (double)sizes[i], bytes);
	}
	return 0;
}
