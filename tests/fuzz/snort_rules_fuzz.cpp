// SPDX-License-Identifier: MIT
// Fuzz target: any bytes as a rule file of Snort -> rules of sids, reasons, errors with places.  A
// filter that comes out of it is one that libpcap compiles.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include <pcap/pcap.h>

#include "snort2sids/collection.hpp"
#include "snort2sids/report.hpp"
#include "snort2sids/source/malformed.hpp"

namespace
{
using namespace snort2sids;

bool is_compiled(const std::string &filter)
{
    static pcap_t *const pcap = pcap_open_dead(DLT_EN10MB, 65535);
    bpf_program program{};
    const bool is_good = pcap_compile(pcap, &program, filter.c_str(), 1, PCAP_NETMASK_UNKNOWN) == 0;
    pcap_freecode(&program);
    return is_good;
}

void check(const Result &result)
{
    const Conversion *const conversion = result.conversion();
    if (!conversion)
        return;
    const std::string &rule = conversion->rule;
    const size_t start = rule.find(' ') + 1;
    if (rule.find('\n') != rule.npos || !is_compiled(rule.substr(start, rule.find(';') - start)))
        std::abort();
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const std::string text(reinterpret_cast<const char *>(data), size);
    if (text.find("include") != text.npos) // other files are no input of this target
        return 0;
    const Settings settings{false, size % 2 == 0};
    Variables variables;
    Collection collection(settings, variables);
    const std::function<void(const RuleLine &)> take = [&](const RuleLine &rule) {
        collection.add(rule);
    };
    RuleFiles files(variables, true, take);
    files.read_text("fuzz.rules", text);
    for (const Result &result : collection.results()) {
        check(result);
        (void)explanation_text(collection.results(), result.identity.number);
    }
    volatile size_t sink = summary_text(collection.results(), files.skipped()).size() +
                           refused_text(collection.results()).size() +
                           problems_text(files.problems()).size();
    (void)sink;
    return 0;
}
