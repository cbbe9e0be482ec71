// SPDX-License-Identifier: MIT
// Metrics text: devices, flows and refusals -> Prometheus' text format 0.0.4.
#include "daemon/reporting/metrics_text.hpp"

#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace mapi::daemon
{
namespace
{
// Escapes a label's value: backslash, quote and line feed become two characters.
std::string escaped(const std::string &value)
{
    std::string out;
    for (const char c : value) {
        if (c == '\\' || c == '"')
            out += '\\';
        out += c == '\n' ? "\\n" : std::string(1, c);
    }
    return out;
}

class Text
{
public:
    void begin(const char *name, const char *type, const char *help)
    {
        name_ = name;
        out_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
    }
    template <class Value> void add(Value value) { out_ += fmt::format("{} {}\n", name_, value); }
    void add(std::initializer_list<std::pair<const char *, std::string>> labels, uint64_t value)
    {
        std::string list;
        for (const auto &[label, text] : labels)
            list += fmt::format("{}{}=\"{}\"", list.empty() ? "" : ",", label, escaped(text));
        out_ += fmt::format("{}{{{}}} {}\n", name_, list, value);
    }
    std::string take() { return std::move(out_); }

private:
    std::string name_;
    std::string out_;
};

void add(mapi_stat_t &sum, const mapi_stat_t &stats)
{
    for (const auto member :
         {&mapi_stat_t::ps_recv, &mapi_stat_t::bytes_recv, &mapi_stat_t::ps_ifdrop,
          &mapi_stat_t::drop_bad_record, &mapi_stat_t::drop_truncated,
          &mapi_stat_t::drop_buffer_full, &mapi_stat_t::drop_link_type,
          &mapi_stat_t::drop_not_written, &mapi_stat_t::drop_kernel, &mapi_stat_t::drop_no_flow,
          &mapi_stat_t::undecided})
        sum.*member += stats.*member;
}

// Open devices; one that is also open with earlier settings counts as the same device.
std::map<std::string, mapi_stat_t> open_devices(engine::Devices &devices)
{
    std::map<std::string, mapi_stat_t> open;
    for (const engine::ListedDevice &device : devices.list()) {
        if (!device.open)
            continue;
        mapi_stat_t stats = {};
        device.open->copy_stats(&stats);
        add(open[device.info.device], stats);
    }
    return open;
}

void add_devices(Text &text, engine::Devices &devices)
{
    const std::map<std::string, mapi_stat_t> open = open_devices(devices);
    text.begin("mapi_device_packets_total", "counter",
               "Packets that the device's driver read since the device was opened.");
    for (const auto &[name, stats] : open)
        text.add({{"device", name}}, stats.ps_recv);
    text.begin("mapi_device_bytes_total", "counter", "Bytes of these packets on the wire.");
    for (const auto &[name, stats] : open)
        text.add({{"device", name}}, stats.bytes_recv);
    text.begin("mapi_device_drops_total", "counter", "Lost packets or records, by cause.");
    for (const auto &[name, stats] : open) {
        const std::array<std::pair<const char *, uint64_t>, 8> drops = {
            {{"bad_record", stats.drop_bad_record},
             {"truncated", stats.drop_truncated},
             {"buffer_full", stats.drop_buffer_full},
             {"link_type", stats.drop_link_type},
             {"not_written", stats.drop_not_written},
             {"kernel", stats.drop_kernel},
             {"no_flow", stats.drop_no_flow},
             {"interface", stats.ps_ifdrop}}};
        for (const auto &[cause, count] : drops)
            text.add({{"device", name}, {"cause", cause}}, count);
    }
    text.begin("mapi_device_undecided_total", "counter",
               "Packets that functions of the driver left to the engine.");
    for (const auto &[name, stats] : open)
        text.add({{"device", name}}, stats.undecided);
}

void add_flows(Text &text, ClientRegistry &clients)
{
    std::map<std::string, uint64_t> functions;
    uint64_t flows = 0;
    for (const ClientRegistry::Entry &entry : clients.flows()) {
        const auto flow = entry.flow.lock();
        if (!flow)
            continue;
        ++flows;
        for (const auto &function : flow->counts())
            ++functions[function.name];
    }
    text.begin("mapi_flows", "gauge", "Flows of all clients.");
    text.add(flows);
    text.begin("mapi_functions", "gauge", "Functions of these flows.");
    for (const auto &[name, count] : functions)
        text.add({{"function", name}}, count);
    const FunctionSums sums = clients.function_sums();
    text.begin("mapi_function_packets_total", "counter",
               "Packets that reached the functions, summed over flows, including closed ones.");
    for (const auto &[name, sum] : sums)
        text.add({{"function", name}}, sum.packets);
    text.begin("mapi_function_passed_packets_total", "counter",
               "Packets that passed the functions, summed likewise.");
    for (const auto &[name, sum] : sums)
        text.add({{"function", name}}, sum.passed);
}
} // namespace

std::string metrics_text(engine::Devices &devices, ClientRegistry &clients)
{
    Text text;
    text.begin("mapi_uptime_seconds", "gauge", "Time since mapid started.");
    text.add(clients.uptime_s());
    text.begin("mapi_clients", "gauge", "Connected programs.");
    text.add(clients.client_count());
    text.begin("mapi_function_memory_bytes", "gauge",
               "Memory that functions of all clients could need and their captures hold, in "
               "addition to results and packets.");
    text.add(clients.function_bytes());
    text.begin(
        "mapi_user_memory_bytes", "gauge",
        "The same for all clients of a user, including what their results and packets have taken.");
    for (const auto &[user, bytes] : clients.user_bytes())
        text.add({{"user", std::to_string(user)}}, bytes);
    add_flows(text, clients);
    add_devices(text, devices);
    text.begin("mapi_refusals_total", "counter", "Clients and calls that were refused, by reason.");
    text.add({{"reason", "clients"}}, clients.tally.clients_refused);
    text.add({{"reason", "limit_of_client"}}, clients.tally.limits_reached);
    text.add({{"reason", "access"}}, clients.tally.access_refused);
    return text.take();
}
} // namespace mapi::daemon
