// SPDX-License-Identifier: MIT
// Descendants: processes started by this one, or itself -> the BPF programs and maps that they have
// open.  For who may not open those of all processes by their ids.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

namespace nsbpf
{
// One of the process's descriptors.
struct OpenObject {
    pid_t process;
    int number;
};

// By the kernel's ids.
struct OpenObjects {
    std::map<uint32_t, OpenObject> programs, maps;
};

OpenObjects objects_of_descendants();
OpenObjects own_objects();
// An own descriptor of the object; negative: not possible (errno).
int open_object(const OpenObject &object);
} // namespace nsbpf
