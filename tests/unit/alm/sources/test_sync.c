/* A folder some of whose files cannot be looked at, where what they told last stands; and an archive
 * that is not the one of the index. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/mem.h"
#include "alm/obj/json.h"
#include "alm/sources/sync.h"
#include "installers/chart/archive.h"
#include "installers/chart/gzip.h"
#include "installers/chart/tar_write.h"
#include "tests/lib/loop_fake.h"

#define NOW_NS INT64_C(1900000000000000000)
#define ROOM   ((size_t)1 << 20)

static struct fixture {
	struct loop *loop;
	struct sandbox *sandbox;
	struct arena *a;
	const char *notices; /* catalog.yaml; NULL: there is none */
	struct str archive;
	bool archives_die, texts_die, text_too_large;
	int n_inspected;
	struct strbuf last, lines; /* of the last good revision; of the one that was read */
	bool done;
	struct error err;
	struct catalog_index *index;
} *it;

/* --- the folder --- */

static int list(void *arg UNUSED, const char *dir UNUSED, char ***ret_names, size_t *ret_n,
		struct error *err UNUSED)
{
	char **names = xcalloc(2, sizeof(*names));
	size_t n = 0;
	names[n++] = xstrdup("a-1.0.0.tgz");
	if (it->notices)
		names[n++] = xstrdup("catalog.yaml");
	*ret_names = names;
	*ret_n = n;
	return 0;
}

static struct str bytes_of(const char *path)
{
	return cstr_has_suffix(path, ".tgz") ? it->archive : str_of(it->notices);
}

static int info(void *arg UNUSED, const char *path, struct file_info *ret, struct error *err UNUSED)
{
	*ret = (struct file_info){.is_regular = true, .size = bytes_of(path).len, .mtime_ns = 1};
	return 0;
}

static int read_bytes(void *arg UNUSED, const char *path, struct strbuf *b,
		      struct error *err UNUSED)
{
	strbuf_addstr(b, bytes_of(path));
	return 0;
}

static const struct source_files files = {.list = list, .info = info, .read = read_bytes};

static int archive_job(struct str input, struct strbuf *output, struct error *err)
{
	return it->archives_die ? error_set(err, E_INTERNAL, "was killed")
				: source_job_archive(input, output, err);
}

static int text_job(struct str input, struct strbuf *output, struct error *err)
{
	if (it->text_too_large)
		return error_set(err, E_LIMIT, "larger than 9 bytes");
	return it->texts_die ? error_set(err, E_TIMEOUT, "took longer")
			     : source_job_text(input, output, err);
}

static int inspect(struct str input, struct strbuf *output, struct error *err)
{
	it->n_inspected++;
	return inspect_job(input, output, err);
}

static const struct sandbox_job jobs[] = {{INSPECT_JOB, inspect, NULL},
					  {SOURCE_JOB_ARCHIVE, archive_job, NULL},
					  {SOURCE_JOB_TEXT, text_job, NULL},
					  {0}};

/* --- a sync --- */

static int last_lines(void *arg UNUSED, struct strbuf *ret_lines, struct error *err UNUSED)
{
	strbuf_addstr(ret_lines, strbuf_str(&it->last));
	return 0;
}

static void synced(void *arg UNUSED, struct sync_result *result)
{
	it->done = true;
	it->err = result->err ? *result->err : ERROR_INIT;
	it->index = STEAL(result->index);
	strbuf_clear(&it->lines);
	strbuf_addstr(&it->lines, result->lines);
}

static struct obj *folder(void)
{
	struct error err;
	struct obj *catalog = NULL;
	assert_ok(json_parse(STR("{\"metadata\":{\"name\":\"c\"},\"spec\":{\"source\":{\"url\":"
				 "\"dir:///c\"}}}"),
			     &catalog, &err),
		  &err);
	return catalog;
}

/* By an alm that was started just now: it remembers no file. */
static void look(kept_fn last)
{
	const struct sync_host host = {.loop = it->loop, .files = &files, .sandbox = it->sandbox};
	CLEANUP(source_cache_freep) struct source_cache *cache = source_cache_new();
	CLEANUP(obj_unrefp) struct obj *catalog = folder();
	const struct sync_request r = {
		.catalog = catalog, .policy = "", .cache = cache, .last = last};
	index_free(STEAL(it->index));
	it->done = false;
	sync_start(&host, &r, synced, NULL);
	loop_fake_run(it->loop, INT64_C(1000000000));
	assert_true(it->done);
}

/* As the manager does with a revision that is used. */
static void keep(void)
{
	assert_ok(-(int)it->err.code, &it->err);
	strbuf_clear(&it->last);
	strbuf_addstr(&it->last, strbuf_str(&it->lines));
}

