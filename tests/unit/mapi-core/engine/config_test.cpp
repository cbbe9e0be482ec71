// SPDX-License-Identifier: MIT
// Configuration: text -> settings, or a message with file and line.
#include "support/catch.hpp"

#include <fstream>
#include <sstream>

#include "drivers/catalog.hpp"
#include "engine/config/config.hpp"
#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "support/temp_dir.hpp"

using mapi::engine::read_config;

namespace
{
mapi::engine::Config read(const std::string &text)
{
    std::istringstream input(text);
    static const mapi::engine::Registry registry(mapi::functions::catalog(),
                                                 mapi::drivers::catalog());
    return read_config(input, "test.conf", registry);
}

std::vector<mapi::engine::DeviceSettings> parse(const std::string &text)
{
    return read(text).devices;
}

std::string refusal(const std::string &text)
{
    try {
        read(text).require_no_error();
    } catch (const mapi::Error &error) {
        CHECK(error.number() == MAPI_CONFIG_ERROR);
        return error.what();
    }
    return "accepted";
}

// The only warning of a text that has no errors.
std::string warning(const std::string &text)
{
    const auto config = read(text);
    CHECK(refusal(text) == "accepted");
    CHECK(config.warnings().size() == 1);
    return config.warnings().empty() ? "" : config.warnings().front();
}
} // namespace

TEST_CASE("the lines of a section are read as they are, those of other sections are not",
          "[mapi-core][engine]")
{
    std::istringstream input("idleTimeout=1\n[ipfixflib]\n# comment\n idleTimeout = 5 \nno "
                             "key\n[driver]\nidleTimeout=9\n[ipfixflib]\nhashSize=16\n");
    CHECK(mapi::engine::read_section(input, "ipfixflib") == "idleTimeout=5\nhashSize=16\n");
    std::istringstream none("[driver]\ndevice=a\n");
    CHECK(mapi::engine::read_section(none, "ipfixflib").empty());
}

TEST_CASE("each [driver] section is a device", "[mapi-core][engine]")
{
    const auto devices = parse("# comment\n"
                               "libpath=/usr/lib/mapi\n"
                               "[driver]\n device = /dev/scampi/0 \n driver=pcap_file\n "
                               "path=/tmp/a = b.pcap\n repeat=forever\n\n"
                               "[format]\nformat=MFF_PCAP\n"
                               "[driver]\r\ndevice=x\r\nalias=lab\r\ndescription=the lab's "
                               "tap\r\nbatch=1\r\nlink_speed=100000\r\nnode_groups=0\r\n");
    REQUIRE(devices.size() == 2);
    CHECK(devices[0].name == "/dev/scampi/0");
    CHECK(devices[0].path == "/tmp/a = b.pcap");
    CHECK(devices[0].repeat == 0);
    CHECK(devices[0].batch == 512);
    CHECK(devices[1].path == "x");
    CHECK(devices[1].alias == "lab");
    CHECK(devices[1].description == "the lab's tap");
    CHECK(devices[1].batch == 1);
    CHECK(devices[0].has_node_groups);
    CHECK_FALSE(devices[1].has_node_groups);
    CHECK(devices[1].repeat == 1);
    CHECK(devices[1].link_speed == 100000);
}

