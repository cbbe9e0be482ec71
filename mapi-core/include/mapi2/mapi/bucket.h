/* SPDX-License-Identifier: MIT */
/* BUCKET's result under the name that programs of MAPI 2 use. */
#ifndef MAPI_BUCKET_H
#define MAPI_BUCKET_H

#include "mapi.h"

/* As mapi_bucket_t. */
struct bucket_data {
    unsigned long long timestamp;
    unsigned long long data;
};

#endif /* MAPI_BUCKET_H */
