// SPDX-License-Identifier: MIT
// compare: JSON of schema netslice-stats-1 -> the parts of its report that are compared.
#include "analyse/compare/stored_report.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analyse/correct/correction.hpp"
#include "common/file_error/file_error.h"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
using Json = nlohmann::json;

constexpr const char *kSchema = "netslice-stats-1";
constexpr const char *kRemedy = "create one with nsdump export --what stats --json";

std::optional<double> number_or_none(const Json &object, const char *key)
{
    const Json &value = object.at(key);
    return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

Distribution distribution_from(const Json &json)
{
    Distribution out;
    out.mean = json.at("mean").get<double>();
    out.sd = json.at("sd").get<double>();
    out.min = json.at("min").get<double>();
    out.max = json.at("max").get<double>();
    out.p50 = number_or_none(json, "p50");
    out.p90 = number_or_none(json, "p90");
    out.p99 = number_or_none(json, "p99");
    out.p999 = number_or_none(json, "p999");
    out.total = json.at("total").get<double>();
    out.trimmed_mean = json.at("trimmed_mean").get<double>();
    return out;
}

PerPacket per_packet_from(const Json &json, const Distribution &raw)
{
    PerPacket out;
    out.raw = json.at("raw").get<double>();
    out.net = number_or_none(json, "net");
    out.net_ci95 = number_or_none(json, "net_ci95");
    out.raw_trimmed = json.at("raw_trimmed").get<double>();
    out.net_trimmed = number_or_none(json, "net_trimmed");
    out.net_trimmed_ci95 = number_or_none(json, "net_trimmed_ci95");
    // The schema has no number of slices per packet, but this is their product.
    out.slices = raw.trimmed_mean > 0 ? out.raw_trimmed / raw.trimmed_mean : 0;
    return out;
}

FieldReport field_from(const Json &json)
{
    FieldReport out;
    out.field = json.at("field").get<std::string>();
    out.unit = json.at("unit").get<std::string>();
    out.count = json.at("count").get<uint64_t>();
    out.packets = json.at("packets").get<uint64_t>();
    out.raw = distribution_from(json.at("raw"));
    if (const Json &net = json.at("net"); !net.is_null()) {
        out.net = distribution_from(net);
        out.net->ci95 = number_or_none(net, "ci95");
        out.net->trimmed_ci95 = number_or_none(net, "trimmed_ci95");
    }
    if (const Json &packet = json.at("per_packet"); !packet.is_null())
        out.per_packet = per_packet_from(packet, out.raw);
    return out;
}

SliceReport slice_from(const Json &json)
{
    SliceReport out;
    out.name = json.at("name").get<std::string>();
    out.is_kernel = json.at("kernel").get<bool>();
    out.is_incomplete = json.at("incomplete").get<bool>();
    const std::pair<const char *, uint64_t *> counts[] = {{"count", &out.count},
                                                          {"migrated", &out.migrated},
                                                          {"spans_loss", &out.spans_loss},
                                                          {"unmatched_start", &out.unmatched_start},
                                                          {"unmatched_stop", &out.unmatched_stop},
                                                          {"too_deep", &out.too_deep},
                                                          {"below_noise", &out.below_noise},
                                                          {"interrupted", &out.interrupted},
                                                          {"uncounted", &out.uncounted},
                                                          {"crossed", &out.crossed},
                                                          {"packets", &out.packets}};
    for (const auto &[key, count] : counts)
        *count = json.at(key).get<uint64_t>();
    for (const Json &field : json.at("values"))
        out.values.push_back(field_from(field));
    return out;
}

std::vector<CalibrationRow> rows_from(const Json &json)
{
    std::vector<CalibrationRow> rows;
    for (const Json &one : json) {
        if (one.at("kind") != probe_name(kPair) || one.at("field") != "ticks")
            continue;
        CalibrationRow row;
        row.inner = one.at("inner").get<double>();
        row.inner_ci95 = one.at("inner_ci95").get<double>();
        row.outer = one.at("outer").get<double>();
        row.outer_ci95 = one.at("outer_ci95").get<double>();
        const auto inner = number_or_none(one, "inner_hidden"),
                   outer = number_or_none(one, "outer_hidden");
        if (inner && outer)
            row.hidden = Hidden{*inner, *outer};
        rows.push_back(row);
    }
    return rows;
}

Losses losses_from(const Json &json)
{
    Losses out;
    const Json &lost = json.at("lost");
    out.has_footer = !lost.contains("without_cause");
    // The causes are not compared; their sum is.
    for (const auto &[cause, records] : lost.items())
        (out.has_footer ? out.lost_other : out.lost_without_cause) += records.get<uint64_t>();
    out.drained = json.at("drained").get<uint64_t>();
    if (const Json &holds = json.at("equation_holds"); !holds.is_null())
        out.equation_holds = holds.get<bool>();
    out.kernel_totals_missing = json.at("kernel_totals_missing").get<bool>();
    return out;
}

StatsReport report_from(const Json &json, const std::string &name)
{
    StatsReport out;
    out.path = name;
    for (const auto &[key, value] : json.at("info").items())
        out.info[key] = value.get<std::string>();
    const Json &clock = json.at("clock");
    out.clock.source = clock.at("source").get<std::string>();
    out.clock.mode = clock.at("mode").get<std::string>();
    out.clock.hz = number_or_none(clock, "hz").value_or(0);
    out.counter_source = json.at("counters").at("source").get<std::string>();
    out.counter_names = json.at("counters").at("names").get<std::vector<std::string>>();
    out.kernel_counter_names = json.at("kernel_counters").get<std::vector<std::string>>();
    out.losses = losses_from(json.at("losses"));
    out.damaged_chunks = json.at("losses").at("damaged_chunks").get<uint64_t>();
    out.missing_chunks = json.at("losses").at("missing_chunks").get<uint64_t>();
    const Json &calibration = json.at("calibration");
    out.calibration_start = rows_from(calibration.at("start"));
    out.calibration_end = rows_from(calibration.at("end"));
    out.calibration_kernel = rows_from(calibration.at("kernel"));
    out.calibration_kernel_end = rows_from(calibration.at("kernel_end"));
    for (const Json &slice : json.at("slices"))
        out.slices.push_back(slice_from(slice));
    out.incomplete = json.at("incomplete").get<std::vector<std::string>>();
    out.is_interrupted = json.at("trace").at("interrupted").get<bool>();
    return out;
}
} // namespace

