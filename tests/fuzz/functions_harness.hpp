// SPDX-License-Identifier: MIT
// What the function targets share: the lifetime of an instance, and any bytes as packets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mapi/functions.h>
#include <mapi/mapi.h>

#include "engine/memory/ring_memory.hpp"
#include "functions/catalog.hpp"
#include "ring/ring_reader.hpp"
#include "support/function_memory.hpp"

namespace fuzz
{
// Of one function, by the letters of its table; "f" and "S" are the reference below.
struct Case {
    const mapi_function *function;
    std::vector<const char *> texts;
    std::vector<int64_t> numbers;
};

inline uint64_t values[MAPI_BATCH_MAX];
inline uint64_t words[8];
inline mapi_reference reference = {5, 1, 0, values, 1, 1, words, 8, 0};
inline const mapi_reference *const references[] = {&reference};
inline const uint64_t begun = 1;
inline const uint64_t *const flows[] = {&begun};

// A private network namespace with a loopback interface: packets that are sent reach no other
// process.
inline void leave_network()
{
    if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0) {
        perror("private network namespace for functions that send");
        exit(77);
    }
    const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq loopback = {};
    strcpy(loopback.ifr_name, "lo");
    loopback.ifr_flags = IFF_UP;
    if (ioctl(any, SIOCSIFFLAGS, &loopback) < 0)
        abort();
    close(any);
}

// An instance, from its creation to its end.
class Instance
{
public:
    // may_refuse: the arguments may be invalid.
    explicit Instance(const Case &chosen, bool may_refuse = false) : function_(*chosen.function)
    {
        static const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        std::vector<mapi_argument> arguments;
        auto text = chosen.texts.begin();
        auto number = chosen.numbers.begin();
        for (const uint16_t *listed = function_.arguments; *listed; ++listed) {
            const char letter = char(MAPI_ARGUMENT_KIND(*listed));
            const bool is_text = strchr("swoSF", letter) != nullptr;
            mapi_argument argument{};
            if (is_text ? text == chosen.texts.end() : number == chosen.numbers.end()) { // left out
                arguments.push_back(argument);
                continue;
            }
            argument.kind = uint8_t(letter);
            argument.text = is_text ? *text++ : nullptr;
            if (letter != MAPI_ARGUMENT_STRING)
                argument.number = *number++;
            if (letter == MAPI_ARGUMENT_FILE ||
                (letter == MAPI_ARGUMENT_OUTPUT && argument.number >= 0))
                argument.number = null;
            argument.references =
                letter == MAPI_ARGUMENT_FUNCTION || letter == MAPI_ARGUMENT_FUNCTIONS ? references
                                                                                      : nullptr;
            argument.flows = letter == MAPI_ARGUMENT_FLOWS ? flows : nullptr;
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
        give_memory(setup);
        setup.meter = &measured_;
        setup.ring = &ring_calls_;
        setup.config = "hashSize=16\n"; // for FLOW_REPORT: small, so that flows do not fit
        setup.take_single_packets = [](const mapi_function_setup *) {};
        setup.run_in_order = [](const mapi_function_setup *) {};
        setup.allocate_result = [](const mapi_function_setup *given, uint32_t bytes) {
            auto &in_place = static_cast<Instance *>(given->engine)->in_place_;
            in_place.assign(bytes / 8 + 1, 0);
            return in_place.data();
        };
        if (!function_.create)
            state_ = result_.data();
        if (!function_.create || function_.create(&setup, &state_) == 0)
            return;
        state_ = nullptr;
        if (!may_refuse)
            abort();
    }
    ~Instance()
    {
        if (!state_)
            return;
        static constexpr mapi_function_ending kNone = {};
        const mapi_function_ending &ending = function_.ending ? *function_.ending : kNone;
        if (ending.end)
            ending.end(state_);
        if (ending.cancel)
            ending.cancel(state_);
        while (ending.is_settled && !ending.is_settled(state_)) {
        }
        if (function_.destroy)
            function_.destroy(state_);
    }
    Instance(const Instance &) = delete;

    bool is_there() const { return state_ != nullptr; }

    void run(const mapi_batch &batch)
    {
        uint64_t after[MAPI_BATCH_MAX];
        mapi_batch made;
        reference.mask = batch.all;
        let_objects_watch(batch);
        if (function_.process(state_, &batch, batch.all) & ~batch.all)
            abort();
        if (function_.result && function_.result->values &&
            (function_.result->values(state_, &batch, batch.all, after) & ~batch.all))
            abort();
        while (function_.transform && function_.transform->next_batch(state_, &made)) {
        }
        if (function_.tick)
            function_.tick(state_, batch.packets[batch.count - 1].timestamp_ns);
        while (reader_ && reader_->next().data)
            reader_->release();
    }

private:
    static mapi_ring *make_ring(const mapi_function_setup *setup, const mapi_ring_options *options)
    {
        auto &self = *static_cast<Instance *>(setup->engine);
        const mapi_ring_options small = {options->flags & ~uint32_t(MAPI_RING_WRITER_WAITS),
                                         options->spare_bytes, 1 << 16, 0, 0};
        self.ring_ = std::make_unique<mapi::engine::RingMemory>(
            std::make_shared<mapi::engine::HeapArena>(), small);
        self.reader_ = std::make_unique<mapi::ring::RingReader>(self.ring_->writer().pages());
        return mapi::engine::as_handle(self.ring_.get());
    }

    const mapi_ring_calls ring_calls_ = mapi::engine::ring_calls(make_ring);
    std::unique_ptr<mapi::engine::RingMemory> ring_;
    std::unique_ptr<mapi::ring::RingReader> reader_;
    const mapi_function &function_;
    void *state_ = nullptr;
    std::vector<uint64_t> result_, in_place_;
    const mapi_perf_t measured_ = {};
};

// Each packet is in a buffer of exactly its length, so that an access beyond it is detected.
struct Packets {
    std::vector<std::unique_ptr<uint8_t[]>> bytes;
    std::vector<mapi_packet> views;

    // It is preceded by its length, the time step and its link type.
    Packets(const uint8_t *data, size_t size)
    {
        static constexpr uint16_t kLinkTypes[] = {1,   101, 0,   9,   50,  104,
                                                  108, 113, 228, 229, 276, 147};
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
} // namespace fuzz
