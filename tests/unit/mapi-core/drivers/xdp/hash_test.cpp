// SPDX-License-Identifier: MIT
// HASHSAMP by an XDP program: the same packets as by the function, or left to it.
#include "drivers/xdp/code/hash_code.hpp"

#include <random>
#include <vector>

#include <mapi/function.h>

#include "functions/catalog.hpp"
#include "support/can_load_xdp.hpp"
#include "support/catch.hpp"

using namespace test_support;

namespace
{
constexpr uint8_t kTcp = 6, kUdp = 17;

// HASHSAMP of the engine.
class Sampler
{
public:
    explicit Sampler(int64_t parts)
    {
        mapi_argument arguments[2] = {};
        arguments[0].number = parts;
        mapi_function_setup setup = {};
        setup.arguments = arguments;
        setup.argument_count = 2;
        setup.link_type = 1;
        REQUIRE(mapi_fn_hashsamp.create(&setup, &instance_) == 0);
        REQUIRE(mapi_fn_hashsamp.offload->describe(instance_, 1, &step) == 1);
    }
    ~Sampler() { mapi_fn_hashsamp.destroy(instance_); }
    Sampler(const Sampler &) = delete;
    Sampler &operator=(const Sampler &) = delete;

    bool passes(const Bytes &frame)
    {
        mapi_packet packet = {};
        packet.data = frame.data();
        packet.caplen = packet.wire_len = uint32_t(frame.size());
        packet.link_type = 1;
        mapi_batch batch = {};
        mapi_batch_fill(&batch, &packet, 1);
        batch.link_type = 1;
        return mapi_fn_hashsamp.process(instance_, &batch, 1) != 0;
    }

    mapi_offload_step step = {};

private:
    void *instance_ = nullptr;
};

void put(Bytes &frame, size_t at, std::initializer_list<uint8_t> bytes)
{
    std::copy(bytes.begin(), bytes.end(), frame.begin() + ptrdiff_t(at));
}

// A packet as networks have them: random addresses and ports, plain headers.
Bytes plain(std::mt19937 &random, bool is_ipv6, uint8_t protocol)
{
    Bytes frame(is_ipv6 ? 94 : 74);
    for (uint8_t &byte : frame)
        byte = uint8_t(random());
    const size_t transport = is_ipv6 ? 54 : 34;
    if (is_ipv6) {
        put(frame, 12, {0x86, 0xdd, 0x60});
        put(frame, 18, {0, uint8_t(frame.size() - 54), protocol});
    } else {
        put(frame, 12, {8, 0, 0x45});
        put(frame, 16, {0, uint8_t(frame.size() - 14), 1, 2, 0x40, 0, 64, protocol});
    }
    if (protocol == kTcp)
        frame[transport + 12] = 0x50;
    return frame;
}

// How the kernel decided on one packet.
struct Decision {
    bool is_decided;
    bool passes;
};

class Kernel
{
public:
    explicit Kernel(const Sampler &sampler)
    {
        mapi_offload_node node = {};
        node.step = sampler.step;
        node.source = MAPI_OFFLOAD_ALL;
        nodes_.nodes.push_back(node);
        program_ = machine_.make(nodes_);
        REQUIRE(nodes_.nodes[0].is_taken);
    }
    Decision run(const Bytes &frame)
    {
        const uint64_t before = counts(*program_)[0].packets;
        test_run(program_->descriptor(), frame);
        const bool is_left = machine_.rings.take(1);
        machine_.rings.release();
        return {!is_left, counts(*program_)[0].packets > before};
    }

private:
    Machine machine_;
    Nodes nodes_;
    std::unique_ptr<Program> program_;
};
} // namespace

TEST_CASE("plain TCP and UDP flows are sampled in the kernel as in the engine", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Sampler sampler(300);
    Kernel kernel(sampler);
    std::mt19937 random(3);
    int passed = 0;
    for (int i = 0; i < 4000; ++i) {
        const Bytes frame = plain(random, i % 2, i % 3 ? kTcp : kUdp);
        const Decision decision = kernel.run(frame);
        REQUIRE(decision.is_decided);
        REQUIRE(decision.passes == sampler.passes(frame));
        passed += decision.passes;
    }
    CHECK(passed > 1000);
    CHECK(passed < 1350);
}

TEST_CASE("what a flow's hash cannot be read from directly is left to the engine",
          "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    Sampler sampler(1024);
    Kernel kernel(sampler);
    std::mt19937 random(4);
    int left = 0;
    for (int i = 0; i < 20000; ++i) {
        Bytes frame = plain(random, random() % 2, random() % 2 ? kTcp : kUdp);
        for (uint32_t changes = random() % 4; changes > 0; --changes)
            frame[12 + random() % 44] = uint8_t(random() % 4 ? random() % 64 : random());
        frame.resize(14 + random() % (frame.size() - 13));
        const Decision decision = kernel.run(frame);
        left += !decision.is_decided;
        if (decision.is_decided)
            REQUIRE(decision.passes == sampler.passes(frame));
        else
            REQUIRE(!decision.passes);
    }
    CHECK(left > 1000);
}

TEST_CASE("ARP has no flow: it is decided, and does not pass", "[mapi-core][xdp]")
{
    if (!can_load())
        return;
    const Sampler sampler(1024);
    Kernel kernel(sampler);
    Bytes arp(60);
    put(arp, 12, {8, 6});
    const Decision decision = kernel.run(arp);
    CHECK(decision.is_decided);
    CHECK(!decision.passes);
}
