/* device_amount_check: see device_amount_check.h. */
#include "alm/apiserver/kinds/device_amount_check.h"

#include <string.h>

#include "alm/apiserver/kinds/address_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/obj/quantity.h"

#define OPTIONS_MAX   10
#define IPS_MAX       16
#define INTERFACE_MAX 256
#define HARDWARE_MAX  128
#define NANOS         1000000000

/* --- amounts --- */

struct amount {
	const char *text; /* NULL: there is none */
	struct quantity q;
};

static struct amount amount_of(const struct obj *v)
{
	struct amount a = {.text = obj_as_string(v)};
	if (a.text && !quantity_read(str_of(a.text), &a.q))
		a.q = (struct quantity){0};
	return a;
}

static bool is_more(const struct amount *a, const struct amount *b)
{
	return a->q.nanos > b->q.nanos;
}

/* In whole units, rounded up: as which Go compares what is there twice, and counts steps. */
static quantity_nanos units(const struct amount *a)
{
	quantity_nanos n = a->q.nanos / NANOS;
	return n + (a->q.nanos > n * NANOS);
}

static void too_large(struct field_errors *e, const char *path, const char *what,
		      const struct amount *a, const struct amount *most)
{
	if (is_more(a, most))
		check_invalid_text(e, path, a->text,
				   arena_fmt(e->arena, "%s is larger than capacity value: %s", what,
					     most->text));
}

/* An option that rounds to the units of one before it stands there twice. */
static void check_twice(struct field_errors *e, const char *path, const struct obj *list)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		struct amount is = amount_of(obj_at(list, i)), was = {0};
		bool again = false;
		for (size_t k = 0; k < i && !again; k++) {
			was = amount_of(obj_at(list, k));
			again = units(&was) == units(&is);
		}
		if (again)
			field_errors_add_text(e, FIELD_DUPLICATE, check_at(e, path, i),
					      arena_fmt(e->arena, "%lld", (long long)units(&is)));
	}
}

static void check_options(struct field_errors *e, const char *path, const struct obj *list,
			  const struct amount *usual, const struct amount *most)
{
	bool found = false;
	for (size_t i = 0; i + 1 < obj_len(list) && !field_errors_full(e); i++) {
		struct amount a = amount_of(obj_at(list, i)), b = amount_of(obj_at(list, i + 1));
		if (is_more(&a, &b))
			check_invalid_text(e, check_at(e, path, i + 1), b.text,
					   "values must be sorted in ascending order");
	}
	size_t n = check_length(e, path, list, OPTIONS_MAX);
	for (size_t i = 0; i < n; i++) {
		struct amount a = amount_of(obj_at(list, i));
		too_large(e, check_at(e, path, i), "option", &a, most);
		found |= a.q.nanos == usual->q.nanos;
	}
	if (n)
		check_twice(e, path, list);
	if (!found)
		check_invalid_text(e, path, usual->text,
				   "default value is not valid according to the requestPolicy");
}

static void check_steps(struct field_errors *e, const char *path, const struct amount *a,
			const struct amount *least, const struct amount *step)
{
	quantity_nanos n = units(step);
	if (!n || (units(a) - units(least)) % n)
		check_invalid_text(
			e, path, a->text,
			arena_fmt(e->arena,
				  "value is not a multiple of a given step (%s) from (%s)",
				  step->text, least->text));
}

static void check_step(struct field_errors *e, const char *path, const struct obj *range,
		       const struct amount *usual, const struct amount *most)
{
	struct amount least = amount_of(obj_get(range, "min")),
		      top = amount_of(obj_get(range, "max")),
		      step = amount_of(obj_get(range, "step")), sum = least;
	char text[QUANTITY_TEXT_MAX];
	if (!step.text)
		return;
	path = check_below(e, path, "step");
	quantity_add(&sum.q, &step.q);
	quantity_print(&sum.q, text);
	if (is_more(&sum, most))
		check_invalid_text(e, path, step.text,
				   arena_fmt(e->arena,
					     "one step %s is larger than capacity value: %s", text,
					     most->text));
	check_steps(e, path, usual, &least, &step);
	if (top.text)
		check_steps(e, path, &top, &least, &step);
}

static void check_range(struct field_errors *e, const char *path, const struct obj *range,
			const struct amount *usual, const struct amount *most)
{
	struct amount least = amount_of(obj_get(range, "min")),
		      top = amount_of(obj_get(range, "max"));
	const char *min_at = check_below(e, path, "min"), *max_at = check_below(e, path, "max");
	if (!least.text) {
		check_required(e, min_at, "required when validRange is defined");
		return;
	}
	too_large(e, min_at, "min", &least, most);
	if (is_more(&least, usual))
		check_invalid_text(e, min_at, usual->text,
				   arena_fmt(e->arena, "default is less than min: %s", least.text));
	if (top.text && is_more(&least, &top))
		check_invalid_text(e, max_at, least.text,
				   arena_fmt(e->arena, "min is larger than max: %s", top.text));
	if (top.text)
		too_large(e, max_at, "max", &top, most);
	if (top.text && is_more(usual, &top))
		check_invalid_text(e, max_at, usual->text,
				   arena_fmt(e->arena, "default is more than max: %s", top.text));
	check_step(e, path, range, usual, most);
}

void check_request_policy(struct field_errors *e, const char *path, const struct obj *capacity)
{
	const struct obj *policy = obj_get(capacity, "requestPolicy");
	const struct obj *options = obj_get(policy, "validValues"),
			 *range = obj_get(policy, "validRange");
	struct amount usual = amount_of(obj_get(policy, "default"));
	struct amount most = amount_of(obj_get(capacity, "value"));
	const char *field = obj_len(options) ? "validValues" : "validRange";
	if (!most.text)
		most.text = "0";
	if (obj_len(options) && range)
		check_forbidden(e, path,
				"exactly one policy can be specified, cannot specify "
				"\"validValues\" and \"validRange\" at the same time");
	else if ((obj_len(options) || range) && !usual.text)
		check_required(e, check_below(e, path, "default"),
			       arena_fmt(e->arena, "required when %s is defined", field));
	else if (obj_len(options))
		check_options(e, check_below(e, path, field), options, &usual, &most);
	else if (range)
		check_range(e, check_below(e, path, field), range, &usual, &most);
}

/* --- networks --- */

static void check_bytes(struct field_errors *e, const char *path, const struct obj *data,
			const char *field, size_t most)
{
	if (strlen(check_text(data, field)) > most)
		check_too_long(e, check_below(e, path, field), most);
}

void check_device_network(struct field_errors *e, const char *path, const struct obj *data)
{
	const struct obj *list = obj_get(data, "ips");
	const char *at = check_below(e, path, "ips");
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	check_bytes(e, path, data, "interfaceName", INTERFACE_MAX);
	check_bytes(e, path, data, "hardwareAddress", HARDWARE_MAX);
	size_t n = check_length(e, at, list, IPS_MAX);
	for (size_t i = 0; i < n; i++)
		if (obj_as_string(obj_at(list, i)))
			check_interface_address(e, check_at(e, at, i),
						obj_as_string(obj_at(list, i)));
	for (size_t i = 0; i < n; i++) {
		const char *text = obj_as_string(obj_at(list, i));
		if (text && check_again(seen, text))
			field_errors_add_text(e, FIELD_DUPLICATE, check_at(e, at, i), text);
	}
}