bool is_stored_report(const std::string &path)
{
    std::error_code ignored; // reading the file reports what is wrong
    if (!std::filesystem::is_regular_file(path, ignored))
        return false; // reading from a pipe would take what it holds
    std::ifstream file(path);
    char first = 0;
    return file >> first && (first == '{' || first == '[');
}

StatsReport parse_stored_report(const std::string &text, const std::string &name)
{
    try {
        const Json json = Json::parse(text);
        if (!json.is_object())
            throw TraceError(fmt::format("{}: not a report: JSON of type {}, not an object ({})",
                                         name, json.type_name(), kRemedy));
        const std::string schema = json.value("schema", "");
        if (schema != kSchema)
            throw TraceError(fmt::format("{}: schema is \"{}\", not \"{}\" ({})", name, schema,
                                         kSchema, kRemedy));
        return report_from(json, name);
    } catch (const Json::parse_error &error) {
        throw TraceError(fmt::format("{}: not a report: invalid JSON at byte {} ({})", name,
                                     error.byte, kRemedy));
    } catch (const Json::exception &error) {
        const std::string_view words = error.what(); // "[json.exception...] key 'x' not found"
        throw TraceError(
            fmt::format("{}: not a report: a value is missing or has the wrong type: {} ({})", name,
                        words.substr(std::min(words.find("] ") + 2, words.size())), kRemedy));
    }
}

StatsReport read_stored_report(const std::string &path)
{
    std::ifstream file(path);
    if (!file)
        throw TraceError(fmt::format("{}: cannot open: {}", path, nslice_read_error(errno)));
    std::ostringstream text;
    text << file.rdbuf();
    return parse_stored_report(text.str(), path);
}
} // namespace nsdump
