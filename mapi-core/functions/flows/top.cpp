// SPDX-License-Identifier: MIT
// TOP: packets -> the most frequent values of a field, by packets or bytes.  Lets every packet
// pass.
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>

#include <mapi/topx.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/interval_clock.hpp"
#include "functions/common/refuse.hpp"
#include "functions/common/unread_packets.hpp"
#include "functions/flows/ranking.hpp"
#include "functions/flows/top_field.hpp"

namespace mapi::functions
{
namespace
{
constexpr uint64_t kNsPerSecond = 1000000000;

struct TopChoice {
    uint32_t rows;
    int protocol, field;
    bool is_by_bytes;
    uint64_t reset_ns; // 0: never

    uint64_t result_bytes() const { return offsetof(mapi_top_t, row) + rows * sizeof(topx_result); }
};

class Top
{
public:
    Top(const mapi_function_setup *setup, const TopChoice &choice)
        : choice_(choice), clock_({UINT64_MAX, choice.reset_ns}),
          ranking_(choice.rows, choice.is_by_bytes),
          result_(allocate_result<mapi_top_t>(setup, choice.result_bytes()))
    {
    }

    void run(const mapi_batch &batch, uint64_t mask)
    {
        unread_.note(batch, mask);
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
            take(batch.packets[std::countr_zero(rest)]);
        show();
    }

    void tick(uint64_t now_ns)
    {
        if (clock_.ended_in_silence(now_ns) > 0)
            begin_anew();
        show();
    }

    // The interval restarts with the next packet.
    void reset()
    {
        ranking_.clear();
        clock_.reset();
        has_begun_ = false;
        show();
    }

    uint64_t not_counted() const { return not_counted_.load(std::memory_order_relaxed); }
    uint64_t time_jumps() const { return clock_.time_jumps(); }
    const UnreadPackets &unread() const { return unread_; }

private:
    void take(const mapi_packet &packet)
    {
        if (!has_begun_)
            begun_s_ = packet.timestamp_ns / kNsPerSecond;
        has_begun_ = true;
        if (clock_.ended(packet.timestamp_ns) > 0)
            begin_anew();
        const auto value =
            read_field(packet, unread_.parse(packet), choice_.protocol, choice_.field);
        if (value && !ranking_.add(*value, packet.wire_len))
            not_counted_.fetch_add(1, std::memory_order_relaxed);
    }

    void begin_anew()
    {
        ranking_.clear();
        begun_s_ = clock_.end_ns(0) / kNsPerSecond;
    }

    void show()
    {
        const auto [from, until] = ranking_.take_changes();
        for (size_t i = from; i < until; ++i)
            write_row(result_->row[i], *ranking_.top()[i]);
        const auto rows = uint32_t(ranking_.top().size());
        if (rows < result_->rows) // the remaining rows are outdated
            memset(result_->row + rows, 0, (result_->rows - rows) * sizeof(topx_result));
        result_->rows = rows;
    }

    void write_row(topx_result &row, const Ranking::Row &from) const
    {
        const auto &[value, counts] = from;
        row.value = value.value;
        memcpy(&row.addr6, value.address6.data(), sizeof(row.addr6));
        row.family = uint16_t(value.family);
        row.count = counts.packets;
        row.bytecount = counts.bytes;
        row.last_rst_secs = uint32_t(begun_s_);
    }

    const TopChoice choice_;
    IntervalClock clock_;
    Ranking ranking_;
    bool has_begun_ = false;
    uint64_t begun_s_ = 0;
    std::atomic<uint64_t> not_counted_ = 0;
    UnreadPackets unread_;
    mapi_top_t *const result_;
};

// Argument `i`, or 0 if it was omitted.
int64_t number_of(const mapi_function_setup *setup, size_t i)
{
    return setup->arguments[i].kind ? setup->arguments[i].number : 0;
}

int create(const mapi_function_setup *setup, void **instance)
{
    const int64_t rows = number_of(setup, 0), protocol = number_of(setup, 1),
                  field = number_of(setup, 2);
    const int64_t sorted = number_of(setup, 3), reset_s = number_of(setup, 4);
    if (rows < 1 || rows > TOPX_MAX_X)
        return refuse_range(setup, MFUNCT_INVALID_ARGUMENT_1, "the number of values", rows,
                            "1 to 1000");
    if (protocol != TOPX_IP && protocol != TOPX_TCP && protocol != TOPX_UDP)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_2,
                      "protocol " + std::to_string(protocol) +
                          " is not 1 (TOPX_IP), 2 (TOPX_TCP) or 3 (TOPX_UDP)");
    if (!is_field_of(protocol, field))
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_3,
                      "field " + std::to_string(field) + " is not a field of that protocol");
    if (setup->arguments[3].kind && sorted != SORT_BY_PACKETS && sorted != SORT_BY_BYTES)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_4,
                      "order " + std::to_string(sorted) +
                          " is neither 1 (SORT_BY_PACKETS) nor 2 (SORT_BY_BYTES)");
    if (reset_s < 0)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_5,
                      "the time in seconds is negative (0 means forever)");
    const TopChoice choice = {uint32_t(rows), int(protocol), int(field), sorted == SORT_BY_BYTES,
                              uint64_t(reset_s) * kNsPerSecond};
    if (const int refused = reserve_memory(setup, Ranking::memory_bytes()))
        return refused;
    return create_object<Top>(setup, instance, setup, choice);
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    static_cast<Top *>(instance)->run(*batch, mask);
    return mask;
}

void drops(const void *instance, mapi_function_drops *drops)
{
    drops->buffer_full = static_cast<const Top *>(instance)->not_counted();
    drops->time_jumps = static_cast<const Top *>(instance)->time_jumps();
    static_cast<const Top *>(instance)->unread().add_drops(drops);
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_top = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "TOP",
    .description = "most frequent values of a field, by packets or bytes",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_RESULT_IN_PLACE | MAPI_FUNCTION_RESULT_COPIED,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Top>,
    .arguments = {MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT,
                  MAPI_OPTIONAL | MAPI_ARGUMENT_INT, MAPI_OPTIONAL | MAPI_ARGUMENT_INT},
    .reset = mapi::functions::reset<mapi::functions::Top>,
    .tick = mapi::functions::tick<mapi::functions::Top>,
    .drops = mapi::functions::drops,
};
