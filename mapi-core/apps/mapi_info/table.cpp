// SPDX-License-Identifier: MIT
// table: what mapid has -> lines of columns.
#include "table.hpp"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "common/command/printable.hpp"
#include "words.hpp"

namespace mapi_info
{
namespace
{
using Row = std::vector<std::string>;
constexpr double kBytesPerMib = 1 << 20;

// Names are chosen by clients: they must not control the terminal or break the columns.
std::string cell(const std::string &text)
{
    std::string out;
    for (const char letter : command::printable(text))
        out += letter == ' ' ? "\\x20" : std::string(1, letter);
    return out.empty() ? "-" : out;
}

template <class Number> std::string cell(Number number) requires std::is_arithmetic_v<Number>
{
    return fmt::format("{}", number);
}

bool is_number(const std::string &text)
{
    return !text.empty() && text.find_first_not_of("0123456789.-") == text.npos &&
           text.find_first_of("0123456789") != text.npos;
}

// Columns of numbers are right-aligned.
std::string lay_out(const std::vector<Row> &rows)
{
    const size_t columns = rows[0].size();
    std::vector<size_t> widths(columns);
    std::vector<bool> is_right(columns, rows.size() > 1);
    for (const Row &row : rows) {
        for (size_t i = 0; i < columns; ++i) {
            widths[i] = std::max(widths[i], row[i].size());
            is_right[i] =
                is_right[i] && (&row == &rows.front() || row[i] == "-" || is_number(row[i]));
        }
    }
    std::string text;
    for (const Row &row : rows) {
        for (size_t i = 0; i < columns; ++i) {
            const bool is_last = i + 1 == columns;
            if (is_right[i])
                text += fmt::format("{:>{}}", row[i], widths[i]);
            else
                text += is_last ? row[i] : fmt::format("{:<{}}", row[i], widths[i]);
            text += is_last ? "\n" : "  ";
        }
    }
    return text;
}

std::string mib(uint64_t bytes)
{
    return fmt::format("{:.1f}", double(bytes) / kBytesPerMib);
}

std::string causes(const mapi::ipc::Statistics &stats)
{
    std::string text;
    for (const auto &[cause, count] : drops_of(stats)) {
        if (count > 0)
            text += fmt::format("{}{}={}", text.empty() ? "" : ",", cause, count);
    }
    return cell(text);
}

std::string function_list(const mapi::ipc::ListedFlow &flow)
{
    std::string text;
    for (const auto &function : flow.functions())
        text += fmt::format("{}{}={}/{}", text.empty() ? "" : ",", cell(function.info().name()),
                            function.info().packets(), function.info().passed_packets());
    return cell(text);
}

uint64_t dropped_of(const mapi::ipc::ListedFlow &flow)
{
    uint64_t sum = 0;
    for (const auto &function : flow.functions())
        sum += function.info().dropped();
    return sum;
}
} // namespace

std::string daemon_table(const mapi::ipc::DaemonInfo &daemon)
{
    std::vector<Row> rows = {{"MAPID", "VERSION", "UPTIME_S", "RECORDING", "CLIENTS",
                              "CLIENTS_REFUSED", "LIMITS_REACHED", "ACCESS_REFUSED"}};
    const mapi::ipc::Tally &tally = daemon.tally();
    const auto count = [&](uint64_t number) { return daemon.has_tally() ? cell(number) : "-"; };
    rows.push_back({cell(daemon.pid()), cell(daemon.version()),
                    fmt::format("{:.1f}", daemon.uptime_s()), daemon.is_recording() ? "yes" : "no",
                    count(tally.clients()), count(tally.clients_refused()),
                    count(tally.limits_reached()), count(tally.access_refused())});
    return lay_out(rows);
}

std::string devices_table(const std::vector<mapi::ipc::ListedDevice> &devices)
{
    std::vector<Row> rows = {
        {"DEVICE", "DRIVER", "STATE", "FLOWS", "PACKETS", "BYTES", "DROPS", "CAUSES"}};
    for (const auto &device : devices) {
        const mapi::ipc::Statistics &stats = device.statistics();
        rows.push_back({cell(device.info().device()), cell(device.info().driver()),
                        state_of(device), cell(device.flows()), cell(stats.received()),
                        cell(stats.received_bytes()),
                        cell(stats.dropped() + stats.interface_drops()), causes(stats)});
    }
    return lay_out(rows);
}

std::string flows_table(const std::vector<mapi::ipc::ListedFlow> &flows)
{
    std::vector<Row> rows = {{"CLIENT", "PID", "UID", "FLOW", "DEVICE", "STATUS", "DROPPED",
                              "MEMORY_MIB", "OF_CLIENT_MIB", "OF_USER_MIB", "FUNCTIONS"}};
    for (const auto &flow : flows)
        rows.push_back({cell(flow.client()), cell(flow.pid()), cell(flow.uid()), cell(flow.flow()),
                        cell(flow.info().device()), status_of(flow), cell(dropped_of(flow)),
                        mib(flow.function_bytes()), mib(flow.client_bytes()),
                        mib(flow.user_bytes()), function_list(flow)});
    return lay_out(rows);
}

std::string functions_table(const std::vector<mapi::ipc::ListedFlow> &flows)
{
    std::vector<Row> rows = {{"CLIENT", "PID", "UID", "FLOW", "DEVICE", "FUNCTION", "SEEN",
                              "PASSED", "DROPPED", "UNREAD", "SHARED_WITH", "RUNS_IN"}};
    for (const auto &flow : flows) {
        for (const auto &function : flow.functions()) {
            const mapi::ipc::FunctionInfo &info = function.info();
            rows.push_back({cell(flow.client()), cell(flow.pid()), cell(flow.uid()),
                            cell(flow.flow()), cell(flow.info().device()), cell(info.name()),
                            cell(info.packets()), cell(info.passed_packets()), cell(info.dropped()),
                            cell(info.unread_headers()), cell(info.shared_with()),
                            cell(info.place())});
        }
    }
    return lay_out(rows);
}

std::string costs_table(const std::vector<mapi::ipc::Cost> &costs)
{
    std::vector<Row> rows = {{"DEVICE", "MODE", "FUNCTIONS", "INSTRUCTIONS", "CODE_BYTES", "RUNS",
                              "RUN_NS", "EMPTY_RUN_NS", "PACKETS", "TEST_RUNS", "TEST_NS",
                              "EMPTY_TEST_NS", "NET_NS", "NET_P10_NS", "NET_P90_NS"}};
    for (const auto &cost : costs) {
        const mapi::ipc::CostOfRuns &live = cost.live();
        const mapi::ipc::NetCost &net = cost.net();
        const auto mean = [](uint64_t all_ns, uint64_t runs) {
            return runs == 0 ? "-" : fmt::format("{:.1f}", mean_ns(all_ns, runs));
        };
        const auto net_ns = [&](double value_ns) {
            return net.packets() == 0 ? "-" : fmt::format("{:.1f}", value_ns);
        };
        rows.push_back({cell(cost.device()), cell(cost.mode()), cell(cost.functions()),
                        cell(cost.instructions()), cell(cost.code_bytes()), cell(live.runs()),
                        mean(live.run_ns(), live.runs()),
                        mean(live.empty_run_ns(), live.empty_runs()), cell(net.packets()),
                        cell(net.runs()), net_ns(net.program_ns()), net_ns(net.empty_ns()),
                        net_ns(net.net_ns()), net_ns(net.net_p10_ns()), net_ns(net.net_p90_ns())});
    }
    return lay_out(rows);
}
} // namespace mapi_info
