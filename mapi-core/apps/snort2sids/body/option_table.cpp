// SPDX-License-Identifier: MIT
// option_table: the options of Snort 2, and what becomes of each.
#include "option_table.hpp"

#include <unordered_map>

namespace snort2sids
{
namespace
{
// Parts of patterns.  Spaces in values are gone, but for one between words.
#define NUMBER "(0x[0-9a-f]+|[0-9]+)"
#define SIGNED "-?" NUMBER
#define VARIABLE "[a-z_][a-z0-9_]*"
#define PLACE "(" SIGNED "|" VARIABLE ")"
#define COMPARED "([<>]?" NUMBER "|" NUMBER "<>" NUMBER ")"
// Of byte_test, byte_jump and byte_extract, in any order.
#define ENDIAN "relative|big|little|string|hex|dec|oct|bitmask " NUMBER
#define METHOD "[a-z0-9.!%*_+`'~-]+"
#define ASN1                                                               \
    "(bitstring_overflow|double_overflow|print|oversize_length[ ,]" NUMBER \
    "|(absolute|relative)_offset[ ,]" SIGNED ")"
#define SSL_VERSION "!?(sslv2|sslv3|tls1\\.[012])"
#define SSL_STATE "!?((client|server)_(hello|keyx)|unknown)"
// One of byte_math, whose parts have any order; "oper +" has lost its space.
#define MATH                                                                                  \
    "(bytes " NUMBER "|offset " PLACE "|oper([-+*/]|<<|>>)|rvalue " PLACE "|result " VARIABLE \
    "|relative|endian (big|little)|string (hex|dec|oct)|bitmask " NUMBER ")"
#define FLAGS "[fsrpauce012]+"

constexpr const char *kAny = ".*";

constexpr std::string_view kPassive = "an action that a passive monitor does not take";
constexpr std::string_view kInformation = "information that sids does not keep";
constexpr std::string_view kObsolete = "no version of Snort 2.9 has it";
constexpr std::string_view kDynamic =
    "rules that another rule activates count packets after an alert, which sids has not";
constexpr std::string_view kDcerpc = "contexts and fragments of DCE/RPC are not followed";
constexpr std::string_view kGtp = "GTP messages are not decoded";
constexpr std::string_view kScada = "protocols of industrial control are not decoded";
constexpr std::string_view kFiles = "files are not identified by their types";

using enum Becomes;

std::vector<OptionKind> payload_options()
{
    return {
        {"content", kContent, kAny, {}},
        {"uricontent", kContent, kAny, {}},
        {"nocase", kModifier, nullptr, {}},
        {"rawbytes", kModifier, nullptr, {}},
        {"offset", kModifier, PLACE, {}},
        {"depth", kModifier, PLACE, {}},
        {"distance", kModifier, PLACE, {}},
        {"within", kModifier, PLACE, {}},
        {"fast_pattern", kModifier, "|only|" NUMBER "," NUMBER, {}},
        {"http_uri", kModifier, nullptr, {}},
        {"http_raw_uri", kModifier, nullptr, {}},
        {"http_header", kModifier, nullptr, {}},
        {"http_raw_header", kModifier, nullptr, {}},
        {"http_method", kModifier, nullptr, {}},
        {"http_cookie", kModifier, nullptr, {}},
        {"http_raw_cookie", kModifier, nullptr, {}},
        {"http_client_body", kModifier, nullptr, {}},
        {"http_stat_code", kModifier, nullptr, {}},
        {"http_stat_msg", kModifier, nullptr, {}},
        {"pcre", kPcre, kAny, {}},
        {"byte_test",
         kMatch,
         NUMBER ",(!?[<>=&^]|!|!?<=|!?>=)," PLACE "," PLACE "(,(" ENDIAN "))*",
         {}},
        {"byte_jump",
         kMatch,
         NUMBER "," PLACE "(,(" ENDIAN "|align|from_beginning|from_end|multiplier " NUMBER
                "|post_offset " SIGNED "))*",
         {}},
        {"byte_extract",
         kMatch,
         NUMBER "," SIGNED "," VARIABLE "(,(" ENDIAN "|multiplier " NUMBER "|align [24]))*",
         {}},
        {"byte_math", kMatch, MATH "(," MATH "){4,}", {}},
        {"isdataat", kMatch, "!?" PLACE "(,(relative|rawbytes))*", {}},
        {"dsize", kMatch, COMPARED, {}},
        {"urilen", kMatch, COMPARED "(,(norm|raw))?", {}},
        {"file_data", kMatch, nullptr, {}},
        {"pkt_data", kMatch, nullptr, {}},
        {"base64_decode",
         kMatch,
         "|(bytes " NUMBER "|offset " NUMBER "|relative)(,(bytes " NUMBER "|offset " NUMBER
         "|relative))*",
         {}},
        {"base64_data", kMatch, nullptr, {}},
        {"rpc", kMatch, NUMBER "(,(" NUMBER "|\\*)){0,2}", {}},
        {"ftpbounce", kMatch, nullptr, {}},
        {"sip_method", kMatch, "!?" METHOD "|" METHOD "(," METHOD ")*", {}},
        {"sip_stat_code", kMatch, NUMBER "(," NUMBER "){0,19}", {}},
        {"sip_header", kMatch, nullptr, {}},
        {"sip_body", kMatch, nullptr, {}},
        {"asn1", kMatch, ASN1 "([ ,]" ASN1 ")*", {}},
    };
}

std::vector<OptionKind> header_options()
{
    return {
        {"flags", kMatch, "[!*+]?" FLAGS "[!*+]?(," FLAGS ")?", {}},
        {"seq", kMatch, NUMBER, {}},
        {"ack", kMatch, NUMBER, {}},
        {"window", kMatch, "!?" NUMBER, {}},
        {"ttl", kMatch, "[<>=]?" NUMBER "|[<>]=" NUMBER "|" NUMBER "?-" NUMBER "?", {}},
        {"tos", kMatch, "!?" NUMBER, {}},
        {"id", kMatch, NUMBER, {}},
        {"fragbits", kMatch, "[!*+]?[mdr]+[!*+]?", {}},
        {"fragoffset", kMatch, "[!<>]?" NUMBER, {}},
        {"ipopts", kMatch, "rr|eol|nop|ts|sec|esec|lsrr|lsrre|ssrr|satid|any", {}},
        {"ip_proto", kMatch, "[!<>]?(" NUMBER "|" VARIABLE ")", {}},
        {"sameip", kMatch, nullptr, {}},
        {"itype", kMatch, COMPARED, {}},
        {"icode", kMatch, COMPARED, {}},
        {"icmp_id", kMatch, NUMBER, {}},
        {"icmp_seq", kMatch, NUMBER, {}},
    };
}

std::vector<OptionKind> rule_options()
{
    return {
        {"sid", kId, NUMBER, {}},
        {"msg", kText, kAny, {}},
        {"rev", kCarried, NUMBER, {}},
        {"gid", kCarried, NUMBER, {}},
        {"priority", kCarried, NUMBER, {}},
        {"classtype", kCarried, kAny, {}},
        {"reference", kCarried, kAny, {}},
        {"flow", kFlow, kAny, {}},
        {"flowbits", kFlowbits, kAny, {}},
        {"ssl_version", kMatch, SSL_VERSION "(," SSL_VERSION ")*", {}},
        {"ssl_state", kMatch, SSL_STATE "(," SSL_STATE ")*", {}},
        {"stream_size", kMatch, "(client|server|both|either),([<>]=?|!?=)," NUMBER, {}},
        {"threshold", kThreshold, kAny, {}},
        {"detection_filter", kThreshold, kAny, {}},

        {"metadata", kNote, kAny, kInformation},
        {"logto", kNote, kAny, kPassive},
        {"session", kNote, kAny, kPassive},
        {"resp", kNote, kAny, kPassive},
        {"react", kNote, kAny, kPassive},
        {"tag", kNote, kAny, kPassive},
        {"replace", kNote, kAny, kPassive},
        {"activates", kNote, kAny, kPassive},
        {"stream_reassemble", kNote, kAny, kPassive},
    };
}

std::vector<OptionKind> refused_options()
{
    return {
        {"activated_by", kRefused, kAny, kDynamic},
        {"count", kRefused, kAny, kDynamic},
        {"cvs", kRefused, kAny, "CVS requests are not decoded"},
        {"dce_iface", kRefused, kAny, kDcerpc},
        {"dce_opnum", kRefused, kAny, kDcerpc},
        {"dce_stub_data", kRefused, kAny, kDcerpc},
        {"gtp_type", kRefused, kAny, kGtp},
        {"gtp_info", kRefused, kAny, kGtp},
        {"gtp_version", kRefused, kAny, kGtp},
        {"modbus_func", kRefused, kAny, kScada},
        {"modbus_unit", kRefused, kAny, kScada},
        {"modbus_data", kRefused, kAny, kScada},
        {"dnp3_func", kRefused, kAny, kScada},
        {"dnp3_ind", kRefused, kAny, kScada},
        {"dnp3_obj", kRefused, kAny, kScada},
        {"dnp3_data", kRefused, kAny, kScada},
        {"cip_attribute", kRefused, kAny, kScada},
        {"cip_class", kRefused, kAny, kScada},
        {"cip_conn_path_class", kRefused, kAny, kScada},
        {"cip_instance", kRefused, kAny, kScada},
        {"cip_req", kRefused, kAny, kScada},
        {"cip_rsp", kRefused, kAny, kScada},
        {"cip_service", kRefused, kAny, kScada},
        {"cip_status", kRefused, kAny, kScada},
        {"enip_command", kRefused, kAny, kScada},
        {"enip_req", kRefused, kAny, kScada},
        {"enip_rsp", kRefused, kAny, kScada},
        {"protected_content", kRefused, kAny, "contents are not compared by their hash"},
        {"http_encode", kRefused, kAny, "encodings of HTTP are not recorded"},
        {"sd_pattern", kRefused, kAny, "sensitive data is not counted"},
        {"file_type", kRefused, kAny, kFiles},
        {"file_group", kRefused, kAny, kFiles},
        {"appid", kRefused, kAny, "applications are not identified"},
        {"content-list", kRefused, kAny, kObsolete},
        {"regex", kRefused, kAny, kObsolete},
        {"stateless", kRefused, kAny, kObsolete},
    };
}
} // namespace

const std::vector<OptionKind> &all_options()
{
    static const std::vector<OptionKind> table = [] {
        std::vector<OptionKind> all;
        for (const auto &part :
             {payload_options(), header_options(), rule_options(), refused_options()})
            all.insert(all.end(), part.begin(), part.end());
        return all;
    }();
    return table;
}

const OptionKind *find_option(std::string_view name)
{
    static const auto by_name = [] {
        std::unordered_map<std::string_view, const OptionKind *> map;
        for (const OptionKind &kind : all_options())
            map.emplace(kind.name, &kind);
        return map;
    }();
    const auto found = by_name.find(name);
    return found == by_name.end() ? nullptr : found->second;
}
} // namespace snort2sids
