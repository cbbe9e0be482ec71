// SPDX-License-Identifier: MIT
// export: events and slices -> CSV or NDJSON lines.
#include "export/exporter.hpp"

#include <iterator>

#include <fmt/format.h>

#include "analyse/correct/slice_net.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
const std::string &escaped(RowFormat format, NameTable &names, NameId name,
                           std::vector<std::string> &texts)
{
    if (name >= texts.size())
        texts.resize(name + 1);
    if (texts[name].empty()) {
        const std::string &text = names[name].text;
        texts[name] = format == RowFormat::csv ? csv_field(text) : json_string(text);
        if (texts[name].empty())
            texts[name] = "\"\"";
    }
    return texts[name];
}
} // namespace

EventRows::EventRows(RowFormat format, NameTable &names) : format_(format), names_(names) {}

const std::string &EventRows::name_text(uint16_t slice_id)
{
    return escaped(format_, names_, names_.of_slice(slice_id), texts_);
}

void EventRows::header(std::string &out) const
{
    if (format_ != RowFormat::csv)
        return;
    out += "cpu,thread,ticks,kind,name";
    for (int i = 0; i < NSLICE_MAX_WORDS; ++i)
        fmt::format_to(std::back_inserter(out), ",word{}", i);
    out += '\n';
}

void EventRows::row(const Event &event, std::string &out)
{
    const auto to = std::back_inserter(out);
    const std::string &name = name_text(event.slice_id);
    if (format_ == RowFormat::csv) {
        fmt::format_to(to, "{},{},{},{},{}", event.cpu, event.thread_id, event.ticks,
                       kind_name(event.kind), name);
        for (int i = 0; i < NSLICE_MAX_WORDS; ++i) {
            out += ',';
            if (i < event.word_count)
                fmt::format_to(to, "{}", event.words[i]);
        }
        out += '\n';
        return;
    }
    fmt::format_to(to, R"({{"cpu":{},"thread":{},"ticks":{},"kind":"{}","name":{},"words":[)",
                   event.cpu, event.thread_id, event.ticks, kind_name(event.kind), name);
    for (int i = 0; i < event.word_count; ++i)
        fmt::format_to(to, "{}{}", i > 0 ? "," : "", event.words[i]);
    out += "]}\n";
}

SliceRows::SliceRows(RowFormat format, NameTable &names, const std::vector<CpuChunks> &cpus,
                     const Correction &correction, const SliceCounters &counters)
    : format_(format), names_(names), cpus_(cpus), correction_(correction),
      columns_(counters.programs), program_counters_(counters.programs.size())
{
    for (const std::string &counter : counters.kernel)
        columns_.push_back(kKernelPrefix + counter);
}

const std::string &SliceRows::name_text(NameId name)
{
    return escaped(format_, names_, name, texts_);
}

void SliceRows::header(std::string &out) const
{
    if (format_ != RowFormat::csv)
        return;
    out +=
        "name,cpu,thread,unit,unit_number,depth,start_ticks,stop_ticks,raw_ticks,net_ticks,class";
    for (const std::string &counter : columns_)
        out += "," + csv_field("raw_" + counter) + "," + csv_field("net_" + counter);
    out += '\n';
}

void SliceRows::row(const Slice &slice, std::string &out)
{
    if (format_ == RowFormat::csv)
        csv_row(slice, out);
    else
        json_row(slice, out);
}

void SliceRows::csv_row(const Slice &slice, std::string &out)
{
    const auto to = std::back_inserter(out);
    const FieldConstants &ticks = correction_.of(slice.cpu_index, 0);
    const double net = net_ticks_of(slice, correction_);
    fmt::format_to(to, "{},{},{},", name_text(slice.name), cpus_[slice.cpu_index].cpu,
                   slice.thread_id);
    if (slice.unit)
        fmt::format_to(to, "{},{},", name_text(slice.unit->name), slice.unit->number);
    else
        out += ",,";
    fmt::format_to(to, "{},{},{},{},", slice.depth, slice.start_ticks, slice.stop_ticks,
                   slice.raw_ticks);
    if (ticks.is_known)
        fmt::format_to(to, "{:.3f}", net);
    fmt::format_to(to, ",{}", slice_class_name(slice_class_of(slice, ticks.is_known && net <= 0)));
    for (size_t column = 0; column < columns_.size(); ++column) {
        const bool is_own = is_kernel(slice) == (column >= program_counters_);
        if (!slice.counters || !is_own) {
            out += ",,";
            continue;
        }
        const size_t i = is_kernel(slice) ? column - program_counters_ : column;
        fmt::format_to(to, ",{},", slice.counters[i]);
        if (correction_.of(slice.cpu_index, i + 1).is_known)
            fmt::format_to(to, "{:.3f}", net_counter_of(slice, i, correction_));
    }
    out += '\n';
}

void SliceRows::json_row(const Slice &slice, std::string &out)
{
    const auto to = std::back_inserter(out);
    const FieldConstants &ticks = correction_.of(slice.cpu_index, 0);
    const double net = net_ticks_of(slice, correction_);
    fmt::format_to(to, R"({{"name":{},"cpu":{},"thread":{})", name_text(slice.name),
                   cpus_[slice.cpu_index].cpu, slice.thread_id);
    if (slice.unit)
        fmt::format_to(to, R"(,"unit":{},"unit_number":{})", name_text(slice.unit->name),
                       slice.unit->number);
    fmt::format_to(to, R"(,"depth":{},"start_ticks":{},"stop_ticks":{},"raw_ticks":{})",
                   slice.depth, slice.start_ticks, slice.stop_ticks, slice.raw_ticks);
    if (ticks.is_known)
        fmt::format_to(to, R"(,"net_ticks":{:.3f})", net);
    fmt::format_to(to, R"(,"class":"{}")",
                   slice_class_name(slice_class_of(slice, ticks.is_known && net <= 0)));
    const size_t first = is_kernel(slice) ? program_counters_ : 0;
    const size_t count = is_kernel(slice) ? columns_.size() - first : program_counters_;
    for (size_t i = 0; slice.counters && i < count; ++i) {
        fmt::format_to(to, ",{}:{}", json_string("raw_" + columns_[first + i]), slice.counters[i]);
        if (correction_.of(slice.cpu_index, i + 1).is_known)
            fmt::format_to(to, ",{}:{:.3f}", json_string("net_" + columns_[first + i]),
                           net_counter_of(slice, i, correction_));
    }
    out += "}\n";
}
} // namespace nsdump
