// SPDX-License-Identifier: MIT
// Rule parameters: numbers, keys and strings, as each function requires them.
#include "anonymize/rule_parameters.hpp"

#include <charconv>

#include "anonymize/transform/substitution.hpp"

namespace mapi::anonymize
{
namespace
{
constexpr size_t kAddressKeyBytes = 32;
constexpr size_t kTripleDesKeyBytes = 24;
constexpr size_t kGroupsMax = 64;

[[noreturn]] void refuse(const std::string &message)
{
    throw RuleError(RulePart::kParameters, message);
}

// The comma-separated parts of a text, one after another.
class Parts
{
public:
    explicit Parts(std::optional<std::string_view> text) : rest_(text) {}

    bool is_empty() const { return !rest_; }
    // `what` names the part in the error message if it is missing.
    std::string_view next(const char *what)
    {
        if (!rest_)
            refuse(std::string(what) + " is missing");
        const size_t comma = rest_->find(',');
        const std::string_view part = rest_->substr(0, comma);
        rest_ = comma == std::string_view::npos ? std::nullopt
                                                : std::optional(rest_->substr(comma + 1));
        return part;
    }
    // The whole rest, including commas.
    std::string_view all(const char *what)
    {
        if (!rest_)
            refuse(std::string(what) + " is missing");
        const std::string_view part = *rest_;
        rest_.reset();
        return part;
    }
    // "\," is a literal comma, which expressions need ("a{1\,3}").
    std::string next_escaped(const char *what)
    {
        std::string part;
        do {
            if (!part.empty())
                part.back() = ',';
            part += next(what);
        } while (rest_ && part.ends_with('\\'));
        return part;
    }

private:
    std::optional<std::string_view> rest_;
};

int64_t number(std::string_view text, const char *what)
{
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        refuse(std::string(what) + " is not an integer: \"" + std::string(text) + "\"");
    return value;
}

int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    const char lower = char(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// nullopt unless the text consists of hexadecimal digits, two for each byte.
std::optional<std::vector<uint8_t>> bytes_of_hex(std::string_view text)
{
    std::vector<uint8_t> bytes;
    if (text.empty() || text.size() % 2)
        return std::nullopt;
    for (size_t i = 0; i < text.size(); i += 2) {
        const int high = digit_of(text[i]), low = digit_of(text[i + 1]);
        if (high < 0 || low < 0)
            return std::nullopt;
        bytes.push_back(uint8_t(high * 16 + low));
    }
    return bytes;
}

void parse_strip(Parts parts, Rule &rule)
{
    const int64_t keep = parts.is_empty() ? 0
                                          : number(parts.next("the number of bytes to keep"),
                                                   "the number of bytes to keep");
    if (keep < 0 || keep > UINT16_MAX)
        refuse("the number of bytes to keep is out of range (0 to 65535)");
    rule.keep_bytes = uint32_t(keep);
}

bool is_key_length(HashAlgorithm hash, size_t bytes)
{
    if (hash == HashAlgorithm::kAes)
        return bytes == 16 || bytes == 24 || bytes == 32;
    return hash == HashAlgorithm::kTripleDes ? bytes == kTripleDesKeyBytes : bytes >= 1;
}

void parse_hashed(Parts parts, Rule &rule)
{
    const std::string_view name = parts.next("the name of the hash");
    const auto hash = hash_named(name);
    if (!hash)
        refuse("\"" + std::string(name) + "\" is not a known hash; available: " + hash_names());
    const auto padding = padding_named(parts.next("the treatment of the rest of the field"));
    if (!padding)
        refuse(
            "the treatment of the rest of the field is not PAD_WITH_ZERO, STRIP_REST or UNCHANGED");
    rule.hash = *hash;
    rule.padding = *padding;
    if (parts.is_empty())
        return;
    const auto key = bytes_of_hex(parts.all("the key"));
    if (!key)
        refuse("the key is not a sequence of hexadecimal digits, two for each byte");
    if (*hash == HashAlgorithm::kCrc32)
        refuse("CRC32 takes no key");
    if (!is_key_length(*hash, key->size()))
        refuse(*hash == HashAlgorithm::kAes ? "an AES key has 32, 48 or 64 hexadecimal digits"
                                            : "a TRIPLEDES key has 48 hexadecimal digits");
    rule.key = *key;
}

void parse_distribution(Parts parts, Rule &rule)
{
    const auto type = distribution_named(parts.next("the distribution"));
    if (!type)
        refuse("the distribution is neither UNIFORM nor GAUSSIAN");
    rule.distribution = *type;
    const bool is_uniform = *type == DistributionType::kUniform;
    const char *first = is_uniform ? "the minimum" : "the mean";
    const char *second = is_uniform ? "the maximum" : "the standard deviation";
    rule.first = number(parts.next(first), first);
    rule.second = number(parts.all(second), second);
    if (rule.first < 0 || rule.first > int64_t(UINT32_MAX) || rule.second < 0 ||
        rule.second > int64_t(UINT32_MAX))
        refuse(std::string(first) + " and " + (second + 4) + " are out of range (0 to 4294967295)");
    if (is_uniform && rule.second < rule.first)
        refuse("the maximum is less than the minimum");
}

void parse_pattern(Parts parts, Rule &rule)
{
    const auto type = pattern_type_named(parts.next("the type of the pattern"));
    if (!type)
        refuse("the type of the pattern is neither INTEGER nor STR");
    const std::string_view pattern = parts.all("the pattern");
    if (*type == PatternType::kString) {
        rule.text = pattern;
        if (rule.text.empty())
            refuse("the pattern is empty");
        return;
    }
    const int64_t value = number(pattern, "the pattern");
    if (value < 0 || value > UINT8_MAX)
        refuse("the pattern, the value of every byte, is out of range (0 to 255)");
    rule.text.assign(1, char(value));
}

void parse_replace(Parts parts, Rule &rule)
{
    rule.text = parts.all("the replacement");
    if (rule.text.empty())
        refuse("the replacement is empty (use STRIP to remove a field)");
}

void parse_regexp(Parts parts, Rule &rule)
{
    rule.text = parts.next_escaped("the expression");
    const int64_t groups = number(parts.next("the number of groups"), "the number of groups");
    if (groups < 1 || groups > int64_t(kGroupsMax))
        refuse("the number of groups is out of range (1 to 64)");
    for (int64_t i = 1; i <= groups; ++i) {
        const std::string what = "the replacement of group " + std::to_string(i);
        const std::string_view text =
            i < groups ? parts.next(what.c_str()) : parts.all(what.c_str());
        rule.replacements.push_back(text == "NULL" ? std::nullopt
                                                   : std::optional<std::string>(text));
    }
    check_expression(rule.text,
                     size_t(groups)); // here, so that errors are found before the first packet
}
} // namespace

void parse_parameters(std::optional<std::string_view> text, Rule &rule)
{
    Parts parts(text);
    switch (rule.method) {
    case Method::kStrip: parse_strip(parts, rule); return;
    case Method::kHashed: parse_hashed(parts, rule); return;
    case Method::kMapDistribution: parse_distribution(parts, rule); return;
    case Method::kPatternFill: parse_pattern(parts, rule); return;
    case Method::kReplace: parse_replace(parts, rule); return;
    case Method::kRegexp: parse_regexp(parts, rule); return;
    case Method::kPrefixPreserving:
        if (text)
            rule.key = parse_address_key(*text);
        return;
    default: break;
    }
    if (text)
        refuse(std::string(name_of(rule.method)) + " takes no parameters, but was given \"" +
               std::string(*text) + "\"");
}

std::vector<uint8_t> parse_address_key(std::string_view text)
{
    if (text.size() == kAddressKeyBytes)
        return {text.begin(), text.end()};
    const auto bytes = text.size() == 2 * kAddressKeyBytes ? bytes_of_hex(text) : std::nullopt;
    if (!bytes)
        refuse("the key must have 256 bits: 32 characters, or 64 hexadecimal digits");
    return *bytes;
}
} // namespace mapi::anonymize
