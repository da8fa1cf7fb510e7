/* quota: see resource_quota.h. */
#include "alm/io/quota.h"

#include <assert.h>

#include "alm/base/map.h"
#include "alm/base/str.h"

const struct quota_limit quota_limits[N_QUOTAS] = {
#define X(what, user, all, admins) {user, all, admins},
	QUOTAS(X)
#undef X
};

struct quota {
	const struct quota_limit *limits;
	struct map *users;
	size_t ordinary[N_QUOTAS], admins[N_QUOTAS];
};

static void user_free(void *p)
{
	struct quota_user *u = p;
	xfree(u->key);
	xfree(u);
}

struct quota *quota_new(const struct quota_limit *limits)
{
	struct quota *q = xcalloc(1, sizeof(*q));
	q->limits = limits ? limits : quota_limits;
	q->users = map_new(user_free);
	return q;
}

void quota_free(struct quota *q)
{
	if (!q)
		return;
	assert(map_count(q->users) == 0);
	map_free(q->users);
	xfree(q);
}

/* The first character tells administrators from others. */
static char *key_of(const char *name, bool is_admin)
{
	size_t n = strlen(name);
	char *key = xmalloc(n + 2);
	key[0] = is_admin ? '*' : '-';
	memcpy(key + 1, name, n + 1);
	return key;
}

struct quota_user *quota_user_ref(struct quota *q, const char *name, bool is_admin)
{
	CLEANUP(xfreep) char *key = key_of(name, is_admin);
	struct quota_user *u = map_get(q->users, key);
	if (!u) {
		u = xcalloc(1, sizeof(*u));
		u->key = STEAL(key);
		u->is_admin = is_admin;
		map_set(q->users, u->key, u);
	}
	u->refs++;
	return u;
}

void quota_user_unref(struct quota *q, struct quota_user *u)
{
	assert(u->refs > 0);
	if (--u->refs > 0)
		return;
	for (int i = 0; i < N_QUOTAS; i++)
		assert(u->held[i] == 0);
	map_del(q->users, u->key);
}

bool quota_user_is(const struct quota_user *u, const char *name, bool is_admin)
{
	return u->is_admin == is_admin && cstr_eq(u->key + 1, name);
}

static enum quota_verdict judge(const struct quota *q, const struct quota_user *u,
				enum quota_what what, size_t more)
{
	const struct quota_limit *l = &q->limits[what];
	if (u->is_admin)
		return q->ordinary[what] + q->admins[what] + more > l->all + l->admins
			       ? QUOTA_ALL_FULL
			       : QUOTA_OK;
	if (u->held[what] + more > l->user)
		return QUOTA_USER_FULL;
	return q->ordinary[what] + more > l->all ? QUOTA_ALL_FULL : QUOTA_OK;
}

enum quota_verdict quota_take(struct quota *q, struct quota_user *u, enum quota_what what, size_t n)
{
	bool first = what == QUOTA_ANSWER_BYTES && u->held[what] == 0;
	enum quota_verdict v = first ? QUOTA_OK : judge(q, u, what, n);
	if (v == QUOTA_OK)
		quota_add(q, u, what, n);
	return v;
}

void quota_add(struct quota *q, struct quota_user *u, enum quota_what what, size_t n)
{
	u->held[what] += n;
	*(u->is_admin ? &q->admins[what] : &q->ordinary[what]) += n;
}

void quota_give(struct quota *q, struct quota_user *u, enum quota_what what, size_t n)
{
	size_t *sum = u->is_admin ? &q->admins[what] : &q->ordinary[what];
	assert(u->held[what] >= n && *sum >= n);
	u->held[what] -= n;
	*sum -= n;
}

enum quota_verdict quota_check(const struct quota *q, const struct quota_user *u,
			       enum quota_what what)
{
	return judge(q, u, what, 0);
}

const char *quota_name(enum quota_what what)
{
	static const char *const names[N_QUOTAS] = {
		"connections",       "requests",         "watches",
		"bytes of requests", "bytes of answers", "bytes of answers",
	};
	return names[what];
}
