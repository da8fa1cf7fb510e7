/* `alm catalog index|verify|pull|push`: catalogs as files, and between folders, one archive and
 * registries: for mirrors and air gaps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/cli/catalog/catalog_files.h"
#include "alm/cli/catalog/cmd_catalog.h"
#include "alm/cli/catalog/registry_push.h"
#include "alm/cli/term.h"
#include "alm/obj/json.h"
#include "alm/sources/source.h"
#include "installers/chart/archive.h"

#define INDEX_BYTES_MAX ((size_t)64 << 20)

/* --- index --- */

struct indexing {
	struct cli *c;
	struct catalog_listing *listing;
	const char *base_url;
};

static int add_to_index(void *arg, const struct package_version *p, struct str bytes,
			struct error *err)
{
	struct indexing *x = arg;
	struct obj *chart = NULL;
	const char *slash = strrchr(p->locator, '/');
	if (catalog_chart(bytes, &chart, err) < 0)
		return -err->code;
	catalog_listing_add(x->listing, chart, p->digest, x->base_url,
			    slash ? slash + 1 : p->locator);
	return 0;
}

/* Without --generated an index says no time: the same archives, the same bytes. */
static int read_generated(const struct cli *c, struct catalog_source *s, char ret[CLOCK_TEXT_MAX],
			  struct error *err)
{
	const char *text = cli_value(c, "generated"), *epoch = getenv("SOURCE_DATE_EPOCH");
	int64_t ns = catalog_source_now(s);
	uint64_t seconds;
	if (!text)
		return 0;
	if (cstr_eq(text, "now") && epoch) { /* reproducible-builds.org/specs/source-date-epoch */
		if (!str_parse_u64(str_of(epoch), &seconds) || seconds > INT64_MAX / NS_PER_S)
			return error_set(err, E_USAGE, "SOURCE_DATE_EPOCH: %s is no time", epoch);
		ns = (int64_t)seconds * NS_PER_S;
	} else if (!cstr_eq(text, "now") && !clock_parse(str_of(text), &ns)) {
		return error_set(err, E_USAGE,
				 "--generated: %s: want now, or a time like 2026-05-01T10:00:00Z",
				 text);
	}
	clock_format(ns, CLOCK_SECONDS, ret);
	return 0;
}

static int index_run(struct cli *c, struct error *err)
{
	CLEANUP(catalog_source_freep) struct catalog_source *s = NULL;
	CLEANUP(catalog_listing_freep) struct catalog_listing *l = catalog_listing_new();
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(INDEX_BYTES_MAX);
	struct indexing x = {.c = c, .listing = l, .base_url = cli_value(c, "url")};
	const char *path = arena_fmt(c->arena, "%s/index.yaml", c->args[0]);
	char generated[CLOCK_TEXT_MAX] = "";
	if (strstr(c->args[0], "://") || cstr_has_suffix(c->args[0], ".tgz"))
		return error_set(err, E_USAGE, "an index is made of a folder");
	if (catalog_source_read(c, c->args[0], &s, err) < 0 ||
	    catalog_each(c, s, add_to_index, &x, err) < 0)
		return -err->code;
	if (read_generated(c, s, generated, err) < 0)
		return -err->code;
	catalog_listing_print(l, *generated ? generated : NULL, &text);
	if (strbuf_check(&text, path, err) < 0 ||
	    file_write_atomic(path, strbuf_str(&text), 0644, err) < 0)
		return -err->code;
	term_print("%s: %zu version%s\n", path, catalog_source_index(s)->n,
		   catalog_source_index(s)->n == 1 ? "" : "s");
	return 0;
}

static const struct cmd_option index_options[] = {
	{"url", "URL", "where the archives will be served (default: beside the index)", 0},
	{"generated", "TIME",
	 "written as its time, which verify.maxAge of a Catalog asks for: now (with "
	 "SOURCE_DATE_EPOCH: that), or like 2026-05-01T10:00:00Z",
	 0},
	{0},
};
const struct cmd cmd_catalog_index = {
	.name = "index",
	.usage = "alm catalog index FOLDER [--url URL] [--generated now|TIME]",
	.examples = "alm catalog index /var/lib/alm/catalog --generated now",
	.summary = "write index.yaml, so that a web server makes the folder a Helm repository",
	.options = index_options,
	.args = {1, 1},
	.run = index_run,
};