TEST_CASE("an error in the configuration is reported with file and line", "[mapi-core][engine]")
{
    CHECK_THAT(refusal("[driver]\ndevice=a\nbatch=513\n"),
               Catch::StartsWith("test.conf:3: batch=513"));
    CHECK_THAT(refusal("[driver]\ndevice=a\nbatch=\n"), Catch::StartsWith("test.conf:3"));
    CHECK_THAT(refusal("[driver]\ndevice=a\nnode_groups=2\n"),
               Catch::StartsWith("test.conf:3: node_groups=2"));
    CHECK_THAT(refusal("[driver]\ndevice=a\nrepeat=-1\n"), Catch::StartsWith("test.conf:3"));
    CHECK_THAT(refusal("[driver]\ndevice=a\ncolour=red\n"),
               Catch::StartsWith("test.conf:3") && Catch::Contains("colour"));
    CHECK_THAT(refusal("\n[driver]\npath=/x\n"),
               Catch::StartsWith("test.conf:2") && Catch::Contains("device="));
    CHECK_THAT(refusal("[driver\n"), Catch::StartsWith("test.conf:1"));
    CHECK_THAT(refusal("\xef\xbb\xbf[driver]\n"),
               Catch::StartsWith("test.conf:1: the file begins with a byte order mark"));
    CHECK_THAT(refusal("[]\n"), Catch::StartsWith("test.conf:1"));
    CHECK_THAT(refusal("[driver]\ndevice=a\ndriver=af_packet\nbufer_mb=4\n"),
               Catch::StartsWith("test.conf:4") && Catch::Contains("did you mean \"buffer_mb\"?"));
    CHECK_THAT(refusal("[driver]\ndevice=a\nnonsense\n"), Catch::StartsWith("test.conf:3"));
    CHECK_THAT(refusal("[driver]\ndevice=a\n[driver]\ndevice=a\n"),
               Catch::StartsWith("test.conf:3") && Catch::Contains("test.conf:1"));
}

TEST_CASE("an alias that is another device's name or alias is an error with both lines",
          "[mapi-core][engine]")
{
    CHECK_THAT(refusal("[driver]\ndevice=a\nalias=z\n[driver]\ndevice=b\nalias=z\n"),
               Catch::StartsWith("test.conf:6: alias=z: is already the alias of device a") &&
                   Catch::EndsWith("test.conf:3"));
    CHECK_THAT(refusal("[driver]\ndevice=a\nalias=z\n[driver]\n\ndevice=z\n"),
               Catch::StartsWith("test.conf:6: device=z: is already the alias of device a") &&
                   Catch::EndsWith("test.conf:3"));
    CHECK_THAT(refusal("[driver]\ndevice=z\n[driver]\ndevice=a\nalias=z\n"),
               Catch::StartsWith("test.conf:5: alias=z: is already the name of a device") &&
                   Catch::EndsWith("test.conf:1"));
    CHECK(read("[driver]\ndevice=a\nalias=z\n[driver]\ndevice=b\nalias=z\n[driver]\ndevice=z\n")
              .notes.size() == 2);
    CHECK(refusal("[driver]\ndevice=a\nalias=a\n[driver]\ndevice=b\nalias=\n[driver]\ndevice="
                  "c\nalias=\n") == "accepted");
}

TEST_CASE("text after a section header is reported, and the section is read", "[mapi-core][engine]")
{
    for (const std::string comment : {"# the first", "; the first", "# one ]"}) {
        CHECK_THAT(warning("[driver] " + comment + "\ndevice=a\n"),
                   Catch::StartsWith("test.conf:1: [driver] " + comment +
                                     ": a comment requires a line of its own"));
        CHECK(parse("[driver] " + comment + "\ndevice=a\n").size() == 1);
    }
    CHECK_THAT(
        refusal("[driver] device=a\ndevice=b\n"),
        Catch::StartsWith("test.conf:1: unexpected text after \"]\" of the section: device=a"));
    CHECK_THAT(refusal("[driver # the first\ndevice=a\n"),
               Catch::StartsWith("test.conf:1: missing \"]\" at the end of the section header"));
    CHECK_THAT(refusal("[] # none\n[ ]\n"),
               Catch::StartsWith("test.conf:1: the section has no name"));
}

TEST_CASE("any line with a NUL byte is refused", "[mapi-core][engine]")
{
    using namespace std::string_literals;
    for (const std::string &line :
         {"\0group=root"s, "group=ro\0ot"s, "gro\0up"s, "# com\0ment"s, "[dri\0ver]"s, "\0"s}) {
        CHECK_THAT(refusal("[driver]\ndevice=a\n" + line + "\n"),
                   Catch::Equals("test.conf:3: the line contains a NUL byte"));
        CHECK(read("[driver]\ndevice=a\n" + line + "\n").notes.size() == 1);
    }
}

TEST_CASE("names of MAPI 2's drivers stand for today's drivers of the same source",
          "[mapi-core][engine]")
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

