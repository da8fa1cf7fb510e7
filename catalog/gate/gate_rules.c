/* gate_rules.c: the rules' names, who may waive them, and the way out of each. */
#include <assert.h>
#include <string.h>

#include "catalog/gate/gate_internal.h"

#define FIX_OBJECTS "change the objects first, or waive the rule for this path"

/* clang-format off */
static const struct gate_rule rules[] = {
	{"ResourceDropped",      WAIVE_RESOURCE, "migrate to a version that stays, or upgrade with --accept-dropped"},
	{"VersionUnserved",      WAIVE_RESOURCE, "move clients to another version, or waive the rule"},
	{"VersionRemoved",       WAIVE_RESOURCE, "move clients to another version, or waive the rule"},
	{"StoredVersionRemoved", WAIVE_NEVER,    "rewrite the objects in a version that stays: alm crd migrate"},
	{"ScopeChanged",         WAIVE_NEVER,    "a new kind is needed: the scope is immutable"},
	{"KindChanged",          WAIVE_NEVER,    "a new resource is needed: the kind is immutable"},
	{"StorageMoved",         WAIVE_NEVER,    ""},
	{"ConversionAdded",      WAIVE_RESOURCE, "the converter is switched on when it answers"},
	{"ConversionRemoved",    WAIVE_RESOURCE, "migrate the objects to one version first"},
	{"CrossVersion",         WAIVE_PATH,     "add the field to the version, or use a converter"},
	{"SubresourceRemoved",   WAIVE_RESOURCE, "keep the subresource"},
	{"SubresourceAdded",     WAIVE_RESOURCE, "controllers must write through the subresource from now on"},
	{"SelectableRemoved",    WAIVE_RESOURCE, "change the clients that select by the field"},
	{"FieldRemoved",         WAIVE_PATH,     "keep the field, or remove it from the objects first"},
	{"TypeChanged",          WAIVE_PATH,     FIX_OBJECTS},
	{"RequiredAdded",        WAIVE_PATH,     "give the field a default, or set it in the objects first"},
	{"EnumNarrowed",         WAIVE_PATH,     FIX_OBJECTS},
	{"DefaultChanged",       WAIVE_PATH,     "objects that lack the field read differently from now on"},
	{"BoundTightened",       WAIVE_PATH,     FIX_OBJECTS},
	{"PatternChanged",       WAIVE_PATH,     FIX_OBJECTS},
	{"FormatChanged",        WAIVE_PATH,     FIX_OBJECTS},
	{"NullableRemoved",      WAIVE_PATH,     FIX_OBJECTS},
	{"CompositionNarrowed",  WAIVE_PATH,     FIX_OBJECTS},
	{"MapNarrowed",          WAIVE_PATH,     "declare the keys, or remove them from the objects first"},
	{"ListTypeChanged",      WAIVE_PATH,     "ownership under server-side apply changes"},
	{"CELChanged",           WAIVE_PATH,     FIX_OBJECTS},
	{"LiveObjectInvalid",    WAIVE_RESOURCE, "change the object first"},
	{"KeywordUnknown",       WAIVE_PATH,     "the gate does not know what the keyword does"},
	{"ServerRefused",        WAIVE_NEVER,    "correct the definition"},
	{"LiveCheckIncomplete",  WAIVE_NEVER,    "it is tried again"},
};
/* clang-format on */

const struct gate_rule *gate_rule(const char *name)
{
	const struct gate_rule *found = NULL;
	for (size_t i = 0; i < ARRAY_LEN(rules) && !found; i++)
		if (strcmp(rules[i].name, name) == 0)
			found = &rules[i];
	assert(found);
	return found;
}

size_t gate_rules(const struct gate_rule **ret)
{
	*ret = rules;
	return ARRAY_LEN(rules);
}
