// SPDX-License-Identifier: MIT
// What was measured of a rival -> its line for the table, or why there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rival
{
struct Cost {
    int batch = 0;
    std::vector<double> event, clock; // batch means in ticks, without the bare loop's
    std::vector<double> event_2n_less_n;
    std::vector<double> empty, bare; // what was taken out
    std::uint64_t calls = 0;         // of the event, warm ones too
};

struct Rival {
    std::string figure, name;
    std::string left; // what stays in the user's figures, or stays for the user to do
    std::string note;
    int events_per_call = 1;
};

// `arrived`: events found in the rival's own output; none where it writes none, or where they are counted afterwards.
void print(const Rival &rival, const Cost &cost, std::optional<std::uint64_t> arrived = {});
void print_skipped(const std::string &figure, const std::string &reason);

// Ends the program: it cannot run on this machine.
[[noreturn]] void skip(const std::string &reason);
} // namespace rival
