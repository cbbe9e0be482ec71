// SPDX-License-Identifier: MIT
// count_names: a function whose result is a list of counts -> the names of the counts.
#include "count_names.hpp"

#include <cstdint>
#include <iterator>

#include <mapi/mapi.h>

namespace mapi_flow
{
namespace
{
using Name = std::string_view;

// Member names of the structs in <mapi/results.h>.
constexpr Name kAnonymize[] = {"packets",      "fields",   "absent",  "cut_fields",
                               "lost_packets", "given_up", "no_room", "unknown_checksums",
                               "not_kept"};
constexpr Name kCooking[] = {"passed_packets", "packets",        "bytes",         "streams",
                             "early_ends",     "cooked_packets", "cooked_bytes",  "other_bytes",
                             "repeated_bytes", "holes",          "missing_bytes", "cut_bytes",
                             "fragments",      "lost_fragments", "lost_packets",  "ignored_packets",
                             "ignored_bytes",  "early_bytes"};
constexpr Name kUncook[] = {"passed_packets", "cooked_packets", "segments", "lost_packets"};
constexpr Name kInject[] = {"sent", "no_room", "cut", "other_links", "refused", "refused_errno"};
constexpr Name kConnection[] = {"packets", "untracked", "connections", "evicted",
                                "wrong_checksums"};
constexpr Name kRateFilter[] = {"addresses", "evicted"};
constexpr Name kTrack[] = {"flows", "matched", "unknown", "forgotten", "not_judged"};

// Fails to compile when a struct has a member without a name here.
static_assert(std::size(kAnonymize) * sizeof(uint64_t) == sizeof(mapi_anonymize_t));
static_assert(std::size(kCooking) * sizeof(uint64_t) == sizeof(mapi_cooking_t));
static_assert(std::size(kUncook) * sizeof(uint64_t) == sizeof(mapi_uncook_t));
static_assert(std::size(kInject) * sizeof(uint64_t) == sizeof(mapi_inject_t));
static_assert(std::size(kConnection) * sizeof(uint64_t) == sizeof(mapi_connections_t));
static_assert(std::size(kRateFilter) * sizeof(uint64_t) == sizeof(mapi_rate_filter_t));
static_assert(std::size(kTrack) * sizeof(uint64_t) == sizeof(mapi_track_t));

struct Counts {
    Name function;
    std::span<const Name> names;
};

constexpr Counts kFunctions[] = {
    {"ANONYMIZE", kAnonymize},    {"ANONYMIZEIP", kAnonymize}, {"COOKING", kCooking},
    {"UNCOOK", kUncook},          {"INJECT", kInject},         {"CONNECTION", kConnection},
    {"RATE_FILTER", kRateFilter}, {"TRACK", kTrack},           {"TRACK_FTP", kTrack},
    {"TRACK_DC", kTrack},         {"TRACK_GNUTELLA", kTrack},  {"TRACK_EDONKEY", kTrack},
    {"TRACK_TORRENT", kTrack},    {"TRACK_IRC", kTrack},       {"TRACK_SKYPE", kTrack},
    {"TRACK_WEB", kTrack}};
} // namespace

std::span<const std::string_view> count_names(std::string_view function)
{
    for (const Counts &counts : kFunctions) {
        if (counts.function == function)
            return counts.names;
    }
    return {};
}
} // namespace mapi_flow
