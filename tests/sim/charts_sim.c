#include "tests/sim/charts_sim.h"
#include "alm/sources/source.h"

#include <assert.h>
#include <string.h>

#include "installers/chart/archive.h"

#define ARCHIVE_BYTES ((size_t)1 << 20)

static const char deployment[] =
	"apiVersion: apps/v1\n"
	"kind: Deployment\n"
	"metadata:\n"
	"  name: etcd-operator\n"
	"  namespace: {{ .Release.Namespace }}\n"
	"  labels: {app.kubernetes.io/version: {{ .Chart.Version | quote }}}\n"
	"spec:\n"
	"  replicas: {{ .Values.replicas | default 1 }}\n"
	"  selector: {matchLabels: {name: etcd-operator}}\n"
	"  template:\n"
	"    metadata: {labels: {name: etcd-operator}}\n"
	"    spec:\n"
	"      serviceAccountName: etcd-operator\n"
	"      containers:\n"
	"        - name: operator\n"
	"          image: quay.io/coreos/etcd-operator:v{{ .Chart.Version }}\n";

static const char config_map[] = "apiVersion: v1\n"
				 "kind: ConfigMap\n"
				 "metadata:\n"
				 "  name: etcd-operator\n"
				 "  namespace: {{ .Release.Namespace }}\n"
				 "data:\n"
				 "  version: {{ .Chart.Version | quote }}\n";

static const char account[] = "apiVersion: v1\n"
			      "kind: ServiceAccount\n"
			      "metadata:\n"
			      "  name: etcd-operator\n"
			      "  namespace: {{ .Release.Namespace }}\n";

static const char crd_head[] = "apiVersion: apiextensions.k8s.io/v1\n"
			       "kind: CustomResourceDefinition\n"
			       "metadata:\n"
			       "  name: etcds.etcd.coreos.com\n"
			       "  annotations: {app.coreos.com/owner: etcd.com.tectonic.storage}\n"
			       "spec:\n"
			       "  group: etcd.coreos.com\n"
			       "  scope: Namespaced\n"
			       "  names: {plural: etcds, singular: etcd, kind: EtcdCluster,\n"
			       "    listKind: EtcdClusterList}\n"
			       "  versions:\n";

static const char schema[] = "      subresources: {status: {}}\n"
			     "      schema:\n"
			     "        openAPIV3Schema:\n"
			     "          type: object\n"
			     "          properties:\n"
			     "            spec:\n"
			     "              type: object\n"
			     "              properties:\n"
			     "                size: {type: integer, minimum: 1}\n";

static void add(struct archive_files *files, const char *path, const char *text)
{
	files->items[files->n++] = (struct archive_file){.path = path, .data = str_of(text)};
}

static const char *version_text(struct arena *a, const char *name, bool stored)
{
	return arena_fmt(a, "    - name: %s\n      served: true\n      storage: %s\n%s", name,
			 stored ? "true" : "false", schema);
}

static const char *crd_text(struct arena *a, unsigned serves)
{
	bool v1 = serves & SERVES_V1, v2 = serves & SERVES_V2;
	bool stores_v2 = !v1 || (serves & STORES_V2);
	return arena_fmt(a, "%s%s%s", crd_head, v1 ? version_text(a, "v1", !stores_v2) : "",
			 v2 ? version_text(a, "v2", stores_v2) : "");
}

static const char *descriptor_text(struct arena *a, unsigned serves)
{
	return arena_fmt(a, "appType: etcd.com.tectonic.storage\nprovides: [%s%s%s]\n",
			 serves & SERVES_V1 ? "etcds.etcd.coreos.com/v1" : "",
			 (serves & SERVES_V1) && (serves & SERVES_V2) ? ", " : "",
			 serves & SERVES_V2 ? "etcds.etcd.coreos.com/v2" : "");
}

static void put(struct world *w, struct arena *a, const struct archive_files *files,
		const char *name, const char *version)
{
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(ARCHIVE_BYTES);
	struct error err = ERROR_INIT;
	int r = archive_write(files, name, &packed, &err);
	assert(r == 0);
	(void)r;
	world_put_file(w, arena_fmt(a, CATALOG_DIR "/%s-%s.tgz", name, version),
		       strbuf_str(&packed));
}

void charts_put(struct world *w, const char *version, unsigned serves)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ARCHIVE_BYTES);
	struct archive_file items[8];
	struct archive_files files = {.items = items, .cap = ARRAY_LEN(items)};
	add(&files, "Chart.yaml",
	    arena_fmt(a, "apiVersion: v2\nname: etcd-operator\nversion: %s\n", version));
	add(&files, "alm.yaml", descriptor_text(a, serves));
	add(&files, "crds/etcds.yaml", crd_text(a, serves));
	add(&files, "templates/configmap.yaml", config_map);
	add(&files, "templates/deployment.yaml", deployment);
	add(&files, "templates/serviceaccount.yaml", account);
	put(w, a, &files, "etcd-operator", version);
}

void charts_put_text(struct world *w, const char *name, const char *version, const char *template)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ARCHIVE_BYTES);
	struct archive_file items[2];
	struct archive_files files = {.items = items, .cap = ARRAY_LEN(items)};
	add(&files, "Chart.yaml",
	    arena_fmt(a, "apiVersion: v2\nname: %s\nversion: %s\n", name, version));
	add(&files, "templates/all.yaml", template);
	put(w, a, &files, name, version);
}

void charts_put_plain(struct world *w, const char *name, const char *version)
{
	charts_put_text(w, name, version,
			"apiVersion: v1\n"
			"kind: ConfigMap\n"
			"metadata: {name: {{ .Release.Name }}}\n"
			"data: {version: {{ .Chart.Version | quote }}}\n");
}

/* The folder as source.c reads it. */

static int files_list(void *arg, const char *dir, char ***ret_names, size_t *ret_n,
		      struct error *err UNUSED)
{
	struct world *w = arg;
	struct map_entry **sorted = map_sorted(w->files);
	size_t n = map_count(w->files);
	char **names = xcalloc(n + 1, sizeof(*names));
	*ret_n = 0;
	for (size_t i = 0; i < n; i++)
		if (cstr_has_prefix(sorted[i]->key, dir))
			names[(*ret_n)++] = xstrdup(sorted[i]->key + strlen(dir) + 1);
	xfree(sorted);
	*ret_names = names;
	return 0;
}

static int files_info(void *arg, const char *path, struct file_info *ret, struct error *err)
{
	struct world *w = arg;
	const struct world_file *f = map_get(w->files, path);
	if (!f)
		return error_set(err, E_NOTFOUND, "%s: no such file", path);
	*ret = (struct file_info){.is_regular = true,
				  .mode = 0644,
				  .size = f->n,
				  .mtime_ns = f->mtime_ns,
				  .inode = f->inode};
	return 0;
}

static int files_read(void *arg, const char *path, struct strbuf *b, struct error *err)
{
	struct world *w = arg;
	const struct world_file *f = map_get(w->files, path);
	if (!f)
		return error_set(err, E_NOTFOUND, "%s: no such file", path);
	strbuf_addstr(b, str_n(f->bytes, f->n));
	return 0;
}

const struct source_files charts_files = {files_list, files_info, files_read, NULL, NULL};
