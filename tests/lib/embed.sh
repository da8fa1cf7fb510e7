#!/bin/sh
# embed.sh FILE...: what alm/base/carried.h reads, of each file; crds/apptype.yaml is crds_apptype_yaml.
set -eu
echo '#include "alm/base/carried.h"'
for f in "$@"; do
	name=$(printf '%s' "$f" | tr -c 'a-zA-Z0-9\n' _)
	packed=$(mktemp)
	gzip -9nc "$f" >"$packed"
	printf 'extern const struct carried_text %s;\nstatic const unsigned char %s_bytes[] = {' "$name" "$name"
	od -An -v -tu1 "$packed" | sed 's/  */,/g; s/^,//; s/$/,/'
	printf '};\nconst struct carried_text %s = {%s_bytes, %d, %d};\n' "$name" "$name" "$(wc -c <"$packed")" "$(wc -c <"$f")"
	rm "$packed"
done
