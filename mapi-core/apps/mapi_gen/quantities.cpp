// SPDX-License-Identifier: MIT
// quantities: words of the command line -> numbers, addresses, lists of CPUs.
#include "quantities.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include <arpa/inet.h>
#include <sched.h>

namespace mapi_gen
{
namespace
{
constexpr double kFastest = 1e12;

int digit(char character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    const char small = char(std::tolower(static_cast<unsigned char>(character)));
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

std::optional<unsigned> read_cpu(std::string_view text)
{
    unsigned number = 0;
    if (text.empty())
        return std::nullopt;
    for (const char character : text) {
        if (character < '0' || character > '9')
            return std::nullopt;
        number = 10 * number + unsigned(character - '0');
        if (number >= CPU_SETSIZE)
            return std::nullopt;
    }
    return number;
}
} // namespace

std::optional<double> read_rate(const std::string &text)
{
    // strtod() would also accept blanks, signs, "inf" and hexadecimal numbers
    if (text.empty() || text.find_first_not_of("0123456789.kMG") != std::string::npos)
        return std::nullopt;
    char *end = nullptr;
    double rate = std::strtod(text.c_str(), &end);
    if (end == text.c_str())
        return std::nullopt;
    constexpr std::string_view kUnits = "kMG";
    if (const size_t unit = *end ? kUnits.find(*end) : std::string_view::npos;
        unit != std::string_view::npos) {
        rate *= std::pow(1000.0, double(unit + 1));
        ++end;
    }
    if (*end || !(rate > 0) || rate > kFastest)
        return std::nullopt;
    return rate;
}

std::optional<Mac> read_mac(const std::string &text)
{
    Mac mac = {};
    if (text.size() != 3 * mac.size() - 1)
        return std::nullopt;
    for (size_t i = 0; i < mac.size(); ++i) {
        const int high = digit(text[3 * i]), low = digit(text[3 * i + 1]);
        const bool is_separated = i + 1 == mac.size() || text[3 * i + 2] == ':';
        if (high < 0 || low < 0 || !is_separated)
            return std::nullopt;
        mac[i] = uint8_t(16 * high + low);
    }
    return mac;
}

std::optional<uint32_t> read_ipv4(const std::string &text)
{
    in_addr address = {};
    if (inet_pton(AF_INET, text.c_str(), &address) != 1)
        return std::nullopt;
    return ntohl(address.s_addr);
}

std::optional<std::vector<unsigned>> read_cpus(const std::string &text)
{
    std::vector<unsigned> cpus;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const std::string part = text.substr(begin, end - begin);
        const size_t dash = part.find('-');
        const auto first = read_cpu(part.substr(0, dash));
        const auto last = dash == std::string::npos ? first : read_cpu(part.substr(dash + 1));
        if (!first || !last || *last < *first)
            return std::nullopt;
        for (unsigned cpu = *first; cpu <= *last; ++cpu) {
            if (std::find(cpus.begin(), cpus.end(), cpu) != cpus.end())
                return std::nullopt;
            cpus.push_back(cpu);
        }
        begin = end + 1;
    }
    return cpus;
}
} // namespace mapi_gen
