// SPDX-License-Identifier: MIT
// Alert: a rule and one of its packets -> a line of JSON, with the names of Suricata's EVE.
#pragma once

#include <map>
#include <string>

#include <mapi/mapi.h>

#include "sids/language/rule.hpp"

namespace sids
{
struct ClassType {
    std::string category;
    uint32_t priority = 3;
};

// By the name of a classtype.
using Classification = std::map<std::string, ClassType>;

// A file of lines "config classification: NAME, CATEGORY, PRIORITY".  Throws command::UsageError.
Classification read_classification(const std::string &path);

// The part of a rule's alerts that is the same in all of them.
std::string alert_rule_json(const Rule &rule, const Classification &classification);
// A whole line.  rule_json: of alert_rule_json().
std::string alert_line(const std::string &rule_json, const mapipkt &packet, int link_type);
} // namespace sids
