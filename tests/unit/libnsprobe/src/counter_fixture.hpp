// SPDX-License-Identifier: MIT
// A thread's counters without a PMU: `rdpmc` faults, and a handler emulates the counter, so the
// library's own instructions run.
#pragma once

#include <csignal>
#include <cstring>
#include <functional>

#include <ucontext.h>
#include <unistd.h>

#include "support/catch.hpp"

extern "C" {
#include "counters/counters.h"
#include "writer/counted_block.h"
}

struct StandIn {
    uint32_t last_index = ~0u;
    int reads = 0;
    std::function<uint64_t(int read)>
        value; // low 32 and high 32 bits, as the instruction returns them

    uint64_t next(uint32_t index)
    {
        last_index = index;
        return value(reads++);
    }
};
inline StandIn stand_in;

// read() on the counter returns whatever the pipe holds.
struct FakeFile {
    FakeFile() { REQUIRE(pipe(ends) == 0); }
    ~FakeFile()
    {
        close(ends[0]);
        if (ends[1] >= 0)
            close(ends[1]);
    }
    void put(uint64_t value, uint64_t enabled, uint64_t running, uint64_t id = 0)
    {
        const uint64_t answer[4] = {value, enabled, running, id};
        REQUIRE(write(ends[1], answer, sizeof(answer)) == sizeof(answer));
    }
    void end() // a pinned counter that has been descheduled reads nothing
    {
        close(ends[1]);
        ends[1] = -1;
    }
    int ends[2];
};

class Protocol
{
public:
    Protocol()
    {
        struct sigaction action = {};
        action.sa_sigaction = answer;
        action.sa_flags = SA_SIGINFO | SA_NODEFER; // a value may come from a nested probe
        sigaction(SIGSEGV, &action, &before_);
        stand_in = {};
        for (auto &page : pages) {
            std::memset(&page, 0, sizeof(page));
            page.cap_user_rdpmc = 1;
            page.pmc_width = 48;
        }
        set_kinds(1);
        nsp_thread.counters = &thread;
    }
    ~Protocol()
    {
        nsp_thread.counters = nullptr;
        sigaction(SIGSEGV, &before_, nullptr);
    }
    void set_kinds(uint32_t kinds)
    {
        thread.count = 1;
        thread.counter[0].kinds = kinds;
        for (uint32_t kind = 0; kind < kinds; ++kind) {
            thread.counter[0].page[kind] = &pages[kind];
            thread.counter[0].fd[kind] = files[kind].ends[0];
        }
    }
    // `count` counters of one kind; the assembly may read them, too.
    void set_count(uint32_t count)
    {
        thread.count = count;
        for (uint32_t i = 0; i < count; ++i) {
            thread.counter[i] = {1, {files[i].ends[0]}, {}, {&pages[i]}};
            nsp_thread.counter[i] = {};
            nsp_thread.counter[i].page = &pages[i];
        }
        nsp_counted_forget();
        nsp_thread.generation = nsp_thread.registers_of = nsp_session_generation;
    }
    int read() { return nsp_rdpmc_read(&word, 1); }

    uint64_t word = 0;
    perf_event_mmap_page pages[NSLICE_MAX_COUNTERS];
    FakeFile files[NSLICE_MAX_COUNTERS];
    nsp_perf_thread thread{};

private:
    static void answer(int, siginfo_t *, void *context)
    {
        auto *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
        const auto *code = reinterpret_cast<const unsigned char *>(registers[REG_RIP]);
        if (code[0] != 0x0f || code[1] != 0x33) {
            std::signal(SIGSEGV, SIG_DFL);
            return;
        }
        const uint64_t value = stand_in.next(uint32_t(registers[REG_RCX]));
        registers[REG_RAX] = static_cast<greg_t>(value & 0xffffffff);
        registers[REG_RDX] = static_cast<greg_t>(value >> 32);
        registers[REG_RIP] += 2;
    }

    struct sigaction before_ = {};
};
