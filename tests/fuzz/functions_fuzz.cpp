// SPDX-License-Identifier: MIT
// Fuzz target: a function with arguments that it takes, and any bytes as packets -> no byte read outside of a packet, no mask that grows.
//
//   clang++-14 -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -mpopcnt -I. -Imapi-core -Imapi-core/functions -Imapi-core/include
//     tests/fuzz/functions_fuzz.cpp mapi-core/functions/*.cpp mapi-core/functions/{headers,flow_cache,anonymize}/*.cpp
//     $(ls mapi-core/functions/flow_report/*.cpp | grep -v fixbuf)
//     $(ls mapi-core/functions/match/*.cpp | grep -v -e bpf_.*x86 -e bpf_b -e set_none -e expression_none)
//     -lpcap -lhs -lcrypto -lpcre2-8 -lz -o functions_fuzz && ./functions_fuzz -max_len=2000 CORPUS
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include <fcntl.h>

#include <mapi/mapi.h>

#include "functions/catalog.hpp"

namespace
{
const char *const kRules = "IP,SRC_IP,MAP\nIP,OPTIONS,STRIP\nTCP,PAYLOAD,STRIP,3\nHTTP,URI,HASHED,SHA_2,STRIP_REST\nFTP,PASS,REPLACE,x\nIP,CHECKSUM,CHECKSUM_ADJUST";

// Of one function, in the letters of its table; "f" and "S" stand for the reference below.
struct Case {
    const mapi_function *function;
    std::vector<const char *> texts;
    std::vector<int64_t> numbers;
};

const Case kCases[] = {
    {&mapi_fn_bpf_filter, {"tcp[20:4] = 0x47455420 or ip6 or vlan"}, {}},
    {&mapi_fn_str_search, {"|00 01|a"}, {2, 0}},
    {&mapi_fn_regexp, {"(?s)[^a-z]."}, {}},
    {&mapi_fn_interface, {}, {0}},
    {&mapi_fn_startstop, {"+1ms", "+1h"}, {}},
    {&mapi_fn_sample, {}, {2, PERIODIC}},
    {&mapi_fn_hashsamp, {}, {1024, 1}},
    {&mapi_fn_pkt_counter, {}, {}},
    {&mapi_fn_byte_counter, {}, {}},
    {&mapi_fn_pktinfo, {}, {PKT_SIZE}},
    {&mapi_fn_gap, {}, {}},
    {&mapi_fn_hash, {}, {3}},
    {&mapi_fn_burst, {}, {100, 100000, 100, 96, 1000, 1000, 1000}},
    {&mapi_fn_stats, {"5"}, {1, 1}},
    {&mapi_fn_dist, {"0", "1000", "10"}, {1, 1}},
    {&mapi_fn_bucket, {"1ms"}, {1, 1, 1}},
    {&mapi_fn_res2file, {"1", "1@1", "rows", "null", "1s"}, {1, 0, 0}},
    {&mapi_fn_expired_flows, {}, {5, 5, 2}},
    {&mapi_fn_flow_report, {"NETFLOW_V5", "null", "", ""}, {0}},
    {&mapi_fn_flow_report, {"NETFLOW_V9", "null", "", ""}, {0}},
    {&mapi_fn_flow_report, {"NETFLOW_V9", "SHMEM", "", "IP_SRC_ADDR ICMP_TYPE TCP_WINDOW TCP_SEQUENCE VLAN_TAG SRC_MAC"}, {-1}},
    {&mapi_fn_anonymize, {kRules}, {}},
    {&mapi_fn_anonymizeip, {"0123456789abcdef0123456789abcdef"}, {}},
    {&mapi_fn_to_buffer, {}, {NOWAIT}},
    {&mapi_fn_to_file, {"null"}, {MFF_PCAP, 0, 0}},
};

uint64_t values[MAPI_BATCH_MAX];
uint64_t words[8];
mapi_reference reference = {5, 1, 0, values, 1, 1, words, 8, 0};
const mapi_reference *const references[] = {&reference};

// An instance, from its creation to its end.
class Instance
{
public:
    explicit Instance(const Case &chosen) : function_(*chosen.function)
    {
        static const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        std::vector<mapi_argument> arguments;
        auto text = chosen.texts.begin();
        auto number = chosen.numbers.begin();
        for (const char *letter = function_.args; *letter; ++letter) {
            if (*letter == '?')
                continue;
            const bool is_text = *letter == 's' || *letter == 'w' || *letter == 'o' || *letter == 'S';
            mapi_argument argument{};
            argument.kind = *letter;
            argument.text = is_text ? *text++ : nullptr;
            if (*letter != 's')
                argument.number = *number++;
            if (*letter == 'w' || (*letter == 'o' && argument.number >= 0))
                argument.number = null;
            argument.references = *letter == 'f' || *letter == 'S' ? references : nullptr;
            arguments.push_back(argument);
        }
        result_.resize(function_.result_bytes / 8 + 1);
        mapi_function_setup setup{};
        char error[MAPI_ERROR_TEXT_BYTES];
        setup.struct_size = sizeof(setup);
        setup.arguments = arguments.data();
        setup.argument_count = uint32_t(arguments.size());
        setup.result = result_.data();
        setup.link_type = MAPI_LINK_UNKNOWN;
        setup.error = error;
        setup.error_bytes = sizeof(error);
        setup.engine = this;
        setup.config = "hashSize=16\n"; // for FLOW_REPORT: small, so that flows find no room
        setup.take_single_packets = [](const mapi_function_setup *) {};
        setup.allocate_result = [](const mapi_function_setup *given, uint32_t bytes) {
            auto &in_place = static_cast<Instance *>(given->engine)->in_place_;
            in_place.assign(bytes / 8 + 1, 0);
            return in_place.data();
        };
        if (function_.create(&setup, &state_) != 0)
            abort();
    }
    ~Instance()
    {
        if (function_.end)
            function_.end(state_);
        if (function_.cancel)
            function_.cancel(state_);
        while (function_.is_settled && !function_.is_settled(state_)) {
        }
        function_.destroy(state_);
    }
    Instance(const Instance &) = delete;

