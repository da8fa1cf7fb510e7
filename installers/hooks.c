#include "installers/hooks.h"

#include "installers/order.h"

static const struct {
	const char *name;
	enum hook_event event;
} events[] = {
	{"pre-install", HOOK_PRE_INSTALL},
	{"post-install", HOOK_POST_INSTALL},
	{"pre-delete", HOOK_PRE_DELETE},
	{"post-delete", HOOK_POST_DELETE},
	{"pre-upgrade", HOOK_PRE_UPGRADE},
	{"post-upgrade", HOOK_POST_UPGRADE},
	{"pre-rollback", HOOK_PRE_ROLLBACK},
	{"post-rollback", HOOK_POST_ROLLBACK},
	{"test", HOOK_TEST},
	{"test-success", HOOK_TEST},
};

static const struct {
	const char *name;
	enum hook_policy policy;
} policies[] = {
	{"before-hook-creation", HOOK_BEFORE_CREATION},
	{"hook-succeeded", HOOK_SUCCEEDED},
	{"hook-failed", HOOK_FAILED},
};

static bool is_word(struct str s, const char *word)
{
	size_t i = 0;
	while (i < s.len && word[i] && char_lower(s.ptr[i]) == word[i])
		i++;
	return i == s.len && !word[i];
}

static bool hook_event_parse(struct str name, enum hook_event *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		if (is_word(name, events[i].name)) {
			*ret = events[i].event;
			return true;
		}
	}
	return false;
}

const char *hook_event_name(enum hook_event event)
{
	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		if (events[i].event == event)
			return events[i].name;
	return "";
}

const char *hook_policy_name(enum hook_policy policy)
{
	for (size_t i = 0; i < ARRAY_LEN(policies); i++)
		if (policies[i].policy == policy)
			return policies[i].name;
	return "";
}

static unsigned read_policies(const struct manifest_head *head, const char *annotation)
{
	const struct value *v = vmap_getc(head->annotations, annotation);
	struct str rest = v ? value_text(*v) : STR_NONE, part;
	unsigned set = 0;
	while (str_next(&rest, ',', &part))
		for (size_t i = 0; i < ARRAY_LEN(policies); i++)
			if (is_word(str_trim(part), policies[i].name))
				set |= policies[i].policy;
	return set;
}

static int read_weight(const struct manifest_head *head)
{
	const struct value *v = vmap_getc(head->annotations, "helm.sh/hook-weight");
	int64_t weight;
	struct str s = v ? value_text(*v) : STR("0");
	if (str_has_prefix(s, STR("+")) && s.len > 1 && s.ptr[1] != '-')
		s = str_skip(s, 1);
	if (!str_parse_i64(s, &weight) || weight < INT32_MIN || weight > INT32_MAX)
		return 0;
	return (int)weight;
}

int hook_read(const struct manifest_head *head, struct hook *ret, struct str *ret_event)
{
	const struct value *v = vmap_getc(head->annotations, "helm.sh/hook");
	struct hook h = {.kind = head->kind,
			 .name = head->name,
			 .api_version = head->api_version,
			 .ns = head->ns};
	if (!v)
		return 0;
	struct str rest = value_text(*v), part;
	bool some = false;
	while (str_next(&rest, ',', &part)) {
		enum hook_event event;
		some = true;
		if (!hook_event_parse(str_trim(part), &event)) {
			*ret_event = part;
			return -E_UNSUPPORTED;
		}
		h.events |= event;
		if (h.n_order < HOOK_EVENTS_MAX)
			h.order[h.n_order++] = event;
	}
	if (!some) {
		*ret_event = STR("");
		return -E_UNSUPPORTED;
	}
	h.weight = read_weight(head);
	h.delete_policies = read_policies(head, "helm.sh/hook-delete-policy");
	h.log_policies = read_policies(head, "helm.sh/hook-output-log-policy");
	*ret = h;
	return 1;
}

unsigned hook_policies(const struct hook *h)
{
	return h->delete_policies ? h->delete_policies : HOOK_BEFORE_CREATION;
}

int hook_cmp(const struct hook *a, const struct hook *b)
{
	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	int r = str_cmp(a->name, b->name);
	return r ? r : order_install_cmp(a->kind, b->kind, TMPL_PROFILE_4_1);
}