/* --- verify --- */

static int verify_one(void *arg, const struct package_version *p, struct str bytes,
		      struct error *err)
{
	(void)err;
	size_t *n = arg;
	*n += bytes.len;
	term_print("%s %.*s sha256:%s ok\n", p->package, STR_ARG(p->version.text), p->digest);
	return 0;
}

/* Without --keys what is left out is reported by lint. */
static int check_rejected(const struct cli *c, const struct catalog_index *x, struct error *err)
{
	if (!cli_value(c, "keys") || !x->n_rejected)
		return 0;
	for (size_t i = 0; i < x->n_rejected && i < INDEX_REJECTED_MAX; i++)
		term_print("%s\n", x->rejected[i]);
	return error_set(err, E_INVALID, "%zu %s left out", x->n_rejected,
			 x->n_rejected == 1 ? "entry is" : "entries are");
}

static int verify_run(struct cli *c, struct error *err)
{
	CLEANUP(catalog_source_freep) struct catalog_source *s = NULL;
	size_t bytes = 0;
	if (catalog_source_read(c, c->args[0], &s, err) < 0 ||
	    catalog_each(c, s, verify_one, &bytes, err) < 0)
		return -err->code;
	const struct catalog_index *x = catalog_source_index(s);
	term_print("%zu archive%s, %zu bytes, revision %s\n", x->n, x->n == 1 ? "" : "s", bytes,
		   x->revision);
	return check_rejected(c, x, err);
}

static const struct cmd_option verify_options[] = {
	{"keys", "FILE",
	 "every archive must be signed by one of these keys, OpenPGP (armored) or PEM for cosign; "
	 "may be given again",
	 0},
	CATALOG_SOURCE_OPTIONS,
	{0}};
static const struct cmd_option source_options[] = {CATALOG_SOURCE_OPTIONS, {0}};
const struct cmd cmd_catalog_verify = {
	.name = "verify",
	.usage = "alm catalog verify SOURCE [--keys FILE]",
	.examples = "alm catalog verify oci://registry.example.com/charts --keys keys.asc",
	.summary = "fetch every archive; compare its digest and descriptor with the index",
	.description = "Stops at the first one that differs, with exit status 1. With --keys every "
		       "archive also needs a valid signature, as with spec.verify of a Catalog: "
		       "Helm's provenance or one of cosign.",
	.options = verify_options,
	.args = {1, 1},
	.run = verify_run,
};

/* --- pull --- */

struct pulling {
	struct cli *c;
	const char *folder; /* NULL: into files */
	struct arena *a;    /* of files */
	struct archive_files files;
	struct archive_budget budget;
	struct catalog_listing *listing;
};

static const struct chart_limits pull_limits = {
	.packed_bytes = SOURCE_FOLDER_BYTES_MAX,
	.unpacked_bytes = SOURCE_FOLDER_BYTES_MAX,
	.file_bytes = INDEX_BYTES_MAX,
	.entries = 100000,
	.ratio = 1000,
	.depth = 1,
	.path_bytes = 512,
	.path_components = 8,
};

static int put_file(struct pulling *p, const char *name, struct str bytes, struct error *err)
{
	if (p->folder)
		return file_put(p->folder, name, bytes, 0644, err);
	return archive_files_add(p->a, &p->files, name, bytes, &p->budget, err);
}

static int pull_one(void *arg, const struct package_version *p, struct str bytes, struct error *err)
{
	struct pulling *x = arg;
	struct obj *chart = NULL;
	const char *name = catalog_file_name(p, x->c->arena);
	if (catalog_chart(bytes, &chart, err) < 0)
		return -err->code;
	catalog_listing_add(x->listing, chart, p->digest, NULL, name);
	return put_file(x, name, bytes, err);
}

