// SPDX-License-Identifier: MIT
#include "decode/source/look_ahead.hpp"

#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "look_ahead_support.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace
{
constexpr size_t kBytes = (20 << 20) + 123;

std::string varied_bytes()
{
    std::string bytes(kBytes, '\0');
    for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = char(i * 7 + (i >> 12));
    return bytes;
}

std::string file_of(const test_support::TempDir &folder, const std::string &bytes)
{
    std::string path = folder / "file";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
}

bool is_at(uintptr_t address, const std::string &bytes, size_t offset, size_t count)
{
    return address != 0 &&
           std::memcmp(reinterpret_cast<const void *>(address), bytes.data() + offset, count) == 0;
}

constexpr size_t kDropped = 2 << 20; // an offset

// False if its file system keeps all pages in memory, as tmpfs does.  A read with RWF_NOWAIT would
// make the kernel read the page.
bool drop_from_memory(const std::string &path)
{
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    void *const page = mmap(nullptr, 1, PROT_READ, MAP_SHARED, fd, kDropped);
    unsigned char is_there = 1;
    const bool is_known = page != MAP_FAILED && mincore(page, 1, &is_there) == 0;
    if (page != MAP_FAILED)
        munmap(page, 1);
    close(fd);
    return is_known && (is_there & 1) == 0;
}
} // namespace

TEST_CASE("each part of a file in memory has an address", "[nsdump][look_ahead]")
{
    test_support::TempDir folder;
    const std::string bytes = varied_bytes(), path = file_of(folder, bytes);
    if (!test_support::can_look_ahead_in(path))
        return;
    const auto source = nsdump::open_file(path);
    nsdump::LookAhead ahead(*source);

    constexpr size_t kStep = 65'600;
    for (size_t at = 64; at + kStep <= kBytes; at += kStep)
        REQUIRE(is_at(ahead.address_of(at, kStep), bytes, at, kStep));
    CHECK(is_at(ahead.address_of(100, 3 << 20), bytes, 100, 3 << 20)); // back, and a long one
    CHECK(is_at(ahead.address_of(kBytes - 10, kStep), bytes, kBytes - 10, 10));
    CHECK(ahead.address_of(kBytes, 1) == 0);
    CHECK(ahead.address_of(0, kBytes) == 0); // too many
}

TEST_CASE("a file that was truncated has no addresses behind its end", "[nsdump][look_ahead]")
{
    test_support::TempDir folder;
    const std::string path = file_of(folder, varied_bytes());
    const auto source = nsdump::open_file(path);
    std::filesystem::resize_file(path, 4);
    nsdump::LookAhead ahead(*source);

    CHECK(ahead.address_of(1 << 20, 4096) == 0);
}

TEST_CASE("pages that are not in memory are not read", "[nsdump][look_ahead]")
{
    test_support::TempDir folder;
    const std::string path = file_of(folder, varied_bytes());
    if (!test_support::can_look_ahead_in(path))
        return;
    if (!drop_from_memory(path)) {
        WARN("its file system keeps all pages in memory");
        return;
    }
    const auto source = nsdump::open_file(path);
    nsdump::LookAhead ahead(*source);

    CHECK(ahead.address_of(kDropped, 4096) == 0);
    char byte = 0;
    for (size_t at = 0; at < kBytes; at += 512)
        REQUIRE(source->read_at(at, &byte, 1) == 1);
    nsdump::LookAhead again(*source);
    CHECK(again.address_of(kDropped, 4096) != 0);
}

TEST_CASE("bytes in memory have no address", "[nsdump][look_ahead]")
{
    const auto source = nsdump::bytes_in_memory(std::vector<std::byte>(100), "memory");
    nsdump::LookAhead ahead(*source);

    CHECK(ahead.address_of(0, 100) == 0);
}
