// SPDX-License-Identifier: MIT
#include "rule_check.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <mapi/mapi.h>

#include "captures/source.hpp"
#include "rule_flow.hpp"

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

captures_source::SourceOptions options_of(const EmptyCapture &capture)
{
    setenv("MAPI_SOCKET", "none", 1);
    captures_source::SourceOptions options;
    options.captures.push_back(capture.path());
    return options;
}

bool has_flow_bits(const Rule &rule)
{
    return std::any_of(rule.steps.begin(), rule.steps.end(), [](const Step &step) {
        const std::string_view function = step.function;
        return function == "CONNECTION_BITS" ||
               (function == "CONNECTION" && step.argument.text().find("set:") != std::string::npos);
    });
}
} // namespace

class RuleCheck::Flows
{
public:
    explicit Flows(bool are_all_cooked)
    {
        settings_.device = source_.name();
        settings_.are_all_cooked = are_all_cooked;
        // While it is there, the table of connections, which has the flow bits, stays.
        holder_ = mapi_create_flow(settings_.device.c_str());
        if (holder_ < 0 || mapi_apply_function(holder_, "CONNECTION", "") < 0)
            captures_source::throw_last_error();
    }
    ~Flows() { mapi_close_flow(holder_); }
    Flows(const Flows &) = delete;
    Flows &operator=(const Flows &) = delete;

    void make(const Rule &rule)
    {
        auto flow = std::make_unique<RuleFlow>(rule, settings_, "");
        if (has_flow_bits(rule)) // whose names others can take when the flow is closed
            kept_.push_back(std::move(flow));
    }

private:
    const EmptyCapture capture_;
    const captures_source::SourceOptions options_ = options_of(capture_);
    const captures_source::CaptureList list_{options_.captures};
    const captures_source::Source source_{options_, list_};
    FlowSettings settings_;
    int holder_ = 0;
    std::vector<std::unique_ptr<RuleFlow>> kept_;
};

RuleCheck::RuleCheck(bool are_all_cooked) : flows_(std::make_unique<Flows>(are_all_cooked)) {}

RuleCheck::~RuleCheck() = default;

void RuleCheck::check(const Rule &rule) const
{
    flows_->make(rule);
}
} // namespace sids
