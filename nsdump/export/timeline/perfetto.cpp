// SPDX-License-Identifier: MIT
// export: a timeline -> Perfetto's trace format.
#include <functional>
#include <unordered_map>

#include "export/timeline/trace_packet.pb.h"
#include "export/timeline/writers.hpp"
#include "export/utf8.hpp"

namespace nsdump
{
namespace
{
using perfetto::TrackEvent;

// Constants of Perfetto's schema.
constexpr uint32_t kClockMonotonic = 3;
constexpr uint32_t kIncrementalStateCleared = 1, kNeedsIncrementalState = 2;

constexpr uint32_t kSequence = 1; // of all packets: they come from one writer

// Texts -> numbers that stand for them in later packets.
class Interned
{
public:
    // `add` returns the entry of the packet's InternedData to fill if the text is new.
    template <class Add> uint64_t number(std::string_view text, Add add)
    {
        if (const auto found = numbers_.find(text); found != numbers_.end())
            return found->second;
        const uint64_t number = numbers_.size() + 1;
        numbers_.emplace(text, number);
        perfetto::InternedText *const entry = add();
        entry->set_iid(number);
        entry->set_text(utf8_text(text));
        return number;
    }

private:
    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view text) const
        {
            return std::hash<std::string_view>()(text);
        }
    };
    std::unordered_map<std::string, uint64_t, Hash, std::equal_to<>> numbers_;
};

class PerfettoWriter final : public TimelineWriter
{
public:
    void head(uint64_t start_ns, std::string &out) override;
    void track(const Track &track, std::string &out) override;
    void begin(const Track &track, const TimelineEvent &slice, std::string &out) override
    {
        event(track, TrackEvent::TYPE_SLICE_BEGIN, slice, out);
    }
    void end(const Track &track, uint64_t stop_ns, std::string &out) override
    {
        new_event(track, TrackEvent::TYPE_SLICE_END, stop_ns);
        put(out);
    }
    void instant(const Track &track, const TimelineEvent &instant, std::string &out) override
    {
        event(track, TrackEvent::TYPE_INSTANT, instant, out);
    }
    void counter(const Track &track, uint64_t at_ns, uint64_t value, std::string &out) override;
    void tail(std::string &) override {}

private:
    TrackEvent &new_event(const Track &track, TrackEvent::Type type, uint64_t at_ns);
    void event(const Track &track, TrackEvent::Type type, const TimelineEvent &what,
               std::string &out);
    void annotate(const Argument &argument, perfetto::DebugAnnotation &annotation);
    perfetto::InternedData &interned() { return *packet_.mutable_interned_data(); }
    void put(std::string &out);

    perfetto::TracePacket packet_; // reused: a new one for each event costs an allocation per field
    Interned categories_, names_, argument_names_, argument_texts_;
};

// A file is a message with the packets as its field 1.
void PerfettoWriter::put(std::string &out)
{
    constexpr char kPacketField = 1 << 3 | 2;
    packet_.set_trusted_packet_sequence_id(kSequence);
    out += kPacketField;
    for (uint64_t bytes = packet_.ByteSizeLong();; bytes >>= 7) {
        out += char((bytes & 0x7f) | (bytes > 0x7f ? 0x80 : 0));
        if (bytes <= 0x7f)
            break;
    }
    packet_.AppendToString(&out);
    packet_.Clear();
}

// Without the snapshot a reader would need the offset of this clock from its own.
void PerfettoWriter::head(uint64_t start_ns, std::string &out)
{
    perfetto::ClockSnapshot &snapshot = *packet_.mutable_clock_snapshot();
    snapshot.set_primary_trace_clock(kClockMonotonic);
    perfetto::Clock &clock = *snapshot.add_clocks();
    clock.set_clock_id(kClockMonotonic);
    clock.set_timestamp(start_ns);
    put(out);
    packet_.set_first_packet_on_sequence(true);
    packet_.set_sequence_flags(kIncrementalStateCleared);
    packet_.mutable_trace_packet_defaults()->set_timestamp_clock_id(kClockMonotonic);
    put(out);
}

void PerfettoWriter::track(const Track &track, std::string &out)
{
    perfetto::TrackDescriptor &descriptor = *packet_.mutable_track_descriptor();
    descriptor.set_uuid(track.id);
    if (track.parent_id != 0)
        descriptor.set_parent_uuid(track.parent_id);
    if (track.kind == Track::Kind::process) {
        descriptor.mutable_process()->set_pid(int32_t(track.pid));
        descriptor.mutable_process()->set_process_name(utf8_text(track.name));
    } else if (track.kind == Track::Kind::thread) {
        descriptor.mutable_thread()->set_pid(int32_t(track.pid));
        descriptor.mutable_thread()->set_tid(track.tid);
        descriptor.mutable_thread()->set_thread_name(utf8_text(track.name));
    } else {
        descriptor.set_name(utf8_text(track.name));
    }
    if (track.kind == Track::Kind::counter)
        descriptor.mutable_counter();
    put(out);
}

TrackEvent &PerfettoWriter::new_event(const Track &track, TrackEvent::Type type, uint64_t at_ns)
{
    packet_.set_timestamp(at_ns);
    packet_.set_sequence_flags(kNeedsIncrementalState);
    TrackEvent &event = *packet_.mutable_track_event();
    event.set_type(type);
    event.set_track_uuid(track.id);
    return event;
}

void PerfettoWriter::event(const Track &track, TrackEvent::Type type, const TimelineEvent &what,
                           std::string &out)
{
    TrackEvent &event = new_event(track, type, what.start_ns);
    event.set_name_iid(names_.number(what.name, [&] { return interned().add_event_names(); }));
    event.add_category_iids(
        categories_.number(what.category, [&] { return interned().add_event_categories(); }));
    if (what.flow_id)
        event.add_flow_ids(*what.flow_id);
    for (const Argument &argument : what.arguments)
        annotate(argument, *event.add_debug_annotations());
    put(out);
}

void PerfettoWriter::annotate(const Argument &argument, perfetto::DebugAnnotation &annotation)
{
    annotation.set_name_iid(argument_names_.number(
        argument.name, [&] { return interned().add_debug_annotation_names(); }));
    if (const auto *whole = std::get_if<int64_t>(&argument.value))
        annotation.set_int_value(*whole);
    else if (const auto *count = std::get_if<uint64_t>(&argument.value))
        annotation.set_uint_value(*count);
    else if (const auto *real = std::get_if<double>(&argument.value))
        annotation.set_double_value(*real);
    else
        annotation.set_string_value_iid(
            argument_texts_.number(std::get<std::string_view>(argument.value), [&] {
                return interned().add_debug_annotation_string_values();
            }));
}

void PerfettoWriter::counter(const Track &track, uint64_t at_ns, uint64_t value, std::string &out)
{
    TrackEvent &event = new_event(track, TrackEvent::TYPE_COUNTER, at_ns);
    if (value <= uint64_t(INT64_MAX))
        event.set_counter_value(int64_t(value));
    else
        event.set_double_counter_value(double(value));
    put(out);
}
} // namespace

std::unique_ptr<TimelineWriter> perfetto_writer()
{
    return std::make_unique<PerfettoWriter>();
}
} // namespace nsdump
