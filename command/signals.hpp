// SPDX-License-Identifier: MIT
// signals: Ctrl-C -> a flag; closed pipes and the limit of file sizes -> errors of write().
#pragma once

namespace command
{
// After SIGINT, SIGTERM or SIGHUP was_interrupted() is true and the program ends with what it has; one that comes more
// than a second later kills.  Under nohup SIGHUP stays ignored.
void catch_interrupts();
bool was_interrupted();

// In a child that becomes another program.
void restore_ignored_signals();

// Returns after `milliseconds`, or when a signal comes.
void pause_for(int milliseconds);
} // namespace command
