// SPDX-License-Identifier: MIT
// prometheus: figures -> the text format that Prometheus and its node exporter read.
#include <functional>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "qos/output/output.hpp"

namespace qos
{
namespace
{
constexpr double kMsPerSecond = 1000;

struct Row {
    std::string labels;
    const Measured *measured;
};

struct Metric {
    const char *name;
    const char *help;
    std::function<std::optional<double>(const Measured &)> value; // nullopt: no value
};

template <class Part, class Member>
std::function<std::optional<double>(const Measured &)> seconds_of(Part part, Member member)
{
    return [part, member](const Measured &measured) -> std::optional<double> {
        const auto &optional = measured.*part;
        return optional ? std::optional((*optional).*member / kMsPerSecond) : std::nullopt;
    };
}

std::vector<Metric> metrics()
{
    const auto number = [](auto value) { return std::optional(double(value)); };
    return {
        {"sent_packets", "Selected packets that the first of the points saw.",
         [=](const Measured &m) { return number(m.sent); }},
        {"lost_packets", "Of these, not seen by the second.",
         [=](const Measured &m) { return number(m.lost); }},
        {"duplicate_packets", "Further copies that the second point saw.",
         [=](const Measured &m) { return number(m.duplicates); }},
        {"reordered_packets", "Packets that arrived after one that was sent later (RFC 4737).",
         [=](const Measured &m) { return number(m.reordered); }},
        {"loss_ratio", "Lost packets as a part of those sent.",
         [=](const Measured &m) { return number(m.loss()); }},
        {"loss_ratio_low", "Lower end of its 95 % interval.",
         [=](const Measured &m) { return number(m.loss_interval.low); }},
        {"loss_ratio_high", "Upper end of its 95 % interval.",
         [=](const Measured &m) { return number(m.loss_interval.high); }},
        {"delay_min_seconds", "Shortest one-way delay.",
         seconds_of(&Measured::delays, &Delays::min_ms)},
        {"delay_mean_seconds", "Mean one-way delay.",
         seconds_of(&Measured::delays, &Delays::mean_ms)},
        {"delay_p95_seconds", "95th percentile of the one-way delay.",
         seconds_of(&Measured::delays, &Delays::p95_ms)},
        {"delay_max_seconds", "Longest one-way delay.",
         seconds_of(&Measured::delays, &Delays::max_ms)},
        {"jitter_seconds", "Jitter of RFC 3550.",
         seconds_of(&Measured::variation, &Variation::jitter_ms)},
    };
}

// Backslashes and quotes are the only special characters of a point's name.
std::string label(const std::string &text)
{
    std::string result;
    for (const char letter : text) {
        if (letter == '\\' || letter == '"')
            result += '\\';
        result += letter;
    }
    return result;
}
} // namespace

std::string prometheus_of(const Figures &figures, uint64_t flows)
{
    std::vector<Row> rows;
    for (const PathFigures *path : {&figures.forward, &figures.backward}) {
        const std::string points =
            fmt::format("from=\"{}\",to=\"{}\"", label(path->from), label(path->to));
        rows.push_back({points + ",flow=\"\"", &path->total});
        for (size_t i = 0; i < printed_flows(path->flows.size(), flows); ++i)
            rows.push_back({fmt::format("{},flow=\"{}\"", points, flow_text(path->flows[i].flow)),
                            &path->flows[i].measured});
    }
    std::string text;
    for (const Metric &metric : metrics()) {
        text += fmt::format("# HELP mapi_qos_{0} {1}\n# TYPE mapi_qos_{0} gauge\n", metric.name,
                            metric.help);
        for (const Row &row : rows)
            if (const auto value = metric.value(*row.measured))
                text += fmt::format("mapi_qos_{}{{{}}} {:.9g}\n", metric.name, row.labels, *value);
    }
    text += fmt::format("# HELP mapi_qos_selected_part Part of all packets that was selected.\n"
                        "# TYPE mapi_qos_selected_part gauge\nmapi_qos_selected_part {:.9g}\n",
                        figures.rate);
    text += "# HELP mapi_qos_last_seen_seconds Time until which a point has reported.\n"
            "# TYPE mapi_qos_last_seen_seconds gauge\n";
    for (const PointSummary *point : {&figures.from, &figures.to})
        text += fmt::format("mapi_qos_last_seen_seconds{{point=\"{}\"}} {:.3f}\n",
                            label(point->name), double(point->last_ns) / 1e9);
    return text;
}
} // namespace qos
