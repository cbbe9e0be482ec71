/* SPDX-License-Identifier: MIT */
/* Sites of all loaded objects: name and place -> slice id in the current session. */
#ifndef NSP_SITES_H
#define NSP_SITES_H

#include <stddef.h>
#include <stdio.h>

#include "common/thin/nesting.h"
#include "session/shm.h"

/* Defined next to the constructor that opens the session of the environment (session.c). */
extern const char nsp_session_start_up;

/*
 * Gives every known site an id in the session and announces it; later sites are announced as they
 * are registered.
 */
void nsp_sites_publish(const struct nsp_shm_map *map);

/* 0, or -errno with the reason in nsp_last_error(): sites could not be turned on now. */
int nsp_sites_check(void);

/*
 * Turns the sites that the session's rules select on in this mode, or all off; sites registered
 * later are treated likewise.  A probe that
 * is being executed meanwhile may still write its record.
 */
void nsp_sites_switch(uint32_t mode);

/*
 * Replaces the session's rules in this process.  Slices that are open have no STOP if they are
 * turned off.  Returns 0 or -errno with the reason in nsp_last_error(); -ENOENT: no session.
 */
int nsp_sites_select(const char *rules);

/* The session's rules as they are now, at `to` with room for NSLICE_SESSION_SLICES_TEXT. */
void nsp_sites_copy_rules(char *to);

/*
 * A chunk's sites of the kernel in the same session: the rules apply to their names, too, and
 * reports of unmatched patterns know them.  Any thread.
 */
void nsp_sites_take_kernel(const void *payload, uint32_t bytes);

/* Index of the name of this id's slice or mark, below NSP_THIN_NAMES; -1: a unit, or none.  Any
 * thread. */
int nsp_sites_name_of(uint16_t id);

/* Changes with the set of sites, and with the rules.  Any thread. */
uint32_t nsp_sites_generation(void);

/*
 * Switches the sites on but for those with off[index of their name].  Gives the ids that are off
 * now and would be on otherwise, ascending.  Returns their number; if it is more than `room`, some
 * are missing, or the code of others cannot be changed.
 */
size_t nsp_sites_thin(const uint8_t *off, uint16_t *ids, size_t room);

/*
 * Prints which patterns of the rules matched no slice or mark of the last session.  The caller sees
 * to it that no other begins meanwhile.
 */
void nsp_sites_report_unmatched(FILE *to);

/* The same for the session's rules as they are now, as text; what does not fit is cut off. */
void nsp_sites_describe_unmatched(char *text, size_t bytes);

/* The session has ended: later sites wait for the next one. */
void nsp_sites_withdraw(void);

/* Around fork(): the child must not inherit tables that another thread was changing. */
void nsp_sites_before_fork(void);
void nsp_sites_after_fork(void);

/* In a child of fork() that does not participate: later sites are not announced. */
void nsp_sites_forget_session(void); /* in both */

#endif /* NSP_SITES_H */
