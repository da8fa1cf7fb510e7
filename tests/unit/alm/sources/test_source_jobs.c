/* What children answer about archives and texts of catalogs (source_jobs.h). */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/sources/source_jobs.h"
#include "catalog/index/entry.h"
#include "installers/chart/archive.h"
#include "installers/chart/gzip.h"
#include "installers/chart/tar_write.h"

#define ROOM ((size_t)1 << 20)

struct fixture {
	struct arena *a;
	struct strbuf packed, out;
	struct catalog_index *index;
	struct error err;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->a = arena_new(ROOM * 8);
	strbuf_init(&f->packed, ROOM);
	strbuf_init(&f->out, ROOM);
	f->index = index_new("c", 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	index_free(f->index);
	strbuf_release(&f->packed);
	strbuf_release(&f->out);
	arena_free(f->a);
	xfree(f);
	return 0;
}

/* An archive of name/text pairs below "c/". */
static struct str archive_of(struct fixture *f, const struct archive_file *files, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(ROOM), packed = STRBUF_INIT(ROOM);
	for (size_t i = 0; i < n; i++)
		tar_write_file(&tar, str_of(arena_fmt(f->a, "c/%s", files[i].path)), files[i].data);
	tar_write_end(&tar);
	assert_ok(gzip_pack(strbuf_str(&tar), &packed, &f->err), &f->err);
	return str_n(arena_memdup(f->a, packed.buf, packed.len), packed.len);
}

static struct str chart(struct fixture *f, const char *version, const char *descriptor)
{
	struct archive_file files[2] = {
		{"Chart.yaml",
		 str_of(arena_fmt(f->a, "apiVersion: v2\nname: a\nversion: %s\n", version))},
		{"alm.yaml", str_of(descriptor)}};
	return archive_of(f, files, descriptor ? 2 : 1);
}

static void build(struct fixture *f)
{
	struct str rest = strbuf_str(&f->out);
	assert_int_equal(entry_read_lines(f->index, &rest, 100, &f->err), 0);
	assert_ok(index_finish(f->index, str_of(f->index->catalog_yaml), &f->err), &f->err);
}

static struct str folder(struct fixture *f)
{
	const struct archive_file files[] = {
		{"a-1.0.0.tgz", chart(f, "1.0.0", "channels: [stable]\n")},
		{"a-1.1.0.tgz", chart(f, "1.1.0", NULL)},
		{"bad.tgz", STR("no archive")},
		{".hidden.tgz", STR("not looked at")},
		{"sub/b.tgz", STR("not looked at")},
		{"catalog.yaml",
		 STR("withdrawn: [{package: a, versions: '<1.1.0', message: old}]\n")}};
	return archive_of(f, files, ARRAY_LEN(files));
}

static void test_source_jobs__a_folder_in_one_archive(void **state)
{
	struct fixture *f = *state;
	assert_ok(source_job_folder(folder(f), &f->out, &f->err), &f->err);
	build(f);
	assert_int_equal(f->index->n, 2);
	assert_string_equal(f->index->versions[0]->locator, "a-1.1.0.tgz");
	assert_string_equal(f->index->versions[1]->channels[0], "stable");
	assert_string_equal(f->index->versions[1]->withdrawn, "old");
	assert_int_equal(f->index->n_rejected, 1);
	assert_non_null(strstr(f->index->rejected[0], "bad.tgz: "));
	/* the child has parsed what is YAML */
	assert_non_null(f->index->notices);
	assert_non_null(strstr(f->out.buf, "\"package\":{\"channels\":[\"stable\"]}"));
}

static struct str named(struct fixture *f, const char *name, struct str bytes)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROOM);
	strbuf_addf(&b, "%s\n", name);
	strbuf_addstr(&b, bytes);
	return str_n(arena_memdup(f->a, b.buf, b.len), b.len);
}

static void test_source_jobs__one_member_of_it(void **state)
{
	struct fixture *f = *state;
	struct str packed = folder(f);
	assert_ok(source_job_member(named(f, "bad.tgz", packed), &f->out, &f->err), &f->err);
	assert_string_equal(f->out.buf, "no archive");
	assert_int_equal(source_job_member(named(f, "c.tgz", packed), &f->out, &f->err),
			 -E_NOTFOUND);
}

