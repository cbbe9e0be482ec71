// SPDX-License-Identifier: MIT
// Function name: "FUNCTION", or MAPI 2's "LIBRARY:FUNCTION!DEVICE_TYPE" -> its parts.
#include "engine/registry/function_name.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace mapi::engine
{
namespace
{
struct OldLibrary {
    std::string_view name;
    std::string_view functions; // with a space before and after each
};

// For hardware libraries, only functions that exist here in software.
constexpr std::array kOldLibraries = {
    OldLibrary{"stdflib", " HASH BINOP BPF_FILTER BUCKET BURST BYTE_COUNTER DIST GAP HASHSAMP "
                          "PKT_COUNTER PKTINFO RES2FILE SAMPLE STARTSTOP STATS STR_SEARCH SYNC "
                          "THRESHOLD TO_FILE TO_BUFFER "},
    OldLibrary{"extraflib", " ANONYMIZEIP COOKING EXPIRED_FLOWS REGEXP TOP "},
    OldLibrary{"anonflib", " ANONYMIZE UNCOOK "},
    OldLibrary{"trackflib",
               " TRACK_FTP TRACK_DC TRACK_GNUTELLA TRACK_EDONKEY TRACK_TORRENT TRACK_GRID_FTP "
               "TRACK_IPOVERIP TRACK_IRC TRACK_SKYPE TRACK_WEB TRACK_MAPI "},
    OldLibrary{"ipfixflib", " FLOW_REPORT "},
    OldLibrary{"dagflib", " BPF_FILTER TO_FILE INTERFACE "},
    OldLibrary{"napatechflib", " INTERFACE "},
};
} // namespace

FunctionName split_function_name(const std::string &text)
{
    FunctionName name{text};
    if (const size_t mark = name.function.find('!'); mark != std::string::npos) {
        name.device_type = name.function.substr(mark + 1);
        name.function.resize(mark);
    }
    if (const size_t colon = name.function.find(':'); colon != std::string::npos) {
        name.library = name.function.substr(0, colon);
        name.function.erase(0, colon + 1);
    }
    return name;
}

bool has_function(const std::string &old_library, const std::string &function)
{
    return std::any_of(kOldLibraries.begin(), kOldLibraries.end(), [&](const OldLibrary &library) {
        return library.name == old_library &&
               library.functions.find(" " + function + " ") != std::string_view::npos;
    });
}

bool is_served_in_software(const std::string &device_type)
{
    constexpr std::array kTypes = {
        "1", "1.3", "1.3.1",
        "1.4"}; // all, network interfaces, the same with a buffer, directories of traces
    return std::find(kTypes.begin(), kTypes.end(), device_type) != kTypes.end();
}
} // namespace mapi::engine
