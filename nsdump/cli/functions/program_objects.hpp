// SPDX-License-Identifier: MIT
// cli: a program, or a process -> the ELF files that its code is in.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "cli/functions/elf_functions.hpp"

namespace nsdump
{
// The program's own file first.  Throws TraceError.
std::vector<ElfObject> objects_of_program(const std::string &program);
std::vector<ElfObject> objects_of_process(pid_t pid);
} // namespace nsdump
