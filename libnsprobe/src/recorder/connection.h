/* SPDX-License-Identifier: MIT */
/* Process id -> a connection to that process's listener, and its answer to a request. */
#ifndef NSP_CONNECTION_H
#define NSP_CONNECTION_H

/*
 * Connects to a process's listener.  For the error: what it does not accept, and what makes a
 * process accept it.  Returns a descriptor, or -errno with the reason in nsp_last_error().
 */
int nsp_connect_to_process(int pid, const char *what, const char *remedy);

/* Waits for the answer.  Returns 0, or -errno with the reason in nsp_last_error(). */
int nsp_await_answer(int connection, int pid);

#endif /* NSP_CONNECTION_H */
