/* test_paint.c: which words have colours, and that nothing else changes. */
#include "tests/lib/test.h"

#include "alm/cli/paint.h"

static void check(const char *text, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	paint_lines(&b, str_of(text));
	assert_string_equal(b.buf, want);
}

static void test_paint__headers_and_states(void **state)
{
	(void)state;
	check("NAME   KIND   READY\n", "\033[1mNAME   KIND   READY\033[0m\n");
	check("etcd   True   Installed\n",
	      "etcd   \033[32mTrue\033[0m   \033[32mInstalled\033[0m\n");
	check("web   False   UpgradeBlocked",
	      "web   \033[31mFalse\033[0m   \033[31mUpgradeBlocked\033[0m\n");
	check("a 1.0: AwaitingApproval: x\n", "a 1.0: \033[33mAwaitingApproval\033[0m: x\n");
	check("", "");
}

static void test_paint__a_part_of_a_name_is_no_state(void **state)
{
	(void)state;
	check("Failed-app  app/Failed True.x\n", "Failed-app  app/Failed True.x\n");
	check("  next: alm delete apptype etcd\n", "  next: alm delete apptype etcd\n");
	check("A\n", "A\n");
	check("ID: X Y\n", "ID: X Y\n");
}

static void test_paint__verbs_begin_a_line(void **state)
{
	(void)state;
	check("delete  Deployment  a\n", "\033[31mdelete\033[0m  Deployment  a\n");
	check("2 to create, 1 to delete\n", "2 to create, 1 to delete\n");
}

#define LINKED(url) "\033]8;;" url "\033\\" url "\033]8;;\033\\"

/* OSC 8; the text is where it leads, and what ends a sentence is no part of it. */
static void test_paint__addresses_are_links(void **state)
{
	(void)state;
	check("    endpoint: https://a.example.com/x?y=1&z=%20#f\n",
	      "    endpoint: " LINKED("https://a.example.com/x?y=1&z=%20#f") "\n");
	check("see (http://a.b/c), or \"https://d\".\n",
	      "see (" LINKED("http://a.b/c") "), or \"" LINKED("https://d") "\".\n");
	check("https:// http://. xhttp://a ftp://a javascript:x\n",
	      "https:// http://. xhttp://a ftp://a javascript:x\n");
	check("http://a\\e]8;;b http://\xc3\xa4\n",
	      LINKED("http://a") "\\e]8;;b http://\xc3\xa4\n");
	check("error https://x/True\n", "\033[31merror\033[0m " LINKED("https://x/True") "\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paint__headers_and_states),
		cmocka_unit_test(test_paint__a_part_of_a_name_is_no_state),
		cmocka_unit_test(test_paint__verbs_begin_a_line),
		cmocka_unit_test(test_paint__addresses_are_links),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
