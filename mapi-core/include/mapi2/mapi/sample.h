/* SPDX-License-Identifier: MIT */
/* SAMPLE: its argument. */
#ifndef MAPI_SAMPLE_H
#define MAPI_SAMPLE_H

#define PERIODIC 2
#define PROBABILISTIC 3

#endif /* MAPI_SAMPLE_H */
