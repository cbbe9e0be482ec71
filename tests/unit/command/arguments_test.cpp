// SPDX-License-Identifier: MIT
#include "common/command/arguments.hpp"

#include "common/command/counted.hpp"

#include "support/catch.hpp"

using namespace command;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace
{
struct Values {
    std::string output = "out";
    int number = 0;
    uint64_t bytes = 0;
    double seconds = 0;
    std::optional<uint32_t> cpu;
    std::vector<std::string> words;
    bool is_quiet = false;
    bool has_colour = true;
};

void add_all(ArgumentSet &arguments, Values &values)
{
    arguments.add("-o,--output", values.output, "file to write").show_default();
    arguments.add("-n,--number", values.number, "a number").range(1, 9);
    arguments.add("--bytes", values.bytes, "a size").sizes();
    arguments.add("--seconds", values.seconds, "a time");
    arguments.add("--cpu", values.cpu, "a CPU");
    arguments.add("words", values.words, "words");
    arguments.add_flag("-q,--quiet", values.is_quiet, "no words");
    arguments.add_flag("!--no-colour", values.has_colour, "no colours");
}

std::optional<Reply> parse(Arguments &arguments, std::vector<const char *> words)
{
    words.insert(words.begin(), "program");
    return arguments.parse(int(words.size()), words.data());
}
} // namespace

TEST_CASE("a given argument sets its variable, and the others keep their values",
          "[command][arguments]")
{
    Values values;
    Arguments arguments("Does nothing.", "program");
    add_all(arguments, values);

    REQUIRE_FALSE(parse(arguments, {"-n", "3", "--bytes", "64KiB", "--seconds=0.5", "a", "-q",
                                    "--no-colour", "b"}));

    CHECK(values.output == "out");
    CHECK(values.number == 3);
    CHECK(values.bytes == 65536);
    CHECK(values.seconds == 0.5);
    CHECK_FALSE(values.cpu);
    CHECK(values.words == std::vector<std::string>{"a", "b"});
    CHECK(values.is_quiet);
    CHECK_FALSE(values.has_colour);
}

TEST_CASE("a value that a check rejects is a usage error that names the option",
          "[command][arguments]")
{
    Values values;
    std::string mode, text;
    Arguments arguments("Does nothing.", "program");
    add_all(arguments, values);
    arguments.add("--mode", mode, "a mode").one_of({"fast", "slow"});
    arguments.add("--text", text, "a text").check([](const std::string &given) {
        return given.empty() ? "is empty" : "";
    });

    for (const std::vector<const char *> &words :
         std::vector<std::vector<const char *>>{{"-n", "10"},
                                                {"-n", "0"},
                                                {"-n", "x"},
                                                {"--cpu", "-1"},
                                                {"--cpu", "4294967296"},
                                                {"--bytes", "3x"},
                                                {"--mode", "odd"},
                                                {"--text", ""},
                                                {"--none"}}) {
        const auto reply = parse(arguments, words);
        REQUIRE(reply);
        CHECK(reply->is_wrong);
        CHECK_THAT(reply->text, Contains(words[0][1] == 'n' ? "--number" : words[0]) &&
                                    StartsWith("program: ") && EndsWith(")\n"));
    }
}

TEST_CASE("help and version are not usage errors, and help shows defaults and the footer",
          "[command][arguments]")
{
    Values values;
    Arguments arguments("Does nothing.", "program");
    add_all(arguments, values);
    arguments.version("program 1.2.3");
    arguments.footer("That is all.");

    const auto help = parse(arguments, {"--help"});
    REQUIRE(help);
    CHECK_FALSE(help->is_wrong);
    for (const char *part : {"Does nothing.", "Usage: program [OPTIONS] [words...]\n",
                             "  -o,--output TEXT            file to write (default out)\n",
                             "  -n,--number N               a number (1 to 9)\n",
                             "  --bytes BYTES               a size\n",
                             "  --no-colour                 no colours\n", "That is all."})
        CHECK_THAT(help->text, Contains(part));
    const auto version = parse(arguments, {"--version"});
    REQUIRE(version);
    CHECK_FALSE(version->is_wrong);
    CHECK(version->text == "program 1.2.3\n");
}

