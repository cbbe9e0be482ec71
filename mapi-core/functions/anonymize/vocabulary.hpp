// SPDX-License-Identifier: MIT
// Vocabulary: the words of a rule, in MAPI 2's spelling ("MAX_FORWRDS", "REFERRER"), and their
// meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mapi::anonymize
{
enum class Protocol : uint8_t { kIp, kTcp, kUdp, kIcmp, kHttp, kFtp };

// Groups are contiguous, because group_of() compares.
enum class Field : uint8_t {
    kPayload,
    kChecksum,
    // IP
    kSourceAddress,
    kDestinationAddress,
    kTtl,
    kTos,
    kId,
    kVersion,
    kOptions,
    kPacketLength,
    kIpProtocol,
    kIhl,
    kFragmentOffset,
    kFlow,
    // TCP
    kSourcePort,
    kDestinationPort,
    kSequenceNumber,
    kOffsetAndReserved,
    kAckNumber,
    kFlags,
    kUrgentPointer,
    kWindow,
    kTcpOptions,
    // UDP, ICMP
    kUdpLength,
    kType,
    kCode,
    // HTTP: the first line, then header lines
    kHttpVersion,
    kMethod,
    kUri,
    kResponseCode,
    kResponseText,
    kUserAgent,
    kAccept,
    kAcceptCharset,
    kAcceptEncoding,
    kAcceptLanguage,
    kAcceptRanges,
    kAge,
    kAllow,
    kAuthorization,
    kCacheControl,
    kConnection,
    kContentType,
    kContentLength,
    kContentLocation,
    kContentMd5,
    kContentRange,
    kCookie,
    kEtag,
    kExpect,
    kExpires,
    kFrom,
    kHost,
    kIfMatch,
    kIfModifiedSince,
    kIfNoneMatch,
    kIfRange,
    kIfUnmodifiedSince,
    kLastModified,
    kMaxForwards,
    kPragma,
    kProxyAuthenticate,
    kProxyAuthorization,
    kRange,
    kReferer,
    kRetryAfter,
    kSetCookie,
    kServer,
    kTe,
    kTrailer,
    kTransferEncoding,
    kUpgrade,
    kVia,
    kWarning,
    kWwwAuthenticate,
    kXPoweredBy,
    kVary,
    kDate,
    kContentEncoding,
    kKeepAlive,
    kLocation,
    kContentLanguage,
    kDerivedFrom,
    kAllowed,
    kMimeVersion,
    kTitle,
    kRefresh,
    // FTP: commands, then replies
    kUser,
    kPass,
    kAcct,
    kFtpType,
    kStru,
    kMode,
    kCwd,
    kPwd,
    kCdup,
    kPasv,
    kRetr,
    kRest,
    kPort,
    kList,
    kNlst,
    kQuit,
    kSyst,
    kStat,
    kHelp,
    kNoop,
    kStor,
    kAppe,
    kStou,
    kAllo,
    kMkd,
    kRmd,
    kDele,
    kRnfr,
    kRnto,
    kSite,
    kFtpResponseCode,
    kFtpResponseText,
    kBothAddresses, // for ANONYMIZEIP; has no name in rules
};

enum class Group : uint8_t { kPayload, kChecksum, kIp, kTcp, kUdp, kIcmp, kHttp, kFtp };

enum class Method : uint8_t {
    kUnchanged,
    kMap,
    kMapDistribution,
    kStrip,
    kRandom,
    kHashed,
    kPatternFill,
    kZero,
    kReplace,
    kPrefixPreserving,
    kPrefixPreservingMap,
    kChecksumAdjust,
    kFilenameRandom,
    kRegexp,
};

enum class HashAlgorithm : uint8_t { kSha, kMd5, kCrc32, kSha2, kTripleDes, kAes };
enum class Padding : uint8_t { kZero, kStripRest, kUnchanged };
enum class DistributionType : uint8_t { kUniform, kGaussian };
enum class PatternType : uint8_t { kInteger, kString };

std::optional<Protocol> protocol_named(std::string_view name);
std::optional<Field> field_named(std::string_view name);
std::optional<Method> method_named(std::string_view name);
std::optional<HashAlgorithm> hash_named(std::string_view name);
std::optional<Padding> padding_named(std::string_view name);
std::optional<DistributionType> distribution_named(std::string_view name);
std::optional<PatternType> pattern_type_named(std::string_view name);

std::string_view name_of(Protocol protocol);
std::string_view name_of(Field field);
std::string_view name_of(Method method);
// All names, for messages: "IP, TCP, UDP".
std::string protocol_names();
std::string method_names();
std::string hash_names();
std::string field_names(Group group);

Group group_of(Field field);
// The word on the wire: "User-Agent" for USER_AGENT, "TYPE" for FTP_TYPE.  Only for header lines
// and FTP commands.
std::string_view wire_name_of(Field field);
} // namespace mapi::anonymize
