// SPDX-License-Identifier: MIT
// The measurements of a rival -> its line for the table, or why there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rival
{
struct Cost {
    int batch = 0;
    std::vector<double> event, clock; // batch means in ticks, minus those of the bare loop
    std::vector<double> event_2n_less_n;
    std::vector<double> empty, bare; // what was subtracted
    uint64_t calls = 0;              // of the event, including warm-up
};

struct Rival {
    std::string figure, name;
    std::string left; // what remains in the user's figures, or for the user to do
    std::string note;
    int events_per_call = 1;
};

// `arrived`: events in the rival's own output; nullopt if it writes none, or if they are counted
// afterwards.
void print(const Rival &rival, const Cost &cost, std::optional<uint64_t> arrived = {});
void print_skipped(const std::string &figure, const std::string &reason);

// Ends the program, because it cannot run on this machine.
[[noreturn]] void skip(const std::string &reason);
} // namespace rival
