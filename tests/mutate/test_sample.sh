#!/bin/sh
# The fixed sample of make mutate: each of these bugs is put into the product, and its test notices.
case ${BUILD:-build} in *address*)
	echo 'ok 1 - sample # SKIP the normal build shows them'
	echo '1..1'
	exit 0
	;;
esac
exec python3 "$(dirname "$0")/mutate.py" --sample
