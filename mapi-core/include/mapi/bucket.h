/* SPDX-License-Identifier: MIT */
/* BUCKET's result by the name that programs of MAPI 2 know. */
#ifndef MAPI_BUCKET_H
#define MAPI_BUCKET_H

#include "mapi.h"

/* A macro, because they say `struct bucket_data`. */
#define bucket_data mapi_bucket

#endif /* MAPI_BUCKET_H */
