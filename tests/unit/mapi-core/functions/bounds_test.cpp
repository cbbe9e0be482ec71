// SPDX-License-Identifier: MIT
// The memory that functions use for packets of uncommon lengths and link types is bounded, and what
// is lost because of it is counted.
#include "functions/catalog.hpp"

#include <cstdio>
#include <vector>

#include <mapi/mapi.h>

#include "support/catch.hpp"
#include "support/function_memory.hpp"

namespace
{
constexpr uint32_t kMib = 1 << 20;

class Instance
{
public:
    Instance(const mapi_function &table, std::vector<mapi_argument> arguments)
        : table_(table), result_(table.result_bytes / 8 + 1)
    {
        mapi_function_setup setup = {};
        setup.struct_size = sizeof(setup);
        setup.arguments = arguments.data();
        setup.argument_count = uint32_t(arguments.size());
        setup.result = result_.data();
        setup.link_type = 1;
        setup.engine = this;
        setup.allocate_result = [](const mapi_function_setup *given, uint32_t bytes) {
            auto &result = static_cast<Instance *>(given->engine)->result_;
            result.assign(bytes / 8 + 1, 0);
            return result.data();
        };
        give_memory(setup);
        REQUIRE(table_.create(&setup, &state_) == 0);
    }
    ~Instance()
    {
        if (table_.ending)
            table_.ending->end(state_);
        table_.destroy(state_);
    }
    Instance(const Instance &) = delete;

    uint64_t run(uint32_t bytes, uint32_t packets, uint16_t link_type = 1)
    {
        const std::vector<uint8_t> data(bytes);
        const std::vector<mapi_packet> views(packets,
                                             {data.data(), bytes, bytes, 0, link_type, 0, 0});
        mapi_batch batch;
        mapi_batch_fill(&batch, views.data(), packets);
        const uint64_t passed = table_.process(state_, &batch, batch.all);
        if (!table_.transform)
            return uint64_t(__builtin_popcountll(passed));
        uint64_t made = 0;
        for (mapi_batch next; table_.transform->next_batch(state_, &next);)
            made += next.count;
        return made;
    }
    mapi_function_drops drops() const
    {
        mapi_function_drops drops = {};
        table_.drops(state_, &drops);
        return drops;
    }

private:
    const mapi_function &table_;
    std::vector<uint64_t> result_;
    void *state_ = nullptr;
};

mapi_argument text(const char *words)
{
    mapi_argument argument = {};
    argument.kind = MAPI_ARGUMENT_STRING;
    argument.text = words;
    return argument;
}

mapi_argument number(char kind, int64_t value)
{
    mapi_argument argument = {};
    argument.kind = uint8_t(kind);
    argument.number = value;
    return argument;
}
} // namespace

TEST_CASE("a filter supports packets of eight link types and counts those of others as lost",
          "[mapi-core][functions]")
{
    Instance filter(mapi_fn_bpf_filter, {text("len > 10")});
    for (uint16_t link_type = 101, known = 1; known < 8; ++link_type) { // Ethernet is the first
        if (filter.run(100, 1, link_type) == 1)
            ++known;
        REQUIRE(link_type < 300);
    }
    const uint64_t before = filter.drops().link_type;
    CHECK(filter.run(100, 5, 276) == 0);
    CHECK(filter.drops().link_type == before + 5);
    CHECK(filter.run(100, 5, 1) == 5);
}

TEST_CASE("copies of a batch take no more than their limit; all of common lengths fit",
          "[mapi-core][functions]")
{
    Instance anonymize(mapi_fn_anonymize, {text("IP,SRC_IP,MAP")});
    CHECK(anonymize.run(262144, 64) == 64);
    CHECK(anonymize.drops().buffer_full == 0);
    CHECK(anonymize.run(10 * kMib, 3, 231) == 1); // D-Bus
    CHECK(anonymize.drops().buffer_full == 2);
}

TEST_CASE("a record of more than 4 MiB is counted as not written, and others are written",
          "[mapi-core][functions]")
{
    FILE *const file = tmpfile();
    REQUIRE(file);
    {
        Instance to_file(mapi_fn_to_file, {number('i', MFF_PCAP), number('w', fileno(file)),
                                           number(0, 0), number(0, 0)});
        to_file.run(5 * kMib, 2, 231);
        to_file.run(3 * kMib, 2, 231);
        CHECK(to_file.drops().not_written == 2);
    }
    fseek(file, 0, SEEK_END);
    CHECK(ftell(file) == long(24 + 2 * (16 + 3 * kMib)));
    fclose(file);
}