static struct str chart(void)
{
	CLEANUP(strbuf_release) struct strbuf tar = STRBUF_INIT(ROOM), packed = STRBUF_INIT(ROOM);
	struct error err;
	tar_write_file(&tar, STR("a/Chart.yaml"), STR("apiVersion: v2\nname: a\nversion: 1.0.0\n"));
	tar_write_end(&tar);
	assert_ok(gzip_pack(strbuf_str(&tar), &packed, &err), &err);
	return str_n(arena_memdup(it->a, packed.buf, packed.len), packed.len);
}

static int setup(void **state)
{
	it = xcalloc(1, sizeof(*it));
	it->loop = loop_fake_new(NOW_NS);
	it->sandbox = sandbox_inline_new(it->loop, jobs);
	it->a = arena_new(ROOM * 8);
	it->archive = chart();
	strbuf_init(&it->last, ROOM);
	strbuf_init(&it->lines, ROOM);
	*state = it;
	return 0;
}

static int teardown(void **state UNUSED)
{
	index_free(it->index);
	strbuf_release(&it->last);
	strbuf_release(&it->lines);
	sandbox_free(it->sandbox);
	loop_free(it->loop);
	arena_free(it->a);
	xfree(it);
	return 0;
}

static void test_sync__an_archive_whose_child_dies_stays_listed(void **state UNUSED)
{
	char revision[SHA256_HEX];
	look(NULL);
	keep();
	memcpy(revision, it->index->revision, sizeof(revision));
	it->archives_die = true;
	for (int i = 0; i < 2; i++) { /* and so does one that was unread before */
		look(last_lines);
		keep();
		assert_int_equal(it->index->n, 1);
		assert_string_equal(it->index->versions[0]->withdrawn,
				    "its archive cannot be used: was killed");
		assert_true(it->index->versions[0]->is_unusable);
		assert_string_equal(it->index->rejected[0], "a-1.0.0.tgz: was killed");
		assert_string_not_equal(it->index->revision, revision);
	}
	it->archives_die = false;
	look(last_lines);
	assert_null(it->index->versions[0]->withdrawn);
	assert_string_equal(it->index->revision, revision);
}

static void test_sync__without_a_last_revision_it_is_left_out(void **state UNUSED)
{
	it->archives_die = true;
	look(NULL);
	assert_ok(-(int)it->err.code, &it->err);
	assert_int_equal(it->index->n, 0);
	assert_int_equal(it->index->n_rejected, 1);
	keep();
	look(last_lines); /* what it says of the file is an error */
	assert_int_equal(it->index->n, 0);
}

static void test_sync__notices_stand_as_they_were_told(void **state UNUSED)
{
	it->notices = "withdrawn: [{package: a, message: unsafe}]\n";
	look(NULL);
	keep();
	assert_string_equal(it->index->versions[0]->withdrawn, "unsafe");
	it->texts_die = true;
	look(last_lines);
	assert_string_equal(it->index->versions[0]->withdrawn, "unsafe");
	assert_string_equal(it->index->rejected[0], "catalog.yaml: took longer");
	it->texts_die = false;
	it->text_too_large = true;
	look(last_lines);
	assert_string_equal(it->index->versions[0]->withdrawn, "unsafe");
}

static void test_sync__unknown_notices_are_no_revision(void **state UNUSED)
{
	look(NULL);
	keep();
	it->notices = "withdrawn: [{package: a}]\n";
	it->texts_die = true;
	look(last_lines);
	assert_string_equal(it->err.msg, "dir:///c: catalog.yaml: took longer");
	it->texts_die = false;
	it->text_too_large = true;
	look(NULL);
	assert_string_equal(it->err.msg, "dir:///c: catalog.yaml: larger than 9 bytes");
	assert_null(it->index);
}

static void fetched(void *arg UNUSED, const struct archive_result *result)
{
	it->done = true;
	it->err = result->err ? *result->err : ERROR_INIT;
}

static void fetch(void)
{
	const struct sync_host host = {.loop = it->loop, .files = &files, .sandbox = it->sandbox};
	CLEANUP(obj_unrefp) struct obj *catalog = folder();
	const struct archive_request r = {
		.catalog = catalog, .policy = "", .version = it->index->versions[0]};
	it->done = false;
	assert_non_null(archive_fetch_start(&host, &r, fetched, NULL));
	loop_fake_run(it->loop, INT64_C(1000000000));
	assert_true(it->done);
}

static void test_sync__a_digest_is_checked_before_the_archive_is_unpacked(void **state UNUSED)
{
	look(NULL);
	fetch();
	assert_ok(-(int)it->err.code, &it->err);
	assert_int_equal(it->n_inspected, 1);
	it->archive = STR("no archive, and nothing that a parser shall see");
	fetch();
	assert_int_equal(it->err.reason, REASON_DIGEST_MISMATCH);
	assert_int_equal(it->n_inspected, 1);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sync__an_archive_whose_child_dies_stays_listed),
		TEST(test_sync__without_a_last_revision_it_is_left_out),
		TEST(test_sync__notices_stand_as_they_were_told),
		TEST(test_sync__unknown_notices_are_no_revision),
		TEST(test_sync__a_digest_is_checked_before_the_archive_is_unpacked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
