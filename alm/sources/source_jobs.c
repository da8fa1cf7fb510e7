#include "alm/sources/source_jobs.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "catalog/index/entry.h"
#include "catalog/index/fbc.h"
#include "catalog/trust/provenance.h"
#include "installers/chart/archive.h"

#define NS_PER_S INT64_C(1000000000)

const struct sandbox_limits source_limits_one = {.output_bytes = SOURCE_ARCHIVE_BYTES_MAX + 1,
						 .wall_ns = 60 * NS_PER_S};
const struct sandbox_limits source_limits_all = {.memory_bytes = (size_t)1 << 30,
						 .output_bytes = HELM_LINES_BYTES_MAX,
						 .cpu_s = 30,
						 .wall_ns = 120 * NS_PER_S};

#define SIGNED_BYTES_MAX ((size_t)128 << 20)

static const struct chart_limits folder_limits = {
	.packed_bytes = SOURCE_FOLDER_BYTES_MAX,
	.unpacked_bytes = SOURCE_FOLDER_BYTES_MAX,
	.file_bytes = SOURCE_ARCHIVE_BYTES_MAX,
	.entries = 100000,
	.ratio = 1000,
	.depth = 1,
	.path_bytes = 512,
	.path_components = 8,
};

bool source_is_text(const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	return *base != '.' && (cstr_has_suffix(base, ".yaml") || cstr_has_suffix(base, ".yml") ||
				cstr_has_suffix(base, ".json"));
}

static void add_error(struct strbuf *lines, const char *name, const struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *entry = entry_error(name, err->msg, err->reason);
	entry_print(entry, lines);
}

/* catalog.yaml is ours unless it is of OLM, whose files have that name too. Other texts are read
 * only if they are of OLM. */
static void add_text(struct strbuf *lines, struct str text, const char *name)
{
	struct error err = ERROR_INIT;
	size_t n = 0;
	if (fbc_is_likely(text) && fbc_lines(text, name, lines, &n, &err) < 0)
		add_error(lines, name, &err);
	else if (!n && !strcmp(name, SOURCE_NOTICES))
		entry_print_notices(text, lines);
}

static void add_archive(struct strbuf *lines, struct str packed, const char *name)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *entry = NULL;
	if (inspect_archive(packed, &entry, &err) < 0) {
		add_error(lines, name, &err);
		return;
	}
	obj_set_str(entry, "where", name);
	obj_set_str(entry, "locator", name);
	entry_print(entry, lines);
}

static bool is_package(const char *name)
{
	return *name != '.' && cstr_has_suffix(name, ".tgz") && !strchr(name, '/');
}

/* --- jobs --- */

int source_job_archive(struct str input, struct strbuf *output, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *entry = NULL;
	if (inspect_archive(input, &entry, err) < 0)
		return -err->code;
	json_print(entry, output);
	return strbuf_check(output, "what the archive tells", err);
}

/* The name that stands before the bytes. */
static const char *take_name(struct arena *a, struct str *input)
{
	struct str line;
	str_next_line(input, &line);
	return arena_text(a, line.ptr ? line.ptr : "", line.len);
}

int source_job_text(struct str input, struct strbuf *output, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	const char *name = take_name(a, &input);
	if (input.len > FBC_FILE_BYTES_MAX)
		return error_set(err, E_LIMIT, "larger than %zu bytes", FBC_FILE_BYTES_MAX);
	add_text(output, input, name);
	return strbuf_check(output, name, err);
}

static int folder_file(void *arg, const char *path, struct str data, struct error *err)
{
	struct strbuf *lines = arg;
	if (is_package(path))
		add_archive(lines, data, path);
	else if (source_is_text(path))
		add_text(lines, data, path);
	return strbuf_check(lines, "what the files tell", err);
}

int source_job_folder(struct str input, struct strbuf *output, struct error *err)
{
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&folder_limits);
	return archive_each(input, &budget, folder_file, output, err);
}

struct member {
	const char *name;
	struct strbuf *bytes;
	bool found;
};

static int member_file(void *arg, const char *path, struct str data, struct error *err)
{
	struct member *m = arg;
	(void)err;
	if (!strcmp(path, m->name)) {
		m->found = true;
		strbuf_addstr(m->bytes, data);
	}
	return 0;
}

int source_job_member(struct str input, struct strbuf *output, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&folder_limits);
	struct member m = {.name = take_name(a, &input), .bytes = output};
	if (archive_each(input, &budget, member_file, &m, err) < 0)
		return -err->code;
	return m.found ? 0
		       : error_set(err, E_NOTFOUND, "the archive has no %.200s any more", m.name);
}

struct provenances {
	struct obj *found;
	size_t bytes;
};

static int signed_file(void *arg, const char *path, struct str data, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PROVENANCE_BYTES_MAX * 2);
	struct provenances *p = arg;
	if (!cstr_has_suffix(path, ".tgz" PROVENANCE_SUFFIX) || strchr(path, '/') ||
	    data.len > PROVENANCE_BYTES_MAX)
		return 0;
	base64_encode(data, &b);
	obj_set(p->found, path, obj_stringn(strbuf_str(&b)));
	p->bytes += b.len + strlen(path);
	return p->bytes <= SIGNED_BYTES_MAX
		       ? 0
		       : error_set(err, E_LIMIT, "its provenance is larger than %zu bytes",
				   SIGNED_BYTES_MAX);
}

int source_job_signed(struct str input, struct strbuf *output, struct error *err)
{
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&folder_limits);
	CLEANUP(obj_unrefp) struct obj *found = obj_map();
	struct provenances p = {.found = found};
	if (archive_each(input, &budget, signed_file, &p, err) < 0)
		return -err->code;
	json_print(found, output);
	return strbuf_check(output, "its provenance", err);
}

int source_job_package(struct str input, struct strbuf *output, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *entry = NULL;
	if (json_parse(input, &entry, err) < 0)
		return -err->code;
	entry_seal(entry);
	json_print(entry, output);
	return strbuf_check(output, "the entry", err);
}
