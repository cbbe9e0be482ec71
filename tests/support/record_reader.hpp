// SPDX-License-Identifier: MIT
// Reads a trace file into memory and lists all violations of FORMAT.md; independent of the decoder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nsprobe/file.h>

namespace test_support
{
struct Record {
    uint64_t ticks;
    uint32_t cpu;
    uint32_t thread;
    uint16_t slice;
    uint8_t kind;
    uint8_t words;
    uint64_t word[NSLICE_MAX_WORDS];
};

struct Site {
    std::string name, file;
    uint32_t line;
    uint8_t kind;
};

struct Calibration {
    nslice_file_calibration head;
    std::vector<nslice_calibration_entry> entries;
};

struct Epoch {
    uint64_t begin_ticks, end_ticks;
    uint32_t pid;
    std::vector<uint16_t> off;
};

struct Trace {
    std::vector<Record> records; // in file order: commit order within a CPU
    std::map<uint16_t, Site> sites;
    std::map<std::string, std::string> info;
    std::vector<Calibration> calibrations;
    std::vector<Epoch> epochs;
    std::vector<nslice_file_footer_cpu> cpus;
    nslice_file_footer footer{};
    bool has_footer = false;
    std::vector<std::string> problems; // violations of the format, including the loss equation

    uint64_t issued() const;
    uint64_t drained() const;
    uint64_t lost() const;
    uint64_t lost(nslice_lost cause) const;
    const std::string &name(const Record &record) const; // "" if the site is unknown
    // All problems in one line, "" if there are none: for REQUIRE(trace.complaint() == "").
    std::string complaint() const;
};

Trace read_trace(const std::filesystem::path &path);
} // namespace test_support