static int finish_pull(struct pulling *x, const struct catalog_index *from, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf index = STRBUF_INIT(INDEX_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(SOURCE_FOLDER_BYTES_MAX);
	catalog_listing_print(x->listing, NULL, &index);
	if (strbuf_check(&index, "index.yaml", err) < 0 ||
	    put_file(x, "index.yaml", strbuf_str(&index), err) < 0)
		return -err->code;
	if (from->catalog_yaml && put_file(x, "catalog.yaml", str_of(from->catalog_yaml), err) < 0)
		return -err->code;
	if (x->folder)
		return 0;
	if (archive_write(&x->files, "catalog", &packed, err) < 0 ||
	    strbuf_check(&packed, x->c->args[1], err) < 0)
		return -err->code;
	return file_write_atomic(x->c->args[1], strbuf_str(&packed), 0644, err);
}

static int pull_run(struct cli *c, struct error *err)
{
	CLEANUP(catalog_source_freep) struct catalog_source *s = NULL;
	CLEANUP(catalog_listing_freep) struct catalog_listing *l = catalog_listing_new();
	CLEANUP(arena_freep) struct arena *a = arena_new(SOURCE_FOLDER_BYTES_MAX);
	bool is_file = cstr_has_suffix(c->args[1], ".tgz");
	struct pulling x = {.c = c,
			    .folder = is_file ? NULL : c->args[1],
			    .a = a,
			    .budget = ARCHIVE_BUDGET_INIT(&pull_limits),
			    .listing = l};
	if (strstr(c->args[1], "://"))
		return error_set(err, E_USAGE,
				 "pull goes to a folder or a .tgz; alm catalog push "
				 "goes to a registry");
	if ((x.folder && dir_make(x.folder, 0755, err) < 0) ||
	    catalog_source_read(c, c->args[0], &s, err) < 0 ||
	    catalog_each(c, s, pull_one, &x, err) < 0 ||
	    finish_pull(&x, catalog_source_index(s), err) < 0)
		return -err->code;
	size_t n = catalog_source_index(s)->n;
	term_print("%s: %zu version%s, revision %s\n", c->args[1], n, n == 1 ? "" : "s",
		   catalog_source_index(s)->revision);
	return 0;
}

const struct cmd cmd_catalog_pull = {
	.name = "pull",
	.usage = "alm catalog pull SOURCE FOLDER|FILE.tgz",
	.examples = "alm catalog pull https://charts.example.com/stable ./mirror",
	.summary = "copy a whole catalog into a folder, or into one file to carry over an air gap",
	.description = "Every archive is checked. A Catalog reads the result with dir:// or "
		       "file://; the folder is a Helm repository too.",
	.options = source_options,
	.args = {2, 2},
	.run = pull_run,
};

/* --- push --- */

static int push_run(struct cli *c, struct error *err)
{
	CLEANUP(catalog_source_freep) struct catalog_source *s = NULL;
	if (!cstr_has_prefix(c->args[1], "oci://"))
		return error_set(err, E_USAGE, "push goes to oci://HOST/NAME[:TAG]");
	if (catalog_source_read(c, c->args[0], &s, err) < 0)
		return -err->code;
	return cli_flag(c, "charts") ? registry_push_charts(c, s, c->args[1], err)
				     : registry_push_catalog(c, s, c->args[1], err);
}

static const struct cmd_option push_options[] = {
	{"charts", NULL, "each version as a chart, oci://.../PACKAGE:VERSION, as Helm does", 0},
	CATALOG_SOURCE_OPTIONS,
	{0},
};
const struct cmd cmd_catalog_push = {
	.name = "push",
	.usage = "alm catalog push SOURCE oci://HOST/NAME[:TAG] [--charts]",
	.examples = "alm catalog push ./mirror oci://registry.example.com/charts",
	.summary = "copy a whole catalog into a registry, as one artifact",
	.description = "Without TAG: latest. What the registry has is not sent again. Prints the "
		       "digest to pin in spec.source.url.",
	.options = push_options,
	.args = {2, 2},
	.run = push_run,
};
