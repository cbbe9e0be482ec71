// SPDX-License-Identifier: MIT
#include "live/live_file.hpp"

#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include <nslice/file.h>

#include "support/catch.hpp"

namespace
{
void append(const nsdump::LiveFile &file, char letter, size_t bytes)
{
    const std::string text(bytes, letter);
    REQUIRE(write(file.descriptor(), text.data(), bytes) == ssize_t(bytes));
}

std::string text_of(const std::vector<std::byte> &part)
{
    return {reinterpret_cast<const char *>(part.data()), part.size()};
}

constexpr size_t kHeaderBytes = sizeof(nslice_file_header);
} // namespace

TEST_CASE("each part begins with the header and has only what is new", "[nsdump][live]")
{
    nsdump::LiveFile file;
    CHECK(file.take().empty());
    append(file, 'h', kHeaderBytes);
    append(file, 'a', 100);
    const std::string header(kHeaderBytes, 'h');
    CHECK(text_of(file.take()) == header + std::string(100, 'a'));
    CHECK(file.take().empty());
    append(file, 'b', 8);
    CHECK(file.new_bytes() == 8);
    CHECK(text_of(file.take()) == header + std::string(8, 'b'));
}

TEST_CASE("memory of parts that were read is free again", "[nsdump][live]")
{
    constexpr size_t kPartBytes = 1 << 20;
    nsdump::LiveFile file;
    append(file, 'h', kHeaderBytes);
    for (int part = 0; part < 32; ++part) {
        append(file, 'x', kPartBytes);
        file.take();
        struct stat status = {};
        REQUIRE(fstat(file.descriptor(), &status) == 0);
        CHECK(uint64_t(status.st_blocks) * 512 < kPartBytes);
    }
}
