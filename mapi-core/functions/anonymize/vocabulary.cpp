// SPDX-License-Identifier: MIT
// Vocabulary: one table for each kind of word.
#include "anonymize/vocabulary.hpp"

#include <iterator>

namespace mapi::anonymize
{
namespace
{
template <class Word> struct Entry {
    std::string_view name;
    Word word;
};

struct FieldEntry {
    std::string_view name;
    std::string_view wire_name; // if different
};

// In the order of Field: the index is the field.
constexpr FieldEntry kFields[] = {
    {"PAYLOAD", {}},
    {"CHECKSUM", {}},
    {"SRC_IP", {}},
    {"DST_IP", {}},
    {"TTL", {}},
    {"TOS", {}},
    {"ID", {}},
    {"VERSION", {}},
    {"OPTIONS", {}},
    {"PACKET_LENGTH", {}},
    {"IP_PROTO", {}},
    {"IHL", {}},
    {"FRAGMENT_OFFSET", {}},
    {"FLOW", {}},
    {"SRC_PORT", {}},
    {"DST_PORT", {}},
    {"SEQUENCE_NUMBER", {}},
    {"OFFSET_AND_RESERVED", {}},
    {"ACK_NUMBER", {}},
    {"FLAGS", {}},
    {"URGENT_POINTER", {}},
    {"WINDOW", {}},
    {"TCP_OPTIONS", {}},
    {"UDP_DATAGRAM_LENGTH", {}},
    {"TYPE", {}},
    {"CODE", {}},
    {"HTTP_VERSION", {}},
    {"METHOD", {}},
    {"URI", {}},
    {"RESPONSE_CODE", {}},
    {"RESP_CODE_DESCR", {}},
    {"USER_AGENT", "User-Agent"},
    {"ACCEPT", {}},
    {"ACCEPT_CHARSET", "Accept-Charset"},
    {"ACCEPT_ENCODING", "Accept-Encoding"},
    {"ACCEPT_LANGUAGE", "Accept-Language"},
    {"ACCEPT_RANGES", "Accept-Ranges"},
    {"AGE", {}},
    {"ALLOW", {}},
    {"AUTHORIZATION", {}},
    {"CACHE_CONTROL", "Cache-Control"},
    {"CONNECTION_TYPE", "Connection"},
    {"CONTENT_TYPE", "Content-Type"},
    {"CONTENT_LENGTH", "Content-Length"},
    {"CONTENT_LOCATION", "Content-Location"},
    {"CONTENT_MD5", "Content-MD5"},
    {"CONTENT_RANGE", "Content-Range"},
    {"COOKIE", {}},
    {"ETAG", {}},
    {"EXPECT", {}},
    {"EXPIRES", {}},
    {"FROM", {}},
    {"HOST", {}},
    {"IF_MATCH", "If-Match"},
    {"IF_MODIFIED_SINCE", "If-Modified-Since"},
    {"IF_NONE_MATCH", "If-None-Match"},
    {"IF_RANGE", "If-Range"},
    {"IF_UNMODIFIED_SINCE", "If-Unmodified-Since"},
    {"LAST_MODIFIED", "Last-Modified"},
    {"MAX_FORWRDS", "Max-Forwards"},
    {"PRAGMA", {}},
    {"PROXY_AUTHENTICATE", "Proxy-Authenticate"},
    {"PROXY_AUTHORIZATION", "Proxy-Authorization"},
    {"RANGE", {}},
    {"REFERRER", "Referer"},
    {"RETRY_AFTER", "Retry-After"},
    {"SET_COOKIE", "Set-Cookie"},
    {"SERVER", {}},
    {"TE", {}},
    {"TRAILER", {}},
    {"TRANSFER_ENCODING", "Transfer-Encoding"},
    {"UPGRADE", {}},
    {"VIA", {}},
    {"WARNING", {}},
    {"WWW_AUTHENTICATE", "WWW-Authenticate"},
    {"X_POWERED_BY", "X-Powered-By"},
    {"VARY", {}},
    {"DATE", {}},
    {"CONTENT_ENCODING", "Content-Encoding"},
    {"KEEP_ALIVE", "Keep-Alive"},
    {"LOCATION", {}},
    {"CONTENT_LANGUAGE", "Content-Language"},
    {"DERIVED_FROM", "Derived-From"},
    {"ALLOWED", {}},
    {"MIME_VERSION", "MIME-Version"},
    {"TITLE", {}},
    {"REFRESH", {}},
    {"USER", {}},
    {"PASS", {}},
    {"ACCT", {}},
    {"FTP_TYPE", "TYPE"},
    {"STRU", {}},
    {"MODE", {}},
    {"CWD", {}},
    {"PWD", {}},
    {"CDUP", {}},
    {"PASV", {}},
    {"RETR", {}},
    {"REST", {}},
    {"PORT", {}},
    {"LIST", {}},
    {"NLST", {}},
    {"QUIT", {}},
    {"SYST", {}},
    {"STAT", {}},
    {"HELP", {}},
    {"NOOP", {}},
    {"STOR", {}},
    {"APPE", {}},
    {"STOU", {}},
    {"ALLO", {}},
    {"MKD", {}},
    {"RMD", {}},
    {"DELE", {}},
    {"RNFR", {}},
    {"RNTO", {}},
    {"SITE", {}},
    {"FTP_RESPONSE_CODE", {}},
    {"FTP_RESPONSE_ARG", {}},
};
static_assert(std::size(kFields) == size_t(Field::kBothAddresses));

constexpr Entry<Protocol> kProtocols[] = {
    {"IP", Protocol::kIp},     {"TCP", Protocol::kTcp},   {"UDP", Protocol::kUdp},
    {"ICMP", Protocol::kIcmp}, {"HTTP", Protocol::kHttp}, {"FTP", Protocol::kFtp},
};

constexpr Entry<Method> kMethods[] = {
    {"UNCHANGED", Method::kUnchanged},
    {"MAP", Method::kMap},
    {"MAP_DISTRIBUTION", Method::kMapDistribution},
    {"STRIP", Method::kStrip},
    {"RANDOM", Method::kRandom},
    {"FILENAME_RANDOM", Method::kFilenameRandom},
    {"HASHED", Method::kHashed},
    {"PATTERN_FILL", Method::kPatternFill},
    {"ZERO", Method::kZero},
    {"REPLACE", Method::kReplace},
    {"PREFIX_PRESERVING", Method::kPrefixPreserving},
    {"PREFIX_PRESERVING_MAP", Method::kPrefixPreservingMap},
    {"REGEXP", Method::kRegexp},
    {"CHECKSUM_ADJUST", Method::kChecksumAdjust},
};

// MAPI 2 has no single DES either: its DES is triple DES.
constexpr Entry<HashAlgorithm> kHashes[] = {
    {"MD5", HashAlgorithm::kMd5},        {"SHA", HashAlgorithm::kSha},
    {"SHA_2", HashAlgorithm::kSha2},     {"CRC32", HashAlgorithm::kCrc32},
    {"AES", HashAlgorithm::kAes},        {"TRIPLEDES", HashAlgorithm::kTripleDes},
    {"3DES", HashAlgorithm::kTripleDes}, {"DES", HashAlgorithm::kTripleDes},
};

constexpr Entry<Padding> kPaddings[] = {
    {"PAD_WITH_ZERO", Padding::kZero},
    {"STRIP_REST", Padding::kStripRest},
    {"UNCHANGED", Padding::kUnchanged},
};

constexpr Entry<DistributionType> kDistributions[] = {{"UNIFORM", DistributionType::kUniform},
                                                      {"GAUSSIAN", DistributionType::kGaussian}};

constexpr Entry<PatternType> kPatternTypes[] = {{"INTEGER", PatternType::kInteger},
                                                {"STR", PatternType::kString}};

template <class Word, size_t N>
std::optional<Word> find(const Entry<Word> (&table)[N], std::string_view name)
{
    for (const Entry<Word> &entry : table)
        if (entry.name == name)
            return entry.word;
    return std::nullopt;
}

template <class Word, size_t N> std::string_view name_in(const Entry<Word> (&table)[N], Word word)
{
    for (const Entry<Word> &entry : table)
        if (entry.word == word)
            return entry.name;
    return {};
}

void append(std::string &list, std::string_view name)
{
    list += list.empty() ? "" : ", ";
    list += name;
}

template <class Word, size_t N> std::string names_in(const Entry<Word> (&table)[N])
{
    std::string list;
    for (const Entry<Word> &entry : table)
        append(list, entry.name);
    return list;
}
} // namespace

std::optional<Protocol> protocol_named(std::string_view name)
{
    return find(kProtocols, name);
}

std::optional<Method> method_named(std::string_view name)
{
    return find(kMethods, name);
}

std::optional<HashAlgorithm> hash_named(std::string_view name)
{
    return find(kHashes, name);
}

std::optional<Padding> padding_named(std::string_view name)
{
    return find(kPaddings, name);
}

std::optional<DistributionType> distribution_named(std::string_view name)
{
    return find(kDistributions, name);
}

std::optional<PatternType> pattern_type_named(std::string_view name)
{
    return find(kPatternTypes, name);
}

std::optional<Field> field_named(std::string_view name)
{
    if (name == "HTTP_PAYLOAD") // MAPI 2 also accepts its internal name
        return Field::kPayload;
    for (size_t i = 0; i < std::size(kFields); ++i)
        if (kFields[i].name == name)
            return Field(i);
    return std::nullopt;
}

std::string_view name_of(Protocol protocol)
{
    return name_in(kProtocols, protocol);
}

std::string_view name_of(Method method)
{
    return name_in(kMethods, method);
}

std::string_view name_of(Field field)
{
    return field == Field::kBothAddresses ? std::string_view("SRC_IP and DST_IP")
                                          : kFields[size_t(field)].name;
}

std::string_view wire_name_of(Field field)
{
    const FieldEntry &entry = kFields[size_t(field)];
    return entry.wire_name.empty() ? entry.name : entry.wire_name;
}

std::string protocol_names()
{
    return names_in(kProtocols);
}

std::string method_names()
{
    return names_in(kMethods);
}

std::string hash_names()
{
    return names_in(kHashes);
}

std::string field_names(Group group)
{
    std::string list;
    for (size_t i = 0; i < std::size(kFields); ++i)
        if (group_of(Field(i)) == group)
            append(list, kFields[i].name);
    return list;
}

Group group_of(Field field)
{
    if (field == Field::kPayload)
        return Group::kPayload;
    if (field == Field::kChecksum)
        return Group::kChecksum;
    if (field <= Field::kFlow || field == Field::kBothAddresses)
        return Group::kIp;
    if (field <= Field::kTcpOptions)
        return Group::kTcp;
    if (field == Field::kUdpLength)
        return Group::kUdp;
    if (field <= Field::kCode)
        return Group::kIcmp;
    return field <= Field::kRefresh ? Group::kHttp : Group::kFtp;
}
} // namespace mapi::anonymize
