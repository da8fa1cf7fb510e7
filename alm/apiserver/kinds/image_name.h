/* image_name: the name of an image, as distribution's references have it: [HOST[:PORT]/]PATH[:TAG][@DIGEST]. Pure. */
#ifndef ALM_APISERVER_KINDS_IMAGE_NAME_H
#define ALM_APISERVER_KINDS_IMAGE_NAME_H

#include <stdbool.h>

/* "latest", or neither tag nor digest: what is pulled every time. What is no name of an image is not. */
bool image_is_latest(const char *image);

#endif
