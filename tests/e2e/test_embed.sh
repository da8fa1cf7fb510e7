#!/bin/bash
# The pipeline of `alm run` as a library (L29 of capabilities.md): a program that knows the installed headers and libalm.a alone.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
up_start
make -s BUILD="$BUILD" DESTDIR="$dir/root" PREFIX=/usr install-lib >"$dir/make" 2>&1
is "make install-lib" 0 "$?"
flags=$(PKG_CONFIG_PATH=$dir/root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dir/root pkg-config --cflags alm)
has "pkg-config knows where the headers are" "$dir/root/usr/include/alm" "$flags"
mkdir "$dir/elsewhere"
cp tests/embed/embed.c "$dir/elsewhere/"
libs=$(PKG_CONFIG_PATH=$dir/root/usr/lib/pkgconfig pkg-config --libs-only-l alm)
# shellcheck disable=SC2086
code "L29 the program builds with the headers and libalm.a" 0 "" \
	sh -c "cd '$dir/elsewhere' && ${CC:-gcc} ${SANITIZE:+-fsanitize=$SANITIZE} -std=gnu17 -D_GNU_SOURCE $flags embed.c -L'$dir/root/usr/lib' $libs -o embed"
code "L29 it runs the pipeline" 0 "files: rolled out" "$dir/elsewhere/embed" "$KUBECONFIG"
is "  the object is there, with the marks of the unit" embed "$(k get configmap embedded -o jsonpath="{.metadata.labels.app\\.coreos\\.com/bundle}")"
before=$(k get configmap embedded -o jsonpath='{.metadata.resourceVersion}')
code "  again" 0 "" "$dir/elsewhere/embed" "$KUBECONFIG"
is "  writes nothing" "$before" "$(k get configmap embedded -o jsonpath='{.metadata.resourceVersion}')"
code "  a kubeconfig that is none" 2 "failed: " "$dir/elsewhere/embed" /no/such
finish