    void run(const mapi_batch &batch)
    {
        uint64_t after[MAPI_BATCH_MAX];
        mapi_batch made;
        reference.mask = batch.all;
        if (function_.process(state_, &batch, batch.all) & ~batch.all)
            abort();
        if (function_.values && (function_.values(state_, &batch, batch.all, after) & ~batch.all))
            abort();
        while (function_.next_batch && function_.next_batch(state_, &made)) {
        }
        if (function_.tick)
            function_.tick(state_, batch.packets[batch.count - 1].timestamp_ns);
    }

private:
    const mapi_function &function_;
    void *state_ = nullptr;
    std::vector<uint64_t> result_, in_place_;
};

// Each packet in memory of its very length, so that a byte too far is seen.
struct Packets {
    std::vector<std::unique_ptr<uint8_t[]>> bytes;
    std::vector<mapi_packet> views;

    // Its length, its time's step and its link type stand before it.
    Packets(const uint8_t *data, size_t size)
    {
        static constexpr uint16_t kLinkTypes[] = {1, 101, 0, 9, 50, 104, 108, 113, 228, 229, 276, 147};
        uint64_t time_ns = 1'700'000'000'000'000'000;
        while (size > 4 && views.size() < MAPI_BATCH_MAX) {
            mapi_packet packet{};
            packet.caplen = uint32_t(std::min<size_t>(data[0] | (data[1] & 3) << 8, size - 4));
            packet.wire_len = packet.caplen + (data[1] >> 2);
            time_ns += uint64_t(int64_t(int8_t(data[2])) * 500'000'000);
            packet.timestamp_ns = time_ns;
            packet.link_type = kLinkTypes[data[3] % std::size(kLinkTypes)];
            bytes.push_back(std::make_unique<uint8_t[]>(packet.caplen));
            std::copy_n(data + 4, packet.caplen, bytes.back().get());
            packet.data = bytes.back().get();
            views.push_back(packet);
            data += 4 + packet.caplen;
            size -= 4 + packet.caplen;
        }
    }
};
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 6)
        return 0;
    const Packets packets(data + 1, size - 1);
    Instance instance(kCases[data[0] % std::size(kCases)]);
    mapi_batch batch;
    mapi_batch_fill(&batch, packets.views.data(), uint32_t(packets.views.size()));
    instance.run(batch);
    return 0;
}
