/* .helmignore: which files of a folder do not belong to the chart (charts.md 2). */
#include <string.h>

#include "installers/chart/chart.h"
#include "installers/chart/glob.h"
#include "installers/value/msg.h"

#define RULES_MAX 10000

static struct str base_name(struct str path)
{
	struct str head, base;
	return str_rcut(path, '/', &head, &base) ? base : path;
}

/* One rule, its line trimmed. *ret: the rule decides that the path is ignored. */
static int apply_rule(struct str rule, struct str path, bool is_dir, bool *ret, struct strbuf *msg)
{
	bool negate = str_has_prefix(rule, STR("!")), must_dir = false;
	bool match = false;
	if (str_contains(rule, STR("**")))
		return msg_fail(msg, "double-star (**) syntax is not supported");
	rule = str_skip(rule, negate);
	if (str_has_suffix(rule, STR("/"))) {
		must_dir = true;
		rule = str_sub(rule, 0, rule.len - 1);
	}
	bool rooted = str_find_char(rule, '/') >= 0;
	struct str pattern = str_has_prefix(rule, STR("/")) ? str_skip(rule, 1) : rule;
	if (glob_match(pattern, rooted ? path : base_name(path), &match) < 0)
		return msg_fail(msg, "syntax error in pattern");
	bool counts = !must_dir || is_dir;
	*ret = negate ? !(counts && match) : counts && match;
	return 0;
}

int chart_ignores(struct str rules, struct str path, bool is_dir, bool *ret, struct strbuf *msg)
{
	struct str line;
	size_t n = 0;
	*ret = false;
	while (str_next_line(&rules, &line)) {
		line = str_trim(line);
		if (!line.len || line.ptr[0] == '#')
			continue;
		if (++n > RULES_MAX)
			return msg_fail(msg, "too many rules");
		int rc = apply_rule(line, path, is_dir, ret, msg);
		if (rc < 0 || *ret)
			return rc;
	}
	return apply_rule(STR("templates/.?*"), path, is_dir, ret, msg);
}
