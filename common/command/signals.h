/* SPDX-License-Identifier: MIT */
/* signals: Ctrl-C -> a flag; closed pipes and the file size limit -> errors of write(). */
#ifndef COMMAND_SIGNALS_H
#define COMMAND_SIGNALS_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * After SIGINT, SIGTERM or SIGHUP, command_was_interrupted() is true and the
 * program should finish with the results so far; a further signal more than a
 * second later kills it.  Under nohup, SIGHUP stays ignored.
 */
void command_catch_interrupts(void);
int command_was_interrupted(void);

/*
 * From here on SIGHUP asks to read files again, SIGUSR1 to show what there is
 * now, and command_catch_interrupts() leaves them alone; also under nohup.
 */
void command_catch_requests(void);
/* Whether there was one since the last call. */
int command_take_reload_request(void);
int command_take_show_request(void);

/* Turns SIGPIPE and SIGXFSZ into errors of write(). */
void command_ignore_write_signals(void);

/* For a child process before exec. */
void command_restore_write_signals(void);

/* Returns after `milliseconds` or when a signal arrives. */
void command_pause(int milliseconds);

#ifdef __cplusplus
}
#endif

#endif /* COMMAND_SIGNALS_H */
