// SPDX-License-Identifier: MIT
// export: a timeline -> Chrome's JSON ("Trace Event Format"), one event a line.
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "export/escape.hpp"
#include "export/timeline/writers.hpp"

namespace nsdump
{
namespace
{
// In microseconds, with all digits.
std::string micros(uint64_t ns)
{
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

class ChromeWriter final : public TimelineWriter
{
public:
    void head(uint64_t, std::string &out) override
    {
        out += "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    }
    void track(const Track &track, std::string &out) override;
    void begin(const Track &track, const TimelineEvent &slice, std::string &out) override;
    void end(const Track &track, uint64_t stop_ns, std::string &out) override;
    void instant(const Track &track, const TimelineEvent &instant, std::string &out) override;
    void counter(const Track &track, uint64_t at_ns, uint64_t value, std::string &out) override;
    void tail(std::string &out) override { out += "\n]}\n"; }

private:
    void open(char phase, const Track &track, std::string_view name, std::string &out);
    static void put_arguments(std::span<const Argument> arguments, std::string &out);

    bool is_first_ = true;
};

void ChromeWriter::open(char phase, const Track &track, std::string_view name, std::string &out)
{
    fmt::format_to(std::back_inserter(out), R"({}{{"ph":"{}","pid":{},"tid":{},"name":{})",
                   is_first_ ? "\n" : ",\n", phase, track.pid, track.tid, json_string(name));
    is_first_ = false;
}

void ChromeWriter::track(const Track &track, std::string &out)
{
    if (track.kind == Track::Kind::counter) // made by its first value
        return;
    const bool is_process = track.kind == Track::Kind::process || track.kind == Track::Kind::group;
    open('M', track, is_process ? "process_name" : "thread_name", out);
    fmt::format_to(std::back_inserter(out), R"(,"args":{{"name":{}}}}})", json_string(track.name));
}

void ChromeWriter::put_arguments(std::span<const Argument> arguments, std::string &out)
{
    const auto to = std::back_inserter(out);
    out += R"(,"args":{)";
    const char *comma = "";
    for (const Argument &argument : arguments) {
        fmt::format_to(to, "{}{}:", std::exchange(comma, ","), json_string(argument.name));
        if (const auto *whole = std::get_if<int64_t>(&argument.value))
            fmt::format_to(to, "{}", *whole);
        else if (const auto *count = std::get_if<uint64_t>(&argument.value))
            fmt::format_to(to, "{}", *count);
        else if (const auto *text = std::get_if<std::string_view>(&argument.value))
            out += json_string(*text);
        else if (const double real = std::get<double>(argument.value); std::isfinite(real))
            fmt::format_to(to, "{:.3f}", real);
        else
            out += "null"; // JSON has no infinity
    }
    out += "}}";
}

// Not one event with a duration (X): readers would nest those without any duration by guess.
void ChromeWriter::begin(const Track &track, const TimelineEvent &slice, std::string &out)
{
    open('B', track, slice.name, out);
    fmt::format_to(std::back_inserter(out), R"(,"cat":"{}","ts":{})", slice.category,
                   micros(slice.start_ns));
    if (slice.flow_id)
        fmt::format_to(std::back_inserter(out),
                       R"(,"bind_id":"0x{:x}","flow_in":true,"flow_out":true)", *slice.flow_id);
    put_arguments(slice.arguments, out);
}

void ChromeWriter::end(const Track &track, uint64_t stop_ns, std::string &out)
{
    fmt::format_to(std::back_inserter(out),
                   ",\n"
                   R"({{"ph":"E","pid":{},"tid":{},"ts":{}}})",
                   track.pid, track.tid, micros(stop_ns));
}

void ChromeWriter::instant(const Track &track, const TimelineEvent &instant, std::string &out)
{
    open('i', track, instant.name, out);
    fmt::format_to(std::back_inserter(out), R"(,"cat":"{}","s":"t","ts":{})", instant.category,
                   micros(instant.start_ns));
    put_arguments(instant.arguments, out);
}

void ChromeWriter::counter(const Track &track, uint64_t at_ns, uint64_t value, std::string &out)
{
    open('C', track, track.name, out);
    fmt::format_to(std::back_inserter(out), R"(,"ts":{},"args":{{"value":{}}}}})", micros(at_ns),
                   value);
}
} // namespace

std::unique_ptr<TimelineWriter> chrome_writer()
{
    return std::make_unique<ChromeWriter>();
}
} // namespace nsdump
