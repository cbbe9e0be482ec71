/* SPDX-License-Identifier: MIT */
/* Sites of all loaded objects: name and place -> slice id in the current session. */
#ifndef NSP_SITES_H
#define NSP_SITES_H

#include "shm.h"

/* Defined next to the constructor that opens the session of the environment (session.c). */
extern const char nsp_session_start_up;

/*
 * Gives every known site an id in the session and announces it; later sites are announced as they
 * are registered.
 */
void nsp_sites_publish(const struct nsp_shm_map *map);

/* The session has ended: later sites wait for the next one. */
void nsp_sites_withdraw(void);

/* Around fork(): the child must not inherit tables that another thread was changing. */
void nsp_sites_before_fork(void);
void nsp_sites_after_fork(void);

/* In a child of fork() that does not participate: later sites are not announced. */
void nsp_sites_forget_session(void); /* in both */

#endif /* NSP_SITES_H */
