/* resizing: a write of pods/NAME/resize, by the Pod (kinds/pod_resize.h) and by the node that it is on. */
#ifndef ALM_APISERVER_RESIZING_H
#define ALM_APISERVER_RESIZING_H

struct error;
struct field_errors;
struct mutation;

/* May pods/NAME/resize change what it does? Of other writes nothing is told. */
void resizing_validate(const struct mutation *m, struct field_errors *e);
/* What pods/NAME/resize asks for is not more than the pod's node has. E_FORBIDDEN. */
int resizing_check(struct mutation *m, struct error *err);

#endif
