/* golden: the recorded answers of a real kube-apiserver (tests/golden/kube-api). */
#ifndef TESTS_LIB_GOLDEN_H
#define TESTS_LIB_GOLDEN_H

#include "alm/obj/obj.h"

/* The recording of number n: {n, name, req, status, hdr, resp}; owned. Fails the test if absent. */
struct obj *golden_case(int n);

#endif