TEST_CASE("a card driver of MAPI 2 is refused with an alternative", "[mapi-core][engine]")
{
    const mapi::engine::Registry registry(mapi::functions::catalog(), mapi::drivers::catalog());
    CHECK_THROWS_WITH(registry.driver("mapidagdrv.so"),
                      Catch::Contains("DAG card") && Catch::Contains("ERF"));
    CHECK_THROWS_WITH(registry.driver("/opt/mapicombo6drv.so"),
                      Catch::Contains("af_packet") && Catch::Contains("unsupported"));
    CHECK_THROWS_WITH(registry.driver("nosuch"), !Catch::Contains("MAPI 2"));
}

TEST_CASE("an invalid value is an error in every section", "[mapi-core][engine]")
{
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"", "log_level=loud"},
        {"", "syslog_level=3"},
        {"", "local=yes"},
        {"", "dimapi_port=0"},
        {"", "dimapi_port=65536"},
        {"", "logfile="},
        {"dag", "disable_dsm=2"},
        {"dag", "dsm_loader_bin="},
        {"dag", "disable_dsm_xml_remove=x"},
        {"ipfixflib", "idleTimeout=0"},
        {"ipfixflib", "hashSize=1"},
        {"ipfixflib", "scanCycle=x"},
        {"ipfixflib", "observationDomain=-1"},
        {"ipfixflib", "lifetimeTimeout=1e3"},
        {"ipfixflib", "enterpriseid=x"},
        {"ipfixflib", "noSuchKey=1"},
        {"ipfixflib", "egressInterface=65536"},
        {"format", "format=MFF_NONE\ndriver=pcap_file"},
        {"driver", "devgroup=x\ndevice=a"},
        {"driver", "vlan=2\ndevice=a"},
        {"driver", "link_speed=fast\ndevice=a"},
    };
    for (const auto &[section, line] : wrong) {
        const std::string key = line.substr(0, line.find('='));
        INFO(section << ": " << line);
        CHECK_THAT(
            refusal(section.empty() ? "\n" + line + "\n" : "[" + section + "]\n" + line + "\n"),
            Catch::StartsWith("test.conf:2: ") && Catch::Contains(key + "="));
    }
}

TEST_CASE("an unknown key or section is reported with its line and a suggestion",
          "[mapi-core][engine]")
{
    CHECK_THAT(warning("\nlib=a.so\n"), Catch::StartsWith("test.conf:2: unknown key \"lib\"") &&
                                            Catch::Contains("did you mean \"libs\"?"));
    CHECK_THAT(warning("[format]\nformat=MFF_PCAP\ndriver=pcap_file\ndescritpion=x\n"),
               Catch::StartsWith("test.conf:4: ") && Catch::Contains("\"description\"?"));
    CHECK_THAT(warning("[dag]\ncolour=red\n"), Catch::StartsWith("test.conf:2: ") &&
                                                   Catch::Contains("dsm_loader_bin, disable_dsm"));
    CHECK_THAT(warning("[drivers]\ndevice=a\nno_such=1\n"),
               Catch::StartsWith("test.conf:1: unknown section [drivers]") &&
                   Catch::Contains("did you mean \"driver\"?"));
    CHECK_THAT(warning("[driver]\ndevice=a\ngroup=no such group\n"),
               Catch::StartsWith("test.conf:3: group=no such group: no such group"));
    CHECK_THAT(warning("[driver]\ndevice=a\ndriver=pcap_file\npath=/no such file\n"),
               Catch::StartsWith("test.conf:4: path=/no such file: No such file"));
    CHECK_THAT(
        warning("[driver]\ndevice=a ; comment\n"),
        Catch::StartsWith("test.conf:2: device=a ; comment: a comment requires a line of its own"));
    CHECK_THAT(warning("[driver]\ndevice=a\nalias=b\nalias=c\n"),
               Catch::StartsWith("test.conf:4: alias= was already set in line 3"));
}

