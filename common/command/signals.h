/* SPDX-License-Identifier: MIT */
/* signals: Ctrl-C -> a flag; closed pipes and the limit of file sizes -> errors of write(). */
#ifndef COMMAND_SIGNALS_H
#define COMMAND_SIGNALS_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * After SIGINT, SIGTERM or SIGHUP command_was_interrupted() is true and the
 * program ends with what it has; one that comes more than a second later
 * kills.  Under nohup SIGHUP stays ignored.
 */
void command_catch_interrupts(void);
int command_was_interrupted(void);

/* SIGPIPE and SIGXFSZ become errors of write(). */
void command_ignore_write_signals(void);

/* In a child that becomes another program. */
void command_restore_write_signals(void);

/* Returns after `milliseconds`, or when a signal comes. */
void command_pause(int milliseconds);

#ifdef __cplusplus
}
#endif

#endif /* COMMAND_SIGNALS_H */
