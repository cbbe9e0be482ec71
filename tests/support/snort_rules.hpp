// SPDX-License-Identifier: MIT
// Rules of Snort whose addresses are `any` -> a filter of their header and their match options.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace test_support
{
struct SnortRule {
    uint32_t sid = 0;
    std::string filter;  // for libpcap
    std::string options; // for MATCH
};

namespace snort_rules
{
// As the verdicts of rule-packets were made.
inline std::string ports_of(const std::string &ports)
{
    static const std::map<std::string, std::string> kVariables = {
        {"$HTTP_PORTS", "80,81,8080,8000,3128"},
        {"$SHELLCODE_PORTS", "!80"},
        {"$ORACLE_PORTS", "1521"}};
    const auto known = kVariables.find(ports);
    return known == kVariables.end() ? ports : known->second;
}

// "src" and "80,8000:8080" -> "(src port 80 or src portrange 8000-8080)"; empty for any port.
inline std::string ports_filter(const std::string &side, std::string ports)
{
    ports = ports_of(ports);
    if (ports == "any")
        return "";
    const bool is_negated = ports.front() == '!';
    std::istringstream list(ports.substr(is_negated));
    std::string filter;
    for (std::string port; std::getline(list, port, ',');) {
        const size_t colon = port.find(':');
        filter += filter.empty() ? "" : " or ";
        if (colon == port.npos) {
            filter += side + " port " + port;
            continue;
        }
        const std::string low = port.substr(0, colon), high = port.substr(colon + 1);
        filter += side + " portrange " + (low.empty() ? "0" : low) + "-" +
                  (high.empty() ? "65535" : high);
    }
    return std::string(" and ") + (is_negated ? "not " : "") + "(" + filter + ")";
}

inline std::string filter_of(std::istringstream &header)
{
    std::string action, protocol, source, source_ports, direction, target, target_ports;
    header >> action >> protocol >> source >> source_ports >> direction >> target >> target_ports;
    const std::string base = protocol == "ip"     ? "(ip or ip6)"
                             : protocol == "icmp" ? "(icmp or icmp6)"
                                                  : protocol;
    std::string there =
        base + ports_filter("src", source_ports) + ports_filter("dst", target_ports);
    if (direction == "->")
        return there;
    return "(" + there + ") or (" + base + ports_filter("src", target_ports) +
           ports_filter("dst", source_ports) + ")";
}

// Options that say nothing about a packet.
inline bool is_about_the_rule(const std::string &name)
{
    return name == "msg" || name == "rev" || name == "reference" || name == "classtype";
}

inline void add_option(SnortRule &rule, std::string option)
{
    option.erase(0, option.find_first_not_of(' '));
    const std::string name = option.substr(0, option.find_first_of(": "));
    if (name == "sid")
        rule.sid = uint32_t(std::stoul(option.substr(4)));
    else if (name == "id")
        rule.options += "ip_" + option + "; ";
    else if (!option.empty() && !is_about_the_rule(name))
        rule.options += option + "; ";
}
} // namespace snort_rules

inline SnortRule parse_snort_rule(const std::string &line)
{
    const size_t open = line.find('(');
    SnortRule rule;
    std::istringstream header(line.substr(0, open));
    rule.filter = snort_rules::filter_of(header);
    std::string option;
    bool is_quoted = false;
    for (size_t at = open + 1; at < line.rfind(')'); ++at) {
        is_quoted ^= line[at] == '"';
        if (line[at] == ';' && !is_quoted) {
            snort_rules::add_option(rule, option);
            option.clear();
            continue;
        }
        option += line[at];
        if (line[at] == '\\')
            option += line[++at];
    }
    return rule;
}

inline std::vector<SnortRule> read_snort_rules(const std::filesystem::path &path)
{
    std::vector<SnortRule> rules;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("alert "))
            rules.push_back(parse_snort_rule(line));
    }
    return rules;
}
} // namespace test_support
