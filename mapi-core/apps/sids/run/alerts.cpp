// SPDX-License-Identifier: MIT
#include "alerts.hpp"

#include <algorithm>

#include "captures/packet_time.hpp"
#include "sids/output/time_text.hpp"

namespace sids
{
namespace
{
constexpr int kReadsAtOnce = 16; // of a rule, so that others' buffers do not fill meanwhile
}

Alerts::Alerts(const std::string &path, const std::string &classification) : file_(path)
{
    if (!classification.empty())
        classification_ = read_classification(classification);
}

// Captures of several link types are read one after the other.
void Alerts::find_link_type()
{
    mapi_device_info_t about = {};
    if (mapi_get_device_info(device_, &about) == 0)
        link_type_ = about.link_type;
    is_link_type_known_ = true;
}

bool Alerts::read(Entry &entry)
{
    if (entry.alert_json.empty())
        entry.alert_json = alert_rule_json(entry.rule, classification_);
    const auto take = [&](const mapipkt &packet) {
        if (!is_link_type_known_)
            find_link_type();
        lines_.emplace_back(captures_source::ns_of_ntp(packet.ts),
                            alert_line(entry.alert_json, packet, link_type_));
    };
    for (int i = 0; i < kReadsAtOnce; ++i) {
        if (entry.flow->read_packets(take) == 0)
            return false;
    }
    return true;
}

// Counts say cheaply which rules have packets, but not while the device waits in the middle of a
// burst for room in a buffer: if none has any, all are asked.
bool Alerts::pass(const Entries &entries)
{
    for (const auto &entry : entries) {
        if (!entry->flow)
            continue;
        entry->flow->look(entry->counts);
        if (entry->flow->has_unread(entry->counts))
            read(*entry);
    }
    if (flush())
        return true;
    for (const auto &entry : entries) {
        if (entry->flow)
            read(*entry);
    }
    return flush();
}

// A rule's last packets may have been dropped: the end is also that nothing was read.
void Alerts::pass_last(const Entries &entries)
{
    do {
        for (const auto &entry : entries) {
            if (entry->flow && entry->flow->has_unread(entry->counts))
                read(*entry);
        }
    } while (flush());
}

void Alerts::pass_last_of(Entry &entry)
{
    while (entry.flow->has_unread(entry.counts) && read(entry))
        flush();
    flush();
}

bool Alerts::flush()
{
    is_link_type_known_ = false;
    if (lines_.empty())
        return false;
    std::stable_sort(lines_.begin(), lines_.end(),
                     [](const auto &one, const auto &two) { return one.first < two.first; });
    std::string text;
    for (const auto &line : lines_)
        text += line.second;
    file_.write(text);
    count_ += lines_.size();
    lines_.clear();
    return true;
}
} // namespace sids
