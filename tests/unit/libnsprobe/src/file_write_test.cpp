// SPDX-License-Identifier: MIT
// The file writer at the end of the medium: only whole chunks, and room for a footer after a
// failure.
#include "support/catch.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <vector>

#include "support/record_reader.hpp"
#include "support/temp_dir.hpp"

#include <nsprobe/session.h>

extern "C" {
#include "drain/file_write.h"
}

namespace
{
// The kernel refuses to let any file of this process grow beyond `bytes`: a full disk with byte
// granularity.
class FileLimit
{
public:
    explicit FileLimit(rlim_t bytes)
    {
        before_ = std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &limit_);
        const rlimit one{bytes, limit_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &one);
    }
    ~FileLimit()
    {
        setrlimit(RLIMIT_FSIZE, &limit_);
        std::signal(SIGXFSZ, before_);
    }

private:
    rlimit limit_;
    void (*before_)(int);
};

int put(nsp_file &file, const std::string &text)
{
    return nsp_file_small_chunk(&file, NSLICE_CHUNK_INFO, text.data(), uint32_t(text.size()));
}

nsp_file create(const std::filesystem::path &path)
{
    nsp_file file;
    REQUIRE(nsp_file_open(&file, path.c_str()) == 0);
    REQUIRE(nsp_file_begin(&file) == 0);
    return file;
}
} // namespace

TEST_CASE("a file of several chunks reads back complete", "[libnsprobe][file]")
{
    test_support::TempDir dir;
    nsp_file file = create(dir / "t.nsl");
    CHECK(put(file, "a=1\n") == 0);
    CHECK(put(file, "") == 0);
    CHECK(put(file, "b=" + std::string(9000, 'x') + "\n") == 0);
    CHECK(nsp_file_close(&file) == 0);
    const auto trace = test_support::read_trace(dir / "t.nsl");
    CHECK(trace.complaint() == "");
    CHECK(trace.info.at("a") == "1");
    CHECK(trace.info.at("b").size() == 9000);
}

TEST_CASE("a chunk that does not fit leaves nothing behind, and a smaller one may follow",
          "[libnsprobe][file]")
{
    test_support::TempDir dir;
    nsp_file file = create(dir / "t.nsl");
    REQUIRE(put(file, "a=1\n") == 0);
    {
        FileLimit limit(1000);
        CHECK(put(file, "big=" + std::string(5000, 'x')) == -EFBIG);
        CHECK_THAT(nsp_last_error(),
                   Catch::Contains((dir / "t.nsl").string() + ": cannot write after 136 bytes"));
        CHECK(put(file, "c=3\n") ==
              -EFBIG); // after a failure, nothing is tried until the error is cleared
        CHECK(std::filesystem::file_size(dir / "t.nsl") == 136);
        nsp_file_forget_error(&file);
        CHECK(put(file, "c=3\n") == 0);
    }
    CHECK(nsp_file_close(&file) == 0);
    const auto trace = test_support::read_trace(dir / "t.nsl");
    CHECK(trace.complaint() == "");
    CHECK(trace.info.at("c") == "3");
    CHECK_FALSE(trace.info.contains("big"));
}

TEST_CASE("a file that cannot be created is reported with its name and the reason",
          "[libnsprobe][file]")
{
    nsp_file file;
    CHECK(nsp_file_open(&file, "/no/such/folder/t.nsl") == -ENOENT);
    CHECK_THAT(nsp_last_error(),
               Catch::Contains("/no/such/folder/t.nsl: cannot create the trace file: No such file "
                               "or directory (create its folder first"));
}

TEST_CASE("another session does not overwrite a trace that is being written", "[libnsprobe][file]")
{
    test_support::TempDir dir;
    nsp_file first = create(dir / "t.nsl"), second;
    REQUIRE(put(first, "a=1\n") == 0);
    CHECK(nsp_file_open(&second, (dir / "t.nsl").c_str()) == -EBUSY);
    CHECK_THAT(nsp_last_error(), Catch::Contains("another session") && Catch::Contains("%p"));
    CHECK(nsp_file_close(&first) == 0);
    CHECK(test_support::read_trace(dir / "t.nsl").info.at("a") == "1");
    second = create(dir / "t.nsl");
    CHECK(nsp_file_close(&second) == 0);
    CHECK(std::filesystem::file_size(dir / "t.nsl") == sizeof(nslice_file_header));
}

TEST_CASE("a header that does not fit is a failure and leaves no descriptor open",
          "[libnsprobe][file]")
{
    test_support::TempDir dir;
    const auto open_files = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    };
    const auto before = open_files();
    {
        FileLimit limit(10);
        nsp_file file;
        REQUIRE(nsp_file_open(&file, (dir / "t.nsl").c_str()) == 0);
        CHECK(nsp_file_begin(&file) == -EFBIG);
        nsp_file_abandon(&file);
    }
    CHECK(open_files() == before);
}