TEST_CASE("a key of MAPI 2 that has no effect here is reported once, with the reason",
          "[mapi-core][engine]")
{
    CHECK_THAT(warning("dimapi_port=2233\n"),
               Catch::StartsWith("test.conf:1: dimapi_port= has no effect: "));
    CHECK_THAT(warning("[dag]\ndisable_dsm=1\n"),
               Catch::StartsWith("test.conf:2: disable_dsm= has no effect: DAG cards"));
    CHECK_THAT(warning("[ipfixflib]\nscanCycle=1\nidleTimeout=5\n"),
               Catch::StartsWith("test.conf:2: [ipfixflib] scanCycle= has no effect: "));
    CHECK_THAT(warning("[driver]\ndevice=a\ntrace_dir=/tmp\n"),
               Catch::StartsWith("test.conf:3: trace_dir= has no effect: "));
    CHECK_THAT(warning("[driver]\ndevice=a\ndevgroup=1\n"),
               Catch::StartsWith("test.conf:3: devgroup= has no effect: "));
    CHECK_THAT(warning("libpath=/no/such/folder\n"),
               Catch::StartsWith("test.conf:1: libpath=/no/such/folder: is not a directory"));
    CHECK_THAT(
        warning("[driver]\ndevice=a\ndriver=cuckoo\n"),
        Catch::StartsWith("test.conf:3: device a: cannot be opened: unknown driver \"cuckoo\""));
}

TEST_CASE("the documented keys of MAPI 2's file are known", "[mapi-core][engine]")
{
    const auto config =
        read("libpath=/tmp\ndrvpath=/tmp\nlibs=stdflib.so:ipfixflib.so\nlog_level=1\nlogfile=/tmp/"
             "mapid.log\nlocal=0\n"
             "[driver]\ndevice=eth0\ndriver=mapinicdrv.so\ndescription=x\nalias=y\nlink_speed="
             "1000\nmpls=0\nvlan=1\n"
             "[format]\nformat=MFF_DAG_ERF\ndriver=mapidagdrv.so\ndescription=x\n[format]\nformat="
             "1\ndriver=pcap_file\n"
             "[ipfixflib]\nobservationDomain=1\ningressInterface=1\negressInterface=2\nidleTimeout="
             "3\nlifetimeTimeout=4\nhashSize=16\nminFlowPkts=2\n");
    for (const auto &note : config.notes)
        FAIL_CHECK(note.text);
    CHECK(config.format_drivers == std::map<int, std::string>{{2, "erf_file"}, {1, "pcap_file"}});
}

TEST_CASE("a format without a file driver is refused", "[mapi-core][engine]")
{
    CHECK_THAT(refusal("[format]\nformat=MFF_PCAP\ndriver=af_packet\n"),
               Catch::StartsWith("test.conf:3: driver=af_packet: reads interfaces"));
    CHECK_THAT(refusal("[format]\nformat=MFF_PCAP\ndriver=cuckoo\n"),
               Catch::StartsWith("test.conf:3: driver=cuckoo: unknown driver"));
    CHECK_THAT(refusal("[format]\nformat=MFF_PCAP\n"),
               Catch::StartsWith("test.conf:1: [format] requires driver="));
    CHECK_THAT(refusal("[format]\ndriver=pcap_file\n"),
               Catch::StartsWith("test.conf:1: [format] requires format="));
}

TEST_CASE("plug-ins that are missing, or named too late, are reported with their line",
          "[mapi-core][engine]")
{
    const test_support::TempDir dir;
    std::ofstream(dir / "late.so") << "x";
    CHECK_THAT(refusal("\nlibs=missing.so\n"),
               Catch::StartsWith("test.conf:2: libs=missing.so: not found in libpath"));
    CHECK_THAT(warning("libpath=" + dir.path().string() + "\nlibs=late.so\n"),
               Catch::StartsWith("test.conf:2: libs=late.so: is not loaded"));
    CHECK_THAT(refusal("[driver]\ndevice=a\ndriver=late.so\n"),
               Catch::StartsWith("test.conf:3: driver=late.so: is not loaded"));
}

TEST_CASE("a message about a line is short and contains no terminal control characters",
          "[mapi-core][engine]")
{
    const std::string reported = refusal("\x1b[2J" + std::string(100000, 'x') + "\n");
    CHECK(reported.size() < 600);
    CHECK(reported.find('\x1b') == std::string::npos);
    std::string junk;
    for (int i = 0; i < 5000; ++i)
        junk += "unknown" + std::to_string(i) + "=1\n";
    const auto config = read(junk + "nonsense\n");
    CHECK(config.notes.size() <= 1001);
    CHECK(config.notes.back().is_error);
}