TEST_CASE("the chosen command is known, and an unknown one is reported by name",
          "[command][arguments]")
{
    std::string trace;
    Arguments arguments("Does nothing.", "program");
    ArgumentSet show = arguments.add_command("show", "shows");
    const ArgumentSet check = arguments.add_command("check", "checks");
    show.add("trace", trace, "trace").required();
    arguments.require_command();

    const auto unknown = parse(arguments, {"shaw", "x"});
    REQUIRE(unknown);
    CHECK(unknown->is_wrong);
    CHECK(unknown->text ==
          "program: unknown command \"shaw\"; available: show, check (see program --help)\n");
    const auto incomplete = parse(arguments, {"show"});
    REQUIRE(incomplete);
    CHECK(incomplete->text == "program: a trace is required (see program show --help)\n");
    const auto more = parse(arguments, {"show", "t.nsl", "u.nsl"});
    REQUIRE(more);
    CHECK(more->text == "program: unexpected argument \"u.nsl\" (see program show --help)\n");
    CHECK_FALSE(parse(arguments, {"show", "t.nsl"}));
    CHECK(show.was_chosen());
    CHECK_FALSE(check.was_chosen());
    CHECK(trace == "t.nsl");
}

TEST_CASE("arguments that cannot be combined are a usage error, reported at the end of parsing",
          "[command][arguments]")
{
    Values values;
    Arguments arguments("Does nothing.", "program");
    add_all(arguments, values);
    arguments.allow_command();
    ArgumentSet show = arguments.add_command("show", "shows");
    const Argument limit = show.add("--most", values.number, "most");
    bool was_run = false;
    show.at_end([&] {
        was_run = true;
        if (limit.was_given() && values.is_quiet)
            throw WrongUse("--most and --quiet do not go together");
    });

    CHECK_FALSE(parse(arguments, {"-q"}));
    CHECK_FALSE(was_run);
    const auto reply = parse(arguments, {"show", "--most", "3", "-q"});
    REQUIRE(reply);
    CHECK(reply->is_wrong);
    CHECK(reply->text ==
          "program: --most and --quiet do not go together (see program show --help)\n");
}

TEST_CASE("an argument that would have no effect is refused by its long name",
          "[command][arguments]")
{
    std::string input, output;
    Arguments arguments("Does nothing.", "program");
    const Argument trace = arguments.add("-r,--read,trace", input, "a trace");
    const Argument list = arguments.add("-l,--list", output, "a list");
    const Argument word = arguments.add("word", output, "a word");
    arguments.at_end([&] { refuse({list, word}, "requires --all"); });

    CHECK(trace.name() == "--read");
    CHECK(word.name() == "word");
    CHECK_FALSE(parse(arguments, {"-r", "t"}));
    const auto reply = parse(arguments, {"-l", "x"});
    REQUIRE(reply);
    CHECK(reply->text == "program: --list requires --all (see program --help)\n");
}