static void test_source_jobs__the_same_file_twice_is_refused(void **state)
{
	struct fixture *f = *state;
	const struct archive_file files[] = {{"a.tgz", STR("1")}, {"a.tgz", STR("2")}};
	struct str packed = archive_of(f, files, 2);
	assert_int_equal(source_job_folder(packed, &f->out, &f->err), -E_INVALID);
	assert_non_null(strstr(f->err.msg, "is there twice"));
	strbuf_clear(&f->out);
	assert_int_equal(source_job_member(named(f, "a.tgz", packed), &f->out, &f->err),
			 -E_INVALID);
}

static void test_source_jobs__an_archive_is_sealed(void **state)
{
	struct fixture *f = *state;
	struct obj *entry = NULL;
	assert_ok(source_job_archive(chart(f, "1.0.0", "appType: a.x\n"), &f->out, &f->err),
		  &f->err);
	assert_ok(json_parse(strbuf_str(&f->out), &entry, &f->err), &f->err);
	assert_string_equal(obj_str(entry, "package.appType"), "a.x");
	obj_unref(entry);
	strbuf_clear(&f->out);
	assert_ok(source_job_archive(chart(f, "1.0.0", "appType: ["), &f->out, &f->err), &f->err);
	assert_ok(json_parse(strbuf_str(&f->out), &entry, &f->err), &f->err);
	assert_non_null(strstr(obj_str(entry, "error"), "alm.yaml: "));
	obj_unref(entry);
}

static void test_source_jobs__a_descriptor_has_a_limit(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(ROOM);
	strbuf_adds(&text, "appType: ");
	strbuf_pad(&text, 'a', PACKAGE_DESCRIPTOR_BYTES_MAX);
	assert_ok(source_job_archive(chart(f, "1.0.0", text.buf), &f->out, &f->err), &f->err);
	assert_non_null(strstr(f->out.buf, "alm.yaml: larger than 262144 bytes"));
}

static void test_source_jobs__an_entry_of_a_registry(void **state)
{
	struct fixture *f = *state;
	static const char in[] = "{\"chart\":{\"name\":\"a\",\"annotations\":{\"app.coreos.com/"
				 "package\":\"channels: [x]\"}},\"digest\":\"d\"}";
	assert_ok(source_job_package(str_of(in), &f->out, &f->err), &f->err);
	assert_non_null(strstr(f->out.buf, "\"package\":{\"channels\":[\"x\"]}"));
	assert_non_null(strstr(f->out.buf, "\"digest\":\"d\""));
}

static void test_source_jobs__texts(void **state)
{
	struct fixture *f = *state;
	assert_ok(source_job_text(STR("values.yaml\na: 1\n"), &f->out, &f->err), &f->err);
	assert_int_equal(f->out.len, 0);
	assert_ok(source_job_text(STR("catalog.yaml\nwithdrawn: ["), &f->out, &f->err), &f->err);
	struct str rest = strbuf_str(&f->out);
	assert_int_equal(entry_read_lines(f->index, &rest, 100, &f->err), 0);
	assert_int_equal(index_finish(f->index, str_of(f->index->catalog_yaml), &f->err),
			 -E_INVALID);
	assert_non_null(strstr(f->err.msg, "catalog.yaml: "));
	strbuf_clear(&f->out);
	assert_ok(source_job_text(STR("p/catalog.yaml\nschema: olm.package\nname: p\n"), &f->out,
				  &f->err),
		  &f->err);
	assert_non_null(strstr(f->out.buf, "{\"olm\":"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_source_jobs__a_folder_in_one_archive),
		TEST(test_source_jobs__one_member_of_it),
		TEST(test_source_jobs__the_same_file_twice_is_refused),
		TEST(test_source_jobs__an_archive_is_sealed),
		TEST(test_source_jobs__a_descriptor_has_a_limit),
		TEST(test_source_jobs__an_entry_of_a_registry),
		TEST(test_source_jobs__texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
