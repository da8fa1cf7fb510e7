/*
 * unit_fixture: a unit of ConfigMaps c0, c1 .. on a view of plain tables, run pass by pass:
 *
 *	struct unit_fixture x;
 *	unit_fixture_init(&x, 2);
 *	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
 *	unit_fixture_run(&x, 1);	it has one object now
 *	unit_fixture_release(&x);
 */
#ifndef TESTS_LIB_UNIT_FIXTURE_H
#define TESTS_LIB_UNIT_FIXTURE_H

#include "alm/controllers/unit/unit_side.h"
#include "tests/lib/view_fake.h"

#define UNIT_FIXTURE_KEY "b/i"

struct unit_fixture {
	struct view_fake f;
	struct arena *a;
	struct unit_job job;
	struct unit_side side;
	bool one_off; /* objects are created, never changed */
	bool forced;  /* ... or made anew (switches.h) */
	bool kept;    /* ... or never deleted */
	bool defines; /* it has a definition of their kind, too, which no step writes */
	const char *value;
	const char *ignore; /* the field of objects that somebody else writes; NULL: none */
};

void unit_fixture_init(struct unit_fixture *x, size_t n);
void unit_fixture_release(struct unit_fixture *x);
struct unit *unit_fixture_unit(struct unit_fixture *x, size_t n);
/* One reconcile; its record is what the next one begins with. Returns its state. */
const char *unit_fixture_pass(struct unit_fixture *x);
/* As many as it takes; what is planned is done and read. */
const char *unit_fixture_settle(struct unit_fixture *x);
/* Another attempt, with a unit of n objects. */
const char *unit_fixture_run(struct unit_fixture *x, size_t n);
/* The text of an object; NULL: there is none. */
const char *unit_fixture_map(const struct unit_fixture *x, const char *name);

#endif
