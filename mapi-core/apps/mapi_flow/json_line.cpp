// SPDX-License-Identifier: MIT
// json_line: results -> one line of JSON.
#include "json_line.hpp"

#include <chrono>

namespace mapi_flow
{
namespace
{
using Json = nlohmann::ordered_json;

Json statistics_json(const mapi_stat_t &stats)
{
    return {{"packets", stats.ps_recv},
            {"bytes", stats.bytes_recv},
            {"kernel_drops", stats.drop_kernel},
            {"interface_drops", stats.ps_ifdrop},
            {"bad_records", stats.drop_bad_record},
            {"truncated_records", stats.drop_truncated},
            {"unread_bytes", stats.unread_bytes},
            {"buffer_full", stats.drop_buffer_full},
            {"not_written", stats.drop_not_written},
            {"link_type", stats.drop_link_type},
            {"kernel_unreadable", stats.kernel_unreadable},
            {"kernel_late", stats.kernel_late},
            {"undecided", stats.undecided},
            {"message", stats.message},
            {"remark", stats.remark}};
}
} // namespace

std::string json_text(const Json &json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string json_line(const Flows &flows, const mapi_stat_t &stats, bool is_last)
{
    const double now_s =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    Json json = {{"schema", "netslice-mapi-flow-1"},
                 {"time", now_s},
                 {"is_last", is_last},
                 {"flows", Json::array()}};
    for (const auto &flow : flows)
        json["flows"].push_back(flow->json());
    json["statistics"] = statistics_json(stats);
    return json_text(json);
}
} // namespace mapi_flow
