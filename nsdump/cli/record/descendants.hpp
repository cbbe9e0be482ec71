// SPDX-License-Identifier: MIT
// cli: descendants of a program, daemons included -> which of them take part in the recording.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include <nsprobe/recorder.h>

namespace nsdump
{
class Descendants
{
public:
    // Makes orphaned descendants children of this process; construct it before the program starts.
    Descendants();

    // After the program's end: whether to continue recording.  Reports which processes it waits
    // for, again when these have ended and others continue, and finally which ones still run
    // without taking part.  Reports nothing if the recording is ending anyway.
    bool take_part(const nsp_recorder *recorder, double elapsed_s, bool is_ending);
    // Reaps ended processes except `program`, which its owner waits for.
    void reap(pid_t program);
    // Sends SIGTERM to those that take part, as far as take_part() has seen them, once to each.
    // Whether there were any that had not received it: a process that is still daemonizing leaves
    // a child, so call it until the end.
    bool terminate_new();
    // "process 12 (mapid)", or a list of them; empty if there are none.
    std::string names() const;
    // The same while the program runs, itself included.
    std::string names_now(const nsp_recorder *recorder);

private:
    struct Member {
        pid_t pid;
        int part; // enum nsp_part; -errno: not visible
    };

    void look(const nsp_recorder *recorder);
    bool is_reported_alive() const;
    std::vector<Member> with(bool is_part_taken) const;

    std::vector<Member> members_;
    double begin_s_ = -1, next_look_s_ = 0;
    int empty_looks_ = 0;
    std::string seen_; // names at the last scan
    std::vector<Member> reported_;
    std::vector<pid_t> terminated_;
};
} // namespace nsdump
