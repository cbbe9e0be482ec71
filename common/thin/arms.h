/* SPDX-License-Identifier: MIT */
/* Random numbers -> which names are off in the next epoch, and how long it lasts. */
#ifndef NSLICE_ARMS_H
#define NSLICE_ARMS_H

#include <stdint.h>

#include "nesting.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nsp_arms {
    uint64_t state;    /* of the generator */
    uint32_t permille; /* share of epochs in which something is off */
};

void nsp_arms_seed(struct nsp_arms *arms, uint64_t seed, uint32_t permille);

/*
 * Draws what is off[name] in the next epoch: nothing; or all names from a random level on, so that
 * some epochs have no probe inside a given slice; or one inner name.  Returns 1 if something is.
 * The first two arms alone would not separate the costs of names of one level.
 */
int nsp_arms_draw(struct nsp_arms *arms, const struct nsp_nesting *nesting,
                  uint8_t off[NSP_THIN_NAMES]);

/*
 * Length of an epoch, exponentially distributed so that no period of the program can follow it.
 * The mean grows with the age of the session: the number of epochs, and the trace, stay bounded.
 */
uint64_t nsp_arms_length_ns(struct nsp_arms *arms, uint64_t age_ns);

#ifdef __cplusplus
}
#endif

#endif /* NSLICE_ARMS_H */
