/*
 * yaml_plain: what a plain scalar is to Go's yaml.v2 (YAML 1.1): the words, numbers and dates that
 * are no strings.
 */
#ifndef INSTALLERS_FORMAT_YAML_PLAIN_H
#define INSTALLERS_FORMAT_YAML_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "alm/base/str.h"

enum yaml_plain_type {
	YAML_PLAIN_STR,
	YAML_PLAIN_NULL,
	YAML_PLAIN_BOOL,
	YAML_PLAIN_INT,
	YAML_PLAIN_FLOAT,
	YAML_PLAIN_TIME,
	YAML_PLAIN_BINARY
};

/* A scalar as Go's decoder sees it: ints keep 64 bits until they become JSON. */
struct yaml_plain {
	enum yaml_plain_type type;
	bool b, is_unsigned;
	int64_t i;
	uint64_t u;
	double f;
	struct str s;
};

/* Into *ret, which holds a string before and stays one if s is nothing else (false). */
bool yaml_plain_resolve(struct str s, struct yaml_plain *ret);
bool yaml_plain_is_date(struct str s);

#endif
