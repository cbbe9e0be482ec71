// SPDX-License-Identifier: MIT
// The match options of a rule, parsed.  Names and meaning are those of Snort 2.9.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mapi::match::rule
{
class RegularExpression;

// Bytes that contents and expressions look at.
enum class Buffer : uint8_t {
    kPayload,
    kUri, // normalized
    kRawUri,
    kHeader,
    kRawHeader,
    kMethod,
    kCookie,
    kRawCookie,
    kClientBody,
    kStatusCode,
    kStatusText,
    kFileData, // the body of an HTTP response
    kSipHeader,
    kSipBody,
    kBase64,  // what base64_decode has made
    kCurrent, // the payload, or what file_data or base64_data has chosen
};
constexpr size_t kBuffers = size_t(Buffer::kCurrent);

constexpr bool is_http(Buffer buffer)
{
    return buffer >= Buffer::kUri && buffer <= Buffer::kStatusText;
}

constexpr size_t kVariables = 8;

struct Number {
    int64_t value = 0;
    int variable = -1; // its index, instead of a value
};

struct Content {
    std::string text; // in lower case if case is ignored
    Buffer buffer = Buffer::kCurrent;
    bool is_negated = false;
    bool ignores_case = false;
    bool is_fast_pattern = false; // the rule's author prefers it for the search of many rules
    bool is_relative = false;
    std::optional<Number> offset = {}, depth = {}, distance = {}, within = {};
};

struct Expression {
    std::shared_ptr<RegularExpression> code;
    Buffer buffer = Buffer::kCurrent;
    bool is_negated = false;
    bool is_relative = false;
};

// A number in the packet, in binary or as text.
struct Extraction {
    uint32_t bytes = 0;
    Number offset = {};
    bool is_relative = false;
    bool is_little_endian = false;
    bool is_text = false;
    int base = 0; // of a text; 0: as its first digits tell
    uint32_t bitmask = 0;
};

struct ByteTest {
    enum class Operator : uint8_t {
        kLess,
        kLessEqual,
        kEqual,
        kGreaterEqual,
        kGreater,
        kAnd,
        kXor
    };

    Extraction extraction;
    Operator comparison = Operator::kEqual;
    bool is_negated = false;
    Number value = {};
};

struct ByteJump {
    enum class Origin : uint8_t { kHere, kBeginning, kEnd };

    Extraction extraction;
    uint32_t multiplier = 1;
    bool aligns = false;
    Origin origin = Origin::kHere;
    Number post_offset = {};
};

struct ByteExtract {
    Extraction extraction;
    int variable = 0;
    uint32_t multiplier = 1;
    uint32_t alignment = 1;
};

struct ByteMath {
    enum class Operator : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kShiftLeft, kShiftRight };

    Extraction extraction;
    Operator operation = Operator::kAdd;
    Number operand = {};
    int variable = 0;
};

struct DataAt {
    Number offset;
    bool is_negated = false;
    bool is_relative = false;
    bool is_raw = false;
};

// file_data, pkt_data, base64_data, sip_header, sip_body.
struct ChooseBuffer {
    Buffer buffer;
};

struct Base64Decode {
    uint32_t bytes = 0; // 0: all
    uint32_t offset = 0;
    bool is_relative = false;
};

struct Rpc {
    uint32_t program = 0;
    std::optional<uint32_t> version = {}, procedure = {};
};

struct FtpBounce {
};

// Of a SIP request.
struct SipMethod {
    std::vector<std::string> names; // in lower case
    bool is_negated = false;
};

// Of a SIP response.
struct SipStatus {
    std::vector<uint32_t> codes; // of one digit: all that begin with it
};

// One of the checks finds something in the ASN.1 elements at a place of the payload.
struct Asn1 {
    bool is_relative = false;
    int64_t offset = 0;
    bool finds_all = false;               // "print" alone
    bool finds_bit_strings = false;       // with more unused bits than bits
    bool finds_doubles = false;           // longer than 256 bytes, in decimal
    std::optional<uint32_t> longest = {}; // lengths from it on; 0: only those of more than 32 bits
};

using PayloadOption =
    std::variant<Content, Expression, ByteTest, ByteJump, ByteExtract, ByteMath, DataAt,
                 ChooseBuffer, Base64Decode, Rpc, FtpBounce, SipMethod, SipStatus, Asn1>;

// A number in the headers, or a length.
enum class Field : uint8_t {
    kPayloadBytes,
    kTcpFlags,
    kTcpSequence,
    kTcpAcknowledgement,
    kTcpWindow,
    kTtl,
    kTos,
    kIpId,
    kFragmentBits,   // as in IPv4's header: 0x8000 reserved, 0x4000 DF, 0x2000 MF
    kFragmentOffset, // in units of 8 bytes
    kIpOption,       // its bit in a set, as in option_bit()
    kIpProtocol,
    kHasSameAddresses,
    kIcmpType,
    kIcmpCode,
    kIcmpId,
    kIcmpSequence,
    kUriBytes,
    kRawUriBytes,
};

struct FieldTest {
    enum class Comparison : uint8_t {
        kEqual,
        kNotEqual,
        kLess,
        kGreater,
        kLessEqual,
        kGreaterEqual,
        kBetween, // without the bounds
        kWithin,  // with them
        kBitsAre, // except for those in `second`
        kAllBits,
        kAnyBit,
        kNoBit,
    };

    Field field;
    Comparison comparison;
    uint32_t first = 0, second = 0;
};

struct Rule {
    std::vector<FieldTest> fields; // they depend on no order, so they come first
    std::vector<PayloadOption> payload;
    uint64_t memory_bytes = 0; // about
};
} // namespace mapi::match::rule
