// SPDX-License-Identifier: MIT
// Alerts: packets of rules -> lines of JSON, in the order of their times as far as they are read
// together.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rule_table.hpp"
#include "sids/output/alert.hpp"
#include "sids/output/alert_file.hpp"

namespace sids
{
class Alerts
{
public:
    // classification: a file; empty: none.
    Alerts(const std::string &path, const std::string &classification);

    // Of mapi_get_device_info(): the device that the packets come from.
    void set_device(int device) { device_ = device; }
    // Writes the alerts that have arrived; whether there were any.  Looks at the counts.
    bool pass(const Entries &entries);
    // Those that still wait, up to the counts of the last look.
    void pass_last(const Entries &entries);
    // The same for a rule that will be removed.
    void pass_last_of(Entry &entry);
    void write(const std::string &line) const { file_.write(line); }
    uint64_t count() const { return count_; }

private:
    // Whether more may wait.
    bool read(Entry &entry);
    // Writes what was read; whether it was anything.
    bool flush();
    void find_link_type();

    AlertFile file_;
    Classification classification_;
    int device_ = 0;
    int link_type_ = -1;
    bool is_link_type_known_ = false;                     // asked for again after each flush
    std::vector<std::pair<uint64_t, std::string>> lines_; // with their times
    uint64_t count_ = 0;
};
} // namespace sids