TEST_CASE("what is wrong with a value is reported in the words of the user", "[command][arguments]")
{
    Values values;
    std::string mode, trace, format = "text";
    Arguments arguments("Does nothing.", "program");
    arguments.add("-n,--number", values.number, "a number").range(1, 9);
    arguments.add("--cpu", values.cpu, "a CPU");
    arguments.add("--bytes", values.bytes, "a size").sizes();
    arguments.add("--ring", values.bytes, "a size").powers_of_two(4096, uint64_t{8} << 30);
    arguments.add("--mode", mode, "a mode").one_of({"fast", "slow"});
    arguments.add("-r,--read,trace", trace, "a trace");
    arguments.add_format(format, {"text", "json", "csv"});

    const std::vector<std::pair<std::vector<const char *>, std::string>> cases = {
        {{"-n", "10"}, "--number: 10 is out of range (1 to 9)"},
        {{"-n", "x"}, "--number: \"x\" is not a number (see program --help)"},
        {{"-n"}, "--number requires a value (see program --help)"},
        {{"-n", "1", "-n", "2"}, "--number is given more than once (see program --help)"},
        {{"-n", "-99999999999"}, "--number: -99999999999 is out of range (1 to 9)"},
        {{"-n", "1.5"}, "--number: \"1.5\" is not a whole number (see program --help)"},
        {{"--cpu", "-1"}, "--cpu: -1 is out of range (0 to 4294967295)"},
        {{"--cpu", "1e9"}, "--cpu: \"1e9\" is not a whole number (see program --help)"},
        {{"--ring", "3K"},
         "--ring: \"3K\" is not a power of two from 4K to 8G (see program --help)"},
        {{"--ring", "16G"},
         "--ring: \"16G\" is not a power of two from 4K to 8G (see program --help)"},
        {{"-r"}, "--read requires a value (see program --help)"},
        {{"--bytes", "3x"}, "--bytes: \"3x\" is not a size (such as 65536, 64K or 4M)"},
        {{"--mode", "odd"}, "--mode: unknown value \"odd\" (available: fast, slow)"},
        {{"-x"}, "unknown option \"-x\" (see program --help)"},
        {{"t", "u"}, "unexpected argument \"u\" (see program --help)"},
        {{"--json", "--format", "csv"},
         "--json cannot be combined with --format csv (see program --help)"},
    };
    for (const auto &[words, wrong] : cases) {
        const auto reply = parse(arguments, words);
        REQUIRE(reply);
        CHECK(reply->is_wrong);
        CHECK(reply->text == "program: " + wrong + "\n");
    }
    const auto twice = parse(arguments, {"t", "-r", "u"});
    REQUIRE(twice);
    CHECK(twice->text == "program: trace is given more than once (see program --help)\n");
    const auto option = parse(arguments, {"t", "-x", "u"});
    REQUIRE(option);
    CHECK(option->text == "program: unknown option \"-x\" (see program --help)\n");
    CHECK_FALSE(parse(arguments, {"-r", "t", "--json"}));
    CHECK(trace == "t");
    CHECK(format == "json");
}

TEST_CASE("a flag takes no value", "[command][arguments]")
{
    for (const char *word : {"--quiet=foo", "--quiet=true", "--quiet=false",
                             "--quiet=", "--quiet=3", "--no-colour=true", "--no-colour=false",
                             "--json=foo", "--json=json", "--help=foo", "--version=2"}) {
        Values values;
        std::string format = "text";
        Arguments arguments("Does nothing.", "program");
        arguments.version("program 1.2.3");
        add_all(arguments, values);
        arguments.add_format(format, {"text", "json"});

        const auto reply = parse(arguments, {word});

        const std::string name = std::string(word).substr(0, std::string(word).find('='));
        REQUIRE(reply);
        CHECK(reply->is_wrong);
        CHECK(reply->text == "program: " + name + " takes no value (see program --help)\n");
    }
}

TEST_CASE("a command's flags take no value, not even --help", "[command][arguments]")
{
    for (const char *word : {"--help=foo", "--raw=foo", "--raw=true"}) {
        bool is_raw = false;
        std::vector<std::string> words;
        Arguments arguments("Does nothing.", "program");
        arguments.require_command();
        ArgumentSet show = arguments.add_command("show", "shows");
        show.add_flag("--raw", is_raw, "raw");
        show.add("words", words, "words");

        const auto reply = parse(arguments, {"show", word});
        REQUIRE(reply);
        CHECK_THAT(reply->text, EndsWith(" takes no value (see program show --help)\n"));
        CHECK_FALSE(parse(arguments, {"show", "--", word}));
    }
}

TEST_CASE("an unknown option of a program to run is answered with the separator",
          "[command][arguments]")
{
    std::vector<std::string> program;
    Arguments arguments("Does nothing.", "program");
    arguments.require_command();
    ArgumentSet run = arguments.add_command("run", "runs");
    run.add("words", program, "program");
    run.hint_at_separator("put -- before the program");

    const auto unknown = parse(arguments, {"run", "./other", "-x"});
    REQUIRE(unknown);
    CHECK(unknown->text == "program: unknown option \"-x\" (put -- before the program)\n");
    const auto own = parse(arguments, {"run", "-x", "--", "./other"});
    REQUIRE(own);
    CHECK(own->text == "program: unknown option \"-x\" (see program run --help)\n");
}

TEST_CASE("a noun follows its number in the singular or the plural", "[command][counted]")
{
    CHECK(counted(1, "chunk") == "1 chunk");
    CHECK(counted(0, "chunk") == "0 chunks");
    CHECK(counted(2, "chunk is missing", "chunks are missing") == "2 chunks are missing");
    CHECK(counted(1, "chunk is missing", "chunks are missing") == "1 chunk is missing");
}
