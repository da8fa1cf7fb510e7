#include "tests/sim/faults.h"

#include <string.h>

#include "alm/base/str.h"

static const struct {
	const char *name;
	unsigned per_mille;
} table[] = {
#define X(id, name, odds) {name, odds},
	FAULTS(X)
#undef X
};

const char *fault_name(enum fault_id id)
{
	return table[id].name;
}

bool faults_any(const struct faults *f)
{
	bool any = false;
	for (size_t i = 0; i < FAULTS_N; i++)
		any = any || f->per_mille[i];
	return any;
}

bool faults_move_clocks(const struct faults *f)
{
	return f->per_mille[FAULT_CLOCK_JUMP] || f->per_mille[FAULT_CLOCKS_APART];
}

static bool strikes_by(struct faults *f, struct prng *prng, enum fault_id id)
{
	/* The draw is made even when the answer is known: turning one fault off leaves the others'
	 * draws where they were. */
	bool strikes = prng_chance(prng, f->per_mille[id]);
	if (!f->on || !strikes)
		return false;
	f->n[id]++;
	return true;
}

bool fault_strikes(struct faults *f, enum fault_id id)
{
	return strikes_by(f, &f->prng, id);
}

bool fault_strikes_event(struct faults *f, enum fault_id id)
{
	return strikes_by(f, &f->events, id);
}

bool fault_strikes_later(struct faults *f, enum fault_id id)
{
	return strikes_by(f, &f->later, id);
}

bool fault_strikes_answer(struct faults *f, enum fault_id id)
{
	return strikes_by(f, &f->answers, id);
}

static int parse_point(struct str name, struct str at, struct fault_point *point, struct error *err)
{
	static const struct {
		const char *name;
		int what;
	} points[] = {
		{"crash-before", POINT_CRASH_BEFORE},
		{"crash-after", POINT_CRASH_AFTER},
		{"reply-lost", POINT_REPLY_LOST},
		{"409", POINT_409},
		{"500", POINT_500},
		{"duplicate", POINT_DUPLICATE},
		{"revoked", POINT_REVOKED},
	};
	uint64_t n;
	if (at.len < 2 || (at.ptr[0] != 'w' && at.ptr[0] != 'c') ||
	    !str_parse_u64(str_skip(at, 1), &n) || n == 0)
		return error_set(err, E_USAGE, "fault point %.*s: want wN or cN", STR_ARG(at));
	for (size_t i = 0; i < ARRAY_LEN(points); i++) {
		if (!str_is(name, points[i].name))
			continue;
		point->what = points[i].what;
		point->at_commit = at.ptr[0] == 'c';
		point->n = n;
		return 0;
	}
	return error_set(err, E_USAGE, "no fault %.*s has points", STR_ARG(name));
}

int faults_parse(const char *text, struct faults *f, struct fault_point *point, struct error *err)
{
	struct str name, at;
	if (str_cut(str_of(text), '@', &name, &at))
		return parse_point(name, at, point, err);
	if (strcmp(text, "none") == 0)
		return 0;
	bool known = false;
	for (size_t i = 0; i < FAULTS_N; i++) {
		bool all = strcmp(text, "all") == 0 && i != FAULT_ANSWER_HELD; /* by name alone */
		if (!all && strcmp(text, table[i].name) != 0)
			continue;
		f->per_mille[i] = table[i].per_mille;
		known = true;
	}
	return known ? 0 : error_set(err, E_USAGE, "no fault %s", text);
}