TEST_CASE("aborting removes the new file, but no link or device", "[libnsprobe][file]")
{
    test_support::TempDir dir;
    nsp_file file = create(dir / "t.nsl");
    nsp_file_abandon(&file);
    CHECK_FALSE(std::filesystem::exists(dir / "t.nsl"));

    std::filesystem::create_symlink(dir / "target", dir / "link");
    file = create(dir / "link");
    nsp_file_abandon(&file);
    CHECK(std::filesystem::is_symlink(dir / "link"));

    if (mknod((dir / "null").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) { // root only
        file = create(dir / "null");
        nsp_file_abandon(&file);
        CHECK(std::filesystem::is_character_file(dir / "null"));
    }
}

TEST_CASE("the contents of the file stay until the trace begins", "[libnsprobe][file]")
{
    test_support::TempDir dir;
    nsp_file file = create(dir / "t.nsl");
    REQUIRE(put(file, "a=1\n") == 0);
    CHECK(nsp_file_close(&file) == 0);
    REQUIRE(nsp_file_open(&file, (dir / "t.nsl").c_str()) == 0);
    nsp_file_abandon(&file);
    CHECK(test_support::read_trace(dir / "t.nsl").info.at("a") == "1");
}

TEST_CASE("a file that is not a trace is not overwritten", "[libnsprobe][file]")
{
    test_support::TempDir dir;
    std::ofstream(dir / "program") << "#!/bin/sh\n";
    std::ofstream(dir / "empty").close();
    nsp_file file;
    CHECK(nsp_file_open(&file, (dir / "program").c_str()) == -EEXIST);
    CHECK_THAT(nsp_last_error(), Catch::Contains("program: exists and is not a trace"));
    CHECK(std::filesystem::file_size(dir / "program") == 10);
    CHECK(nsp_file_open(&file, (dir / "empty").c_str()) == 0);
    nsp_file_abandon(&file);
    CHECK(std::filesystem::exists(dir / "empty"));
}

TEST_CASE("a pipe without a reader is refused immediately", "[libnsprobe][file]")
{
    test_support::TempDir dir;
    REQUIRE(mkfifo((dir / "pipe").c_str(), 0600) == 0);
    nsp_file file;
    CHECK(nsp_file_open(&file, (dir / "pipe").c_str()) == -ENXIO);
    CHECK_THAT(nsp_last_error(), Catch::Contains("pipe: has no reader"));
}

TEST_CASE("a passed descriptor is written from its start and stays the property of its owner",
          "[libnsprobe][file]")
{
    test_support::TempDir dir;
    const std::string path = dir / "t.nsl";
    nsp_file file = create(path);
    REQUIRE(put(file, "a=1\n") == 0);
    CHECK(nsp_file_close(&file) == 0);
    const int given = open(path.c_str(), O_RDWR);
    REQUIRE(lseek(given, 0, SEEK_END) > 0);

    REQUIRE(nsp_file_take(&file, given, "trace") == 0);
    REQUIRE(nsp_file_begin(&file) == 0);
    REQUIRE(put(file, "b=2\n") == 0);
    std::filesystem::rename(path, dir / "moved.nsl");
    CHECK(nsp_file_find(&file) == 0); // its name is the owner's concern
    CHECK(nsp_file_close(&file) == 0);
    const auto trace = test_support::read_trace(dir / "moved.nsl");
    CHECK(trace.complaint() == "");
    CHECK_FALSE(trace.info.contains("a"));
    CHECK(trace.info.at("b") == "2");

    REQUIRE(nsp_file_take(&file, given, "trace") == 0);
    REQUIRE(nsp_file_begin(&file) == 0);
    nsp_file_abandon(&file);
    CHECK(std::filesystem::exists(dir / "moved.nsl"));
    CHECK(close(given) == 0);
}

TEST_CASE("an unwritable descriptor, or one that is not of a trace, is refused and not modified",
          "[libnsprobe][file]")
{
    test_support::TempDir dir;
    std::ofstream(dir / "program") << "#!/bin/sh\n";
    nsp_file file;
    const auto open_files = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    };
    const auto before = open_files();
    const auto refuse = [&](int flags, int error, const char *words) {
        const int given = open((dir / "program").c_str(), flags);
        CHECK(nsp_file_take(&file, given, "trace") == error);
        CHECK_THAT(nsp_last_error(), Catch::Contains(words));
        close(given);
    };
    refuse(O_RDONLY, -EBADF, "trace: is not open for writing");
    refuse(O_RDWR, -EEXIST, "trace: exists and is not a trace");
    refuse(O_WRONLY, -EBADF, "trace: exists, but cannot be read");
    CHECK(nsp_file_take(&file, -1, "trace") == -EBADF);
    CHECK(open_files() == before);
    CHECK(std::filesystem::file_size(dir / "program") == 10);
}
