// SPDX-License-Identifier: MIT
#include "decode/chunk_walker.hpp"

#include "nsdump_support.hpp"
#include "support/catch.hpp"

using test_support::source_of;
using test_support::TraceBuilder;

namespace
{
constexpr size_t kChunk = 64 + 8; // header and one unit

std::string four_chunks()
{
    TraceBuilder trace;
    for (uint64_t i = 0; i < 4; ++i)
        trace.chunk(100 + i, &i, sizeof i);
    return trace.bytes();
}

struct Walk {
    std::vector<unsigned> kinds;
    nsdump::DamageLog log;
};

Walk walk(const std::string &bytes)
{
    Walk out;
    auto source = source_of(bytes);
    nsdump::ChunkWalker walker(*source, nsdump::kFormatV1, 64, &out.log);
    nsdump::Chunk chunk;
    while (walker.next(chunk))
        out.kinds.push_back(chunk.header.kind);
    return out;
}

using Kinds = std::vector<unsigned>;
} // namespace

TEST_CASE("the walker returns every chunk of a complete file", "[nsdump][walker]")
{
    const Walk out = walk(four_chunks());
    CHECK(out.kinds == Kinds{100, 101, 102, 103});
    CHECK(out.log.chunks() == 0);
}

TEST_CASE("a damaged header loses only its chunk", "[nsdump][walker]")
{
    std::string bytes = four_chunks();
    bytes[64 + kChunk + 20] ^= 1;
    const Walk out = walk(bytes);
    CHECK(out.kinds == Kinds{100, 102, 103});
    CHECK(out.log.chunks() == 1);
    REQUIRE(out.log.places().size() == 1);
    CHECK(out.log.places()[0].offset == 64 + kChunk);
    CHECK(out.log.bytes() == kChunk);
}

TEST_CASE("missing bytes inside a payload do not hide the next chunk", "[nsdump][walker]")
{
    std::string bytes = four_chunks();
    bytes.erase(64 + kChunk + 64, 8);
    const Walk out = walk(bytes);
    CHECK(out.kinds == Kinds{100, 102, 103});
    CHECK(out.log.bytes() == kChunk - 8);
}

TEST_CASE("garbage between chunks is skipped and reported", "[nsdump][walker]")
{
    std::string bytes = four_chunks();
    bytes.insert(64 + 2 * kChunk, std::string(100000, 'x') + "NSLK" + std::string(4, 'x'));
    const Walk out = walk(bytes);
    CHECK(out.kinds == Kinds{100, 101, 102, 103});
    CHECK(out.log.bytes() == 100008);
}

TEST_CASE("from a file that ends inside a chunk, the complete ones are returned",
          "[nsdump][walker]")
{
    const std::string whole = four_chunks();
    for (size_t cut = 1; cut < kChunk; ++cut) {
        const Walk out = walk(whole.substr(0, whole.size() - cut));
        REQUIRE(out.kinds == Kinds{100, 101, 102});
        REQUIRE(out.log.bytes() == kChunk - cut);
    }
}

TEST_CASE("a header that claims more than the file holds is damage", "[nsdump][walker]")
{
    std::string bytes = four_chunks();
    const uint32_t claimed = 4096;
    std::memcpy(bytes.data() + 64 + kChunk + 8, &claimed, 4);
    test_support::seal_chunk_header(bytes, 64 + kChunk);
    CHECK(walk(bytes).kinds == Kinds{100, 102, 103});
}

TEST_CASE("a payload with a wrong checksum is refused when it is read", "[nsdump][walker]")
{
    std::string bytes = four_chunks();
    bytes[64 + kChunk + 64] ^= 1;
    auto source = source_of(bytes);
    nsdump::ChunkWalker walker(*source, nsdump::kFormatV1, 64, nullptr);
    nsdump::Chunk chunk;
    std::vector<uint64_t> units;
    REQUIRE(walker.next(chunk));
    CHECK(walker.read_payload(chunk, units));
    REQUIRE(walker.next(chunk));
    CHECK_FALSE(walker.read_payload(chunk, units));
}
