/* SPDX-License-Identifier: MIT */
/* Sites of all loaded objects: name and place -> slice id of the running session. */
#ifndef NSP_SITES_H
#define NSP_SITES_H

#include "shm.h"

/* Stands beside the constructor that opens the session of the environment (session.c). */
extern const char nsp_session_start_up;

/* Gives every known site an id in the session and announces it; sites that come later are announced as they come. */
void nsp_sites_publish(const struct nsp_shm_map *map);

/* The session is over: later sites wait for the next one. */
void nsp_sites_withdraw(void);

/* Around fork(): the child must not get tables that another thread was just changing. */
void nsp_sites_before_fork(void);
void nsp_sites_after_fork(void);

/* In a child of fork() that takes no part: sites that come are announced to nobody. */
void nsp_sites_forget_session(void); /* in both */

#endif /* NSP_SITES_H */
