// SPDX-License-Identifier: MIT
#include "check.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include <fmt/format.h>
#include <mapi/mapi.h>

#include "common/command/counted.hpp"
#include "common/command/tell.hpp"
#include "rule_flow.hpp"
#include "sids/language/option.hpp"

namespace sids
{
namespace
{
// A pcap file of Ethernet without packets, for flows that are never connected.
class EmptyCapture
{
public:
    EmptyCapture() : file_(memfd_create("empty.pcap", MFD_CLOEXEC))
    {
        constexpr std::array<uint32_t, 6> kHead = {0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1};
        if (file_ < 0 || write(file_, kHead.data(), sizeof(kHead)) != ssize_t(sizeof(kHead)))
            throw captures_source::MapiError("cannot make an empty capture in memory");
    }
    ~EmptyCapture() { close(file_); }
    EmptyCapture(const EmptyCapture &) = delete;
    EmptyCapture &operator=(const EmptyCapture &) = delete;

    std::string path() const { return fmt::format("/proc/self/fd/{}", file_); }

private:
    int file_;
};
} // namespace

int check_rules(const Options &options, const std::vector<Rule> &rules, RuleErrors &errors)
{
    setenv("MAPI_SOCKET", "none", 1);
    const EmptyCapture capture;
    captures_source::SourceOptions about;
    about.captures.push_back(capture.path());
    const captures_source::CaptureList list(about.captures);
    const captures_source::Source source(about, list);
    FlowSettings settings;
    settings.device = source.name();
    settings.are_all_cooked = options.are_all_cooked;
    for (const Rule &rule : rules) {
        try {
            const RuleFlow flow(rule, settings, "");
        } catch (const PlacedError &error) {
            errors.add({rule.line, error.offset(), error.what()});
        }
    }
    command::tell("{}", errors.text());
    if (!errors.are_none())
        return kExitUsage;
    if (!options.is_quiet)
        command::tell("sids: {}, no error\n", command::counted(rules.size(), "rule"));
    return kExitDone;
}
} // namespace sids
