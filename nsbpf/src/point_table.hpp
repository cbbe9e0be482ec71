// SPDX-License-Identifier: MIT
// Point table: groups and their points -> programs to load, site chunk, rules.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nslice/bpf_site.h>
#include <nslice/file.h>

#include "programs/points.h"

struct btf;

namespace nsbpf
{
struct Point {
    const char *group;
    const char *group_says;
    uint8_t kind; // enum nslice_kind
    const char *tracepoint;
    const char *slice;
    uint8_t flags;
    const char *says;
};

// By enum nsbpf_point, without the calibration's.
extern const std::array<Point, NSBPF_CALIBRATION> kPoints;

const char *kind_name(uint8_t kind);
// Whether the point's record comes behind another one in its BPF program, if `is_on`, by point, are
// on: then the call of the program is not part of its cost.
bool is_in_program(uint32_t point, const std::vector<bool> &is_on);
// The second word of a point's records, without the thread.  A point has another site, with its own
// id, for records that come behind another one.
uint64_t bits_of(uint32_t point, bool is_in_program = false);
// The same of a site with this number.
uint64_t site_bits(uint16_t number, uint8_t kind);
// Appends a site to a chunk of sites; its lengths are set here.
void append_site(std::string &chunk, nslice_file_site site, const std::string &name,
                 const std::string &file);
// The group of probes in users' programs, which has no points.
constexpr const char *kProgramsGroup = NSLICE_BPF_GROUP;
uint32_t programs_bit();
// Bit of a group in a number with all of them, in the order of NSLICE_GROUPS; throws Refusal for an
// unknown name.
uint32_t parse_groups(const std::string &names);
uint32_t group_bit(const Point &point);
bool is_end(const Point &point);
// Whether one of the groups needs the programs that know the context.
bool keeps_context(uint32_t groups);
// Payload of the chunk of sites: the points of these groups, with all their sites.
std::string site_chunk(uint32_t groups);
bool has_tracepoint(const btf *kernel, const std::string &name);
// If the kernel lacks one end of a slice, the other is not recorded: the slice would never end.
bool has_other_end(const btf *kernel, const Point &point);
// INFO lines "kernel.missing.GROUP=tracepoint,...".
std::string missing_text(const btf *kernel, uint32_t groups);
} // namespace nsbpf
