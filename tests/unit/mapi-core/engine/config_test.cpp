// SPDX-License-Identifier: MIT
// Configuration: text -> settings, or a message with file and line.
#include "support/catch.hpp"

#include <fstream>
#include <sstream>

#include "drivers/catalog.hpp"
#include "engine/config.hpp"
#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "support/temp_dir.hpp"

using mapi::engine::read_config;

namespace
{
std::vector<mapi::engine::DeviceSettings> parse(const std::string &text)
{
    std::istringstream input(text);
    static const mapi::engine::Registry registry(mapi::functions::catalog(), mapi::drivers::catalog());
    return read_config(input, "test.conf", registry);
}

std::string refusal(const std::string &text)
{
    try {
        parse(text);
    } catch (const mapi::Error &error) {
        CHECK(error.number() == MAPI_CONFIG_ERROR);
        return error.what();
    }
    return "accepted";
}
} // namespace

TEST_CASE("a section's lines are read as they are, those of others are not", "[mapi-core][engine]")
{
    std::istringstream input("idleTimeout=1\n[ipfixflib]\n# comment\n idleTimeout = 5 \nno key\n[driver]\nidleTimeout=9\n[ipfixflib]\nhashSize=16\n");
    CHECK(mapi::engine::read_section(input, "ipfixflib") == "idleTimeout=5\nhashSize=16\n");
    std::istringstream none("[driver]\ndevice=a\n");
    CHECK(mapi::engine::read_section(none, "ipfixflib").empty());
}

TEST_CASE("each [driver] section is a device", "[mapi-core][engine]")
{
    const auto devices = parse("# comment\n"
                               "libpath=/usr/lib/mapi\n"
                               "[driver]\n device = /dev/scampi/0 \n driver=pcap_file\n path=/tmp/a = b.pcap\n repeat=forever\n\n"
                               "[format]\nformat=MFF_PCAP\n"
                               "[driver]\r\ndevice=x\r\nalias=lab\r\ndescription=the lab's tap\r\nbatch=1\r\nlink_speed=100000\r\n");
    REQUIRE(devices.size() == 2);
    CHECK(devices[0].name == "/dev/scampi/0");
    CHECK(devices[0].path == "/tmp/a = b.pcap");
    CHECK(devices[0].repeat == 0);
    CHECK(devices[0].batch == 64);
    CHECK(devices[1].path == "x");
    CHECK(devices[1].alias == "lab");
    CHECK(devices[1].description == "the lab's tap");
    CHECK(devices[1].batch == 1);
    CHECK(devices[1].repeat == 1);
    CHECK(devices[1].link_speed == 100000);
}

TEST_CASE("a mistake in the configuration is told with file and line", "[mapi-core][engine]")
{
    CHECK_THAT(refusal("[driver]\ndevice=a\nbatch=65\n"), Catch::StartsWith("test.conf:3: batch=65"));
    CHECK_THAT(refusal("[driver]\ndevice=a\nbatch=\n"), Catch::StartsWith("test.conf:3"));
    CHECK_THAT(refusal("[driver]\ndevice=a\nrepeat=-1\n"), Catch::StartsWith("test.conf:3"));
    CHECK_THAT(refusal("[driver]\ndevice=a\ncolour=red\n"), Catch::StartsWith("test.conf:3") && Catch::Contains("colour"));
    CHECK_THAT(refusal("\n[driver]\npath=/x\n"), Catch::StartsWith("test.conf:2") && Catch::Contains("device="));
    CHECK_THAT(refusal("[driver\n"), Catch::StartsWith("test.conf:1"));
    CHECK_THAT(refusal("[drivers]\n"), Catch::StartsWith("test.conf:1"));
    CHECK_THAT(refusal("[driver]\ndevice=a\nnonsense\n"), Catch::StartsWith("test.conf:3"));
    CHECK_THAT(refusal("[driver]\ndevice=a\n[driver]\ndevice=a\n"), Catch::StartsWith("test.conf:3") && Catch::Contains("test.conf:1"));
}

TEST_CASE("names of MAPI 2's drivers stand for those of today, by what they are to read", "[mapi-core][engine]")
{
    const test_support::TempDir dir;
    const std::string file = (dir / "trace").string();
    std::ofstream(file) << "x";
    const auto driver = [](const std::string &name, const std::string &device) {
        return parse("[driver]\ndevice=" + device + "\ndriver=" + name + "\n").at(0).driver;
    };
    CHECK(driver("mapinicdrv.so", "eth0") == "af_packet");
    CHECK(driver("/usr/local/share/mapi/mapinicdrv.so", "eth0") == "af_packet");
    CHECK(driver("mapinicdrv.so", file) == "pcap_file");
    CHECK(driver("mapidagdrv.so", file) == "erf_file");
    CHECK(driver("mapidagdrv.so", "/dev/dag0") == "mapidagdrv.so");
    CHECK(driver("pcap_live", "eth0") == "pcap_live");
}

TEST_CASE("a card's driver of MAPI 2 is refused with what to do instead", "[mapi-core][engine]")
{
    const mapi::engine::Registry registry(mapi::functions::catalog(), mapi::drivers::catalog());
    CHECK_THROWS_WITH(registry.driver("mapidagdrv.so"), Catch::Contains("DAG card") && Catch::Contains("ERF"));
    CHECK_THROWS_WITH(registry.driver("/opt/mapicombo6drv.so"), Catch::Contains("af_packet") && Catch::Contains("cannot be read here"));
    CHECK_THROWS_WITH(registry.driver("nosuch"), !Catch::Contains("MAPI 2"));
}
