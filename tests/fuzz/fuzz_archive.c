/* Opens an archive as a chart: hostile gzip and tar, then Chart.yaml, values and subcharts. */
#include "tests/fuzz/fuzz.h"

#include "installers/chart/chart.h"
#include "installers/chart/gzip.h"

#define ARENA_MAX ((size_t)256 << 20)

static void open_packed(struct str packed)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct chart_limits l = chart_limits_default;
	struct chart *c;
	l.unpacked_bytes = (size_t)4 << 20;
	fuzz_note_number(chart_open(a, packed, &l, TMPL_PROFILE_4_1, &c, &msg));
	fuzz_note(strbuf_str(&msg));
}

/* The bytes as an archive, and as the tar inside of one: most mutations break the checksum. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = str_n((const char *)data, size);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT((size_t)4 << 20);
	struct error err = ERROR_INIT;
	open_packed(input);
	if (gzip_pack(input, &packed, &err) >= 0)
		open_packed(strbuf_str(&packed));
	return 0;
}
