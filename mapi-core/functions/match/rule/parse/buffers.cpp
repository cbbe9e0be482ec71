// SPDX-License-Identifier: MIT
// Options that choose or make the bytes of the following ones, and rpc and ftpbounce.
#include <array>

#include "match/rule/parse/parser.hpp"
#include "match/rule/rule_error.hpp"

namespace mapi::match::rule
{
namespace
{
constexpr int64_t kFarthest = 65535;

void parse_file_data(Parser &parser, const OptionText &option)
{
    if (option.has_value && !option.value.is_empty() && option.value.text != "mime")
        require_no_value(option);
    parser.add_payload(ChooseBuffer{Buffer::kFileData});
}

void parse_pkt_data(Parser &parser, const OptionText &option)
{
    require_no_value(option);
    parser.add_payload(ChooseBuffer{Buffer::kPayload});
}

void parse_base64_data(Parser &parser, const OptionText &option)
{
    require_no_value(option);
    parser.add_payload(ChooseBuffer{Buffer::kBase64});
}

// A second one would replace the text in which contents before it are still searched.
void parse_base64_decode(Parser &parser, const OptionText &option)
{
    if (parser.has_payload<Base64Decode>())
        throw RuleError(option.name.at, "a rule has at most one base64_decode");
    Base64Decode decode;
    for (const Part &part : split(option.value, ',')) {
        const size_t blank = part.text.find_first_of(" \t");
        const std::string_view word = part.text.substr(0, blank);
        if (part.is_empty() && !option.has_value)
            break;
        if (part.text == "relative")
            decode.is_relative = true;
        else if (word == "bytes" && blank != part.text.npos)
            decode.bytes = uint32_t(number_of(split(part.from(blank), '\0')[0], 1, kFarthest));
        else if (word == "offset" && blank != part.text.npos)
            decode.offset = uint32_t(number_of(split(part.from(blank), '\0')[0], 0, kFarthest));
        else
            throw RuleError(part.at, "\"bytes N\", \"offset N\" or \"relative\" is expected");
    }
    parser.add_payload(decode);
}

std::optional<uint32_t> rpc_number(Part part)
{
    if (part.text == "*")
        return std::nullopt;
    return uint32_t(number_of(part, 0, UINT32_MAX));
}

void parse_rpc(Parser &parser, const OptionText &option)
{
    const std::vector<Part> parts = split(without_quotes(require_value(option)), ',');
    if (parts.size() > 3)
        throw RuleError(parts[3].at, "program, version and procedure are expected");
    Rpc rpc;
    rpc.program = uint32_t(number_of(parts[0], 0, UINT32_MAX));
    if (parts.size() > 1)
        rpc.version = rpc_number(parts[1]);
    if (parts.size() > 2)
        rpc.procedure = rpc_number(parts[2]);
    parser.add_payload(rpc);
}

void parse_ftpbounce(Parser &parser, const OptionText &option)
{
    require_no_value(option);
    parser.add_payload(FtpBounce{});
}

constexpr std::array kOptions = {
    OptionParser{"file_data", parse_file_data},
    OptionParser{"pkt_data", parse_pkt_data},
    OptionParser{"base64_decode", parse_base64_decode},
    OptionParser{"base64_data", parse_base64_data},
    OptionParser{"rpc", parse_rpc},
    OptionParser{"ftpbounce", parse_ftpbounce},
};
} // namespace

ParseOption find_buffer_option(std::string_view name)
{
    return find_in(kOptions, name);
}
} // namespace mapi::match::rule
