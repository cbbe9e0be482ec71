// SPDX-License-Identifier: MIT
#include "table.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "captures/packet_time.hpp"
#include "common/command/printable.hpp"
#include "time_text.hpp"

namespace sids
{
namespace
{
constexpr const char *kHead = "#id\tpackets\tbytes\tlast\tmessage\n";
constexpr size_t kHeadRows = 3; // of a screen, with the last one, where the cursor is

std::string last_of(const Entry &entry)
{
    return entry.counts.packets ? table_time(captures_source::ns_of_ntp(entry.counts.last_ntp))
                                : "-";
}

std::string message_of(const Entry &entry)
{
    return command::printable(entry.rule.message) + (entry.is_removed ? " (removed)" : "");
}

bool is_shown(const Entry &entry, bool are_all_shown)
{
    return are_all_shown || entry.counts.packets > 0;
}

std::string cut(std::string row, size_t columns)
{
    if (row.size() > columns)
        row.resize(columns);
    return row + "\n";
}
} // namespace

std::string table_text(const Entries &entries, bool are_all_shown)
{
    std::string text = kHead;
    for (const auto &entry : entries) {
        if (is_shown(*entry, are_all_shown))
            text += fmt::format("{}\t{}\t{}\t{}\t{}\n", entry->rule.id, entry->counts.packets,
                                entry->counts.bytes, last_of(*entry), message_of(*entry));
    }
    return text;
}

std::string screen_text(const Entries &entries, bool are_all_shown, const std::string &head,
                        const command::TerminalSize &screen)
{
    std::vector<const Entry *> shown;
    for (const auto &entry : entries) {
        if (is_shown(*entry, are_all_shown))
            shown.push_back(entry.get());
    }
    std::stable_sort(shown.begin(), shown.end(), [](const Entry *one, const Entry *two) {
        return captures_source::ns_of_ntp(one->counts.last_ntp) * (one->counts.packets > 0) >
               captures_source::ns_of_ntp(two->counts.last_ntp) * (two->counts.packets > 0);
    });
    shown.resize(
        std::min(shown.size(), screen.rows > kHeadRows ? screen.rows - kHeadRows : size_t{0}));
    std::string text = cut(head, screen.columns);
    text += cut(fmt::format("{:>10} {:>12} {:>14}  {:<26}  {}", "id", "packets", "bytes", "last",
                            "message"),
                screen.columns);
    for (const Entry *entry : shown)
        text += cut(fmt::format("{:>10} {:>12} {:>14}  {:<26}  {}", entry->rule.id,
                                entry->counts.packets, entry->counts.bytes, last_of(*entry),
                                message_of(*entry)),
                    screen.columns);
    return text;
}
} // namespace sids
