/* What the recorded cases do not reach: the limit of size, each form of a failure, other encodings. */
#include "tests/lib/test.h"

#include <string.h>

#include "installers/format/yaml_go.h"
#include "installers/format/yaml_node.h"

static void test_yaml_go__a_text_has_its_size(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)512 << 20);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(YAML_GO_BYTES_MAX + 1);
	struct value v = VALUE_NONE;
	strbuf_adds(&text, "a: 1\n#");
	strbuf_pad(&text, 'x', YAML_GO_BYTES_MAX - text.len);
	assert_int_equal(yaml_go_parse(a, strbuf_str(&text), &v, &msg), 0);
	assert_true(value_is_map(v));
	assert_int_equal(msg.len, 0);
	strbuf_addc(&text, 'x');
	v = VALUE_NONE;
	assert_int_equal(yaml_go_parse(a, strbuf_str(&text), &v, &msg), -E_LIMIT);
	assert_string_equal(msg.buf, "YAML is larger than 16777216 bytes");
	assert_int_equal(v.type, VALUE_NIL);
}

/* The message is told once, behind what was there, and nothing is given out. */
static void test_yaml_go__a_failure_has_one_message(void **state)
{
	(void)state;
	static const struct {
		const char *text, *map, *list; /* "": it is one */
	} rows[] = {
		{"a: [",
		 "error converting YAML to JSON: yaml: line 1: did not find expected node "
		 "content",
		 "error converting YAML to JSON: yaml: line 1: did not find expected node content"},
		{"[1]",
		 "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into "
		 "Go value of type map[string]interface {}",
		 ""},
		{"a: 1", "",
		 "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal object into "
		 "Go value of type []interface {}"},
		{"7",
		 "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into "
		 "Go value of type map[string]interface {}",
		 "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into "
		 "Go value of type []interface {}"},
		{"", "", ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
		CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
		struct vmap *map = NULL;
		struct value list = VALUE_NONE;
		strbuf_adds(&msg, "x: ");
		int r = yaml_go_parse_map(a, str_of(rows[i].text), &map, &msg);
		assert_int_equal(r < 0, *rows[i].map != '\0');
		assert_int_equal(map == NULL, r < 0);
		assert_string_equal(msg.buf + 3, rows[i].map);
		strbuf_truncate(&msg, 3);
		r = yaml_go_parse_list(a, str_of(rows[i].text), &list, &msg);
		assert_int_equal(r < 0, *rows[i].list != '\0');
		assert_int_equal(list.type, r < 0 ? VALUE_NIL : VALUE_LIST);
		assert_string_equal(msg.buf + 3, rows[i].list);
	}
}

/* yaml_node_read() reads UTF-8 alone: a mark of another encoding is a byte like any other. */
static void test_yaml_go__marks_of_other_encodings(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t len;
		bool node, go; /* is it read? */
	} rows[] = {
		{"\xef\xbb\xbf"
		 "a: 1",
		 7, true, true},
		{"\xff\xfe"
		 "a\0:\0 \0"
		 "1\0",
		 10, false, true},
		{"\xfe\xff"
		 "\0a\0:\0 \0"
		 "1",
		 10, false, true},
		{"\xef\xbb\xbf\xff\xfe"
		 "a\0:\0 \0"
		 "1\0",
		 13, false, false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
		CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
		struct str text = str_n(rows[i].text, rows[i].len);
		struct yaml_node *node = NULL;
		struct vmap *map = NULL;
		if ((yaml_node_read(a, text, &node, &msg) == 0) != rows[i].node)
			fail_msg("node %zu: %s", i, msg.buf);
		if ((yaml_go_parse_map(a, text, &map, &msg) == 0) != rows[i].go)
			fail_msg("go %zu: %s", i, msg.buf);
		if (rows[i].go)
			assert_non_null(vmap_getc(map, "a"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_yaml_go__a_text_has_its_size),
		cmocka_unit_test(test_yaml_go__a_failure_has_one_message),
		cmocka_unit_test(test_yaml_go__marks_of_other_encodings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
