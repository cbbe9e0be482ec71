// SPDX-License-Identifier: MIT
#include "statistics.hpp"

#include <nlohmann/json.hpp>

#include "common/command/counted.hpp"
#include "common/command/tell.hpp"
#include "time_text.hpp"

namespace sids
{
namespace
{
using Json = nlohmann::ordered_json;

void tell(uint64_t count, const char *what, const char *why)
{
    if (count > 0)
        command::tell("sids: {} {}\n", command::counted(count, what), why);
}
} // namespace

std::string statistics_line(const mapi_stat_t &stats, const Totals &totals, bool is_complete)
{
    const Json line = {{"timestamp", json_time(now_ns())},
                       {"event_type", "stats"},
                       {"stats",
                        {{"packets", stats.ps_recv},
                         {"bytes", stats.bytes_recv},
                         {"rules", totals.rules},
                         {"rules_matched", totals.matched},
                         {"alerts", totals.alerts},
                         {"kernel_drops", stats.drop_kernel},
                         {"interface_drops", stats.ps_ifdrop},
                         {"bad_records", stats.drop_bad_record},
                         {"truncated_records", stats.drop_truncated},
                         {"unread_bytes", stats.unread_bytes},
                         {"buffer_full", stats.drop_buffer_full},
                         {"not_written", stats.drop_not_written},
                         {"link_type", stats.drop_link_type},
                         {"time_jumps", totals.losses.time_jumps},
                         {"unread_headers", totals.losses.unread_headers},
                         {"given_up", totals.losses.given_up},
                         {"connections_evicted", totals.losses.connections_evicted},
                         {"wrong_checksums", totals.losses.wrong_checksums},
                         {"addresses_evicted", totals.losses.addresses_evicted},
                         {"message", stats.message},
                         {"remark", stats.remark},
                         {"is_complete", is_complete}}}};
    return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool have_judged_all(const Losses &losses, bool is_quiet)
{
    if (!is_quiet) {
        tell(
            losses.unread_headers, "time",
            "a rule could not read the headers of a packet: truncated by the capture, malformed or "
            "encrypted");
        tell(losses.time_jumps, "time", "the time of packets went back");
        tell(losses.connections_evicted, "connection",
             "left the table for lack of room: rules with flow or flowbits did not know them any "
             "more");
        tell(losses.wrong_checksums, "packet",
             "had a wrong TCP checksum; flow does not follow such packets (checksums of captures "
             "on the sending host are often not filled in)");
        tell(losses.addresses_evicted, "time",
             "an address left the table of a threshold or detection_filter for lack of room");
    }
    tell(losses.given_up, "time",
         "a rule could not decide about a packet within its limit of steps; the packet did not "
         "match");
    return losses.given_up == 0;
}
} // namespace sids
