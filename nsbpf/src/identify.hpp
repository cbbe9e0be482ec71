// SPDX-License-Identifier: MIT
// Identify: a process or thread of this pid namespace -> its number in the initial one.
#pragma once

#include <cstdint>
#include <string>

namespace nsbpf
{
// libbpf prints nothing for this thread meanwhile.  What it prints for others, such as a loader's,
// stays.
class Silence
{
public:
    Silence();
    ~Silence();
    Silence(const Silence &) = delete;
    Silence &operator=(const Silence &) = delete;
};
// Throws: WHAT cannot be done, the error, and the remedy if one is known.
[[noreturn]] void refuse(const std::string &what, int number);
// folder: in /proc.  `otherwise` if that does not exist.  Throws Refusal.
uint32_t identify(const std::string &folder, uint32_t otherwise);
} // namespace nsbpf
