/*
 * yaml_scalar: what a plain scalar means in YAML 1.1 as Go's YAML v2 library resolves it, which is
 * how kubectl and Helm read manifests (story.md 12 "Traps", charts.md 8). Pure.
 */
#ifndef ALM_OBJ_YAML_SCALAR_H
#define ALM_OBJ_YAML_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

#include "alm/base/str.h"

enum yaml_scalar_type {
	YAML_STRING,
	YAML_NULL,
	YAML_BOOL,
	YAML_INT,   /* fits int64 */
	YAML_UINT,  /* above int64, fits uint64 */
	YAML_FLOAT, /* finite */
	YAML_INF,   /* .inf, -.inf */
	YAML_NAN,
	YAML_TIMESTAMP, /* a string in JSON, but quoted when written */
};

struct yaml_scalar {
	enum yaml_scalar_type type;
	bool boolean;
	int64_t i;
	uint64_t u;
	double d;
};

struct yaml_scalar yaml_scalar_resolve(struct str plain);
/* Would the text, written plain, be read back as the same string? */
bool yaml_scalar_is_string(struct str text);

#endif
