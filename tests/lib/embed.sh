#!/bin/sh
# embed.sh FILE...: C arrays of the files' bytes; crds/apptype.yaml is crds_apptype_yaml, NUL-ended.
set -eu
for f in "$@"; do
	name=$(printf '%s' "$f" | tr -c 'a-zA-Z0-9\n' _)
	printf 'extern const char %s[];\nconst char %s[] = {' "$name" "$name"
	od -An -v -td1 "$f" | sed 's/  */,/g; s/^,//; s/$/,/'
	printf '0};\n'
done
