// SPDX-License-Identifier: MIT
// ELF files as a hostile user makes them -> functions in bounded time and memory, or refused.
#include "cli/functions/elf_functions.hpp"
#include "decode/error.hpp"
#include "support/catch.hpp"
#include "support/elf_program.hpp"
#include "support/function_names.hpp"
#include "support/temp_dir.hpp"

#include <cerrno>
#include <chrono>
#include <cstddef>

#include <nslice/file.h>
#include <sys/stat.h>

namespace
{
using nsdump::ElfFunction;
using nsdump::ElfObject;
using test_support::ElfProgram;
using namespace std::string_literals;

const std::string kMark = "\xf3\x0f\x1e\xfa"s;

std::string refusal(const std::string &image)
{
    try {
        nsdump::read_elf_image(image, "file");
    } catch (const nsdump::TraceError &error) {
        return error.what();
    }
    return {};
}

ElfObject read(const ElfProgram &program)
{
    return nsdump::read_elf_image(program.image(), "file");
}

double seconds_of(const ElfProgram &program)
{
    const std::string image = program.image();
    const auto begin = std::chrono::steady_clock::now();
    nsdump::read_elf_image(image, "file");
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

uint64_t offset_in_code(const ElfObject &object, size_t number)
{
    return object.functions.at(number).offset - test_support::kElfCodeOffset;
}
} // namespace

TEST_CASE(
    "a uprobe is behind the mark for indirect branches, unless a branch of the function leads "
    "there",
    "[nsdump][functions]")
{
    ElfProgram program;
    program.code = kMark + "\x55\xc3"s + kMark + "\x90\xeb\xfd"s + kMark + "\x90\xc3"s +
                   "\x90\xeb\xfb"s + kMark;
    program.add("plain", 0, 6);
    program.add("loops", 6, 7);
    program.add("before_another", 13, 6);
    program.add("branches_outside", 19, 3);
    program.add("only_the_mark", 22, 4);
    const ElfObject object = read(program);
    REQUIRE(object.functions.size() == 5);
    CHECK(offset_in_code(object, 0) == 4);
    CHECK(offset_in_code(object, 1) == 6);
    CHECK(offset_in_code(object, 2) == 17);
    CHECK(offset_in_code(object, 3) == 19);
    CHECK(offset_in_code(object, 4) == 22);
    CHECK(object.functions[0].way == NSLICE_WAY_UPROBE_EMULATED);
    CHECK(object.functions[1].way == NSLICE_WAY_UPROBE_STEPPED);
}

TEST_CASE("functions that overlap are read in one pass", "[nsdump][functions]")
{
    ElfProgram program;
    while (program.code.size() < 1 << 20)
        program.code += kMark + std::string(12, '\x90');
    for (uint64_t at = 0; at < program.code.size(); at += 16)
        program.add("f", at, program.code.size() - at);
    CHECK(seconds_of(program) < 5); // one by one: 35 thousand million steps
}

TEST_CASE("segments that overlap are not searched again and again", "[nsdump][functions]")
{
    ElfProgram program;
    program.segments = 1000;
    program.code = kMark + std::string(4 << 20, '\x90');
    program.add("f", 0, 8);
    CHECK(seconds_of(program) < 2);
    CHECK(offset_in_code(read(program), 0) == 0);
}

TEST_CASE("a symbol without an end is cut", "[nsdump][functions]")
{
    ElfProgram program;
    program.code = std::string(16, '\x90');
    program.names = std::string(8 << 20, 'x');
    for (uint32_t i = 0; i < 2000; ++i)
        program.add_at_name(1 + i, 0, 16);
    CHECK(seconds_of(program) < 5); // each to its end: 16 thousand million steps
    CHECK(read(program).functions[0].symbol.size() == 16384);
}

TEST_CASE("a symbol whose name would be gigabytes is its own name", "[nsdump][functions]")
{
    ElfProgram program;
    program.code = std::string(16, '\x90');
    const std::string symbol = exploding_symbol();
    program.add(symbol, 0, 16);
    CHECK(read(program).functions.at(0).name == symbol + "()");
    program.add("_ZN3net4findEl", 0, 16);
    CHECK(read(program).functions.at(1).name == "net::find(long)");
}

TEST_CASE("files that no linker makes are refused", "[nsdump][functions]")
{
    ElfProgram program;
    program.code = std::string(16, '\x90');
    program.segments = 1001;
    CHECK(refusal(program.image()).find("more segments than a program (1001)") !=
          std::string::npos);
    program.segments = 1;
    std::string image = program.image();
    image.resize(17 << 20);
    image[offsetof(Elf64_Ehdr, e_shnum)] = image[offsetof(Elf64_Ehdr, e_shnum) + 1] = 0;
    CHECK(refusal(image).find("more sections than a program") != std::string::npos);
    CHECK(refusal("").find("is not an ELF file") != std::string::npos);
    CHECK(refusal("#!/bin/sh\n").find("is a script") != std::string::npos);
    CHECK(refusal(program.image().substr(0, 40)).find("is not an ELF file") != std::string::npos);
}

TEST_CASE("cut off anywhere, a file is read as far as it goes, or refused", "[nsdump][functions]")
{
    ElfProgram program;
    program.code = kMark + std::string(60, '\x90');
    program.add("one", 0, 20);
    program.add("other", 20, 1ull << 60);
    const std::string image = program.image();
    for (size_t bytes = 0; bytes < image.size(); ++bytes) {
        try {
            for (const ElfFunction &one :
                 nsdump::read_elf_image(image.substr(0, bytes), "file").functions)
                CHECK(one.offset < bytes);
        } catch (const nsdump::TraceError &) {
        }
    }
    CHECK(read(program).functions.size() == 2);
}

TEST_CASE("only regular files are opened, and none is waited for", "[nsdump][functions]")
{
    const test_support::TempDir folder;
    const std::string fifo = folder / "fifo";
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    for (const std::string &path : {fifo, folder.path().string(), "/dev/null"s}) {
        nsdump::RegularFile file(path);
        CHECK_FALSE(file.is_open());
        CHECK(file.number() == 0);
        CHECK_THROWS_WITH(nsdump::read_elf(file, path, "name"), "name: is not a regular file");
    }
    const nsdump::RegularFile absent(folder / "absent");
    CHECK(absent.number() == ENOENT);
}
