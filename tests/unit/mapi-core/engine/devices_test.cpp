// SPDX-License-Identifier: MIT
// Devices: which file is read, which devices are listed, and which are forgotten.
#include "support/catch.hpp"

#include <cstdlib>
#include <fstream>

#include <fcntl.h>
#include <net/if.h>
#include <sys/file.h>
#include <unistd.h>

#include <mapi/mapi.h>

#include "drivers/catalog.hpp"
#include "engine/devices.hpp"
#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "mapi-core/capture_builder.hpp"
#include "support/requires.hpp"
#include "support/temp_dir.hpp"

using mapi::engine::Devices;
using mapi::engine::DevicesOptions;
using test_support::CaptureBuilder;
using test_support::TempDir;

namespace
{
const mapi::engine::Registry &registry()
{
    static const mapi::engine::Registry all(mapi::functions::catalog(), mapi::drivers::catalog());
    return all;
}

struct Capture {
    const TempDir dir;
    const std::string path =
        CaptureBuilder().pcap_header().pcap_record("abcd", 4).write(dir / "a.pcap");
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);

    ~Capture() { close(file); }
};

const DevicesOptions kOfOneClient = {1, false, true};

template <class Call> int error_of(Call call)
{
    try {
        call();
        return 0;
    } catch (const mapi::Error &error) {
        return error.number();
    }
}

// Empty if there is only lo.
std::string other_interface()
{
    std::string found;
    struct if_nameindex *const all = if_nameindex();
    for (const struct if_nameindex *at = all; at && at->if_index != 0; ++at) {
        if (std::string(at->if_name) != "lo")
            found = at->if_name;
    }
    if_freenameindex(all);
    return found;
}

bool can_lock(int file)
{
    return flock(file, LOCK_EX | LOCK_NB) == 0;
}
} // namespace

TEST_CASE("a path is not opened in place of a descriptor that cannot be kept",
          "[mapi-core][engine][devices]")
{
    const Capture capture;
    Devices devices(registry(), kOfOneClient);
    const int none = dup(capture.file);
    close(none);
    CHECK(error_of([&] { devices.create_private(capture.path, MFF_PCAP, none); }) == PCAP_OPEN_ERR);
    CHECK(error_of([&] { devices.create_offline(capture.path, MFF_PCAP, none); }) == PCAP_OPEN_ERR);
}

TEST_CASE("a file is closed with the device of its only flow, and not reopened by name",
          "[mapi-core][engine][devices]")
{
    const Capture capture;
    Devices devices(registry(), kOfOneClient);
    const int given = open(capture.path.c_str(), O_RDONLY | O_CLOEXEC);
    auto device = devices.create_private(capture.path, MFF_PCAP, given);
    close(given);
    const std::string name = device->settings().name;
    CHECK_FALSE(can_lock(capture.file));
    CHECK(devices.acquire(name) == device);
    CHECK(devices.next(0) == 1);

    device.reset();

    CHECK(can_lock(capture.file));
    CHECK(devices.next(0) == 0);
    CHECK_FALSE(devices.has(name));
    CHECK(error_of([&] { devices.acquire(name); }) == MAPID_NO_DRIVER);
}

TEST_CASE("the name of a shared device is not disclosed when another one is requested",
          "[mapi-core][engine][devices]")
{
    const TempDir dir;
    std::ofstream(dir / "mapi.conf") << "[driver]\ndevice=secret\ndriver=pcap_file\npath=/tmp/a\n";
    setenv("MAPI_CONF", (dir / "mapi.conf").c_str(), 1);
    const bool is_shared = GENERATE(true, false);
    Devices devices(registry(), {1, is_shared});
    devices.reload();
    std::string text;
    try {
        devices.acquire("none such");
    } catch (const mapi::Error &error) {
        text = error.what();
    }
    unsetenv("MAPI_CONF");
    CHECK((text.find("secret") == std::string::npos) == is_shared);
    CHECK(text.find("none such") != std::string::npos);
}

TEST_CASE("a configuration in which an alias would hide another device is refused",
          "[mapi-core][engine][devices]")
{
    const Capture capture;
    const std::string config = capture.dir / "mapi.conf";
    const std::string path = "driver=pcap_file\npath=" + capture.path + "\n";
    setenv("MAPI_CONF", config.c_str(), 1);
    std::ofstream(config) << "[driver]\ndevice=a\nalias=y\n" + path + "[driver]\ndevice=z\n" + path;
    Devices devices(registry());
    CHECK(devices.acquire("y")->settings().name == "a");
    CHECK(devices.acquire("z")->settings().name == "z");
    std::ofstream(config) << "[driver]\ndevice=a\nalias=z\n" + path + "[driver]\ndevice=z\n" + path;
    CHECK(error_of([&] { devices.acquire("z"); }) == MAPI_CONFIG_ERROR);
    unsetenv("MAPI_CONF");
}

TEST_CASE("unused interfaces are forgotten when another one is named",
          "[mapi-core][engine][devices]")
{
    Devices devices(registry(), {1, true});
    devices.set_option("lo", "batch", "8");
    REQUIRE(devices.has("lo"));
    const std::string other = other_interface();
    if (other.empty())
        return test_support::skip("there is no interface other than lo");
    devices.set_option(other, "batch", "8");
    CHECK(devices.has(other));
    CHECK_FALSE(devices.has("lo"));
}
