/* SPDX-License-Identifier: MIT */
/* mapi-count: capture file or device, and filters -> packets and bytes that match each. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/signals.h"
#include "common/command/standard_files.h"
#include "common/command/text_file.h"
#include "common/file_error/file_error.h"
#include "count.h"
#include "filters.h"
#include "json.h"

/* What is printed before it goes to a file. */
struct text {
    char *bytes;
    size_t count;
};

enum { BATCH_MOST = 512 }; /* of mapi.conf's batch= */

enum long_option {
    OPTION_EACH = 256,
    OPTION_STRING,
    OPTION_BATCH,
    OPTION_PER_PACKET,
    OPTION_ERF,
    OPTION_WAIT,
    OPTION_JSON,
    OPTION_FORMAT,
    OPTION_VERSION,
};

static const char *const kShort = ":r:i:F:c:d:o:qh";
static const struct option kLong[] = {
    {"read", required_argument, NULL, 'r'},
    {"interface", required_argument, NULL, 'i'},
    {"file", required_argument, NULL, 'F'},
    {"count", required_argument, NULL, 'c'},
    {"duration", required_argument, NULL, 'd'},
    {"output", required_argument, NULL, 'o'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"each", no_argument, NULL, OPTION_EACH},
    {"string", no_argument, NULL, OPTION_STRING},
    {"batch", required_argument, NULL, OPTION_BATCH},
    {"per-packet", no_argument, NULL, OPTION_PER_PACKET},
    {"erf", no_argument, NULL, OPTION_ERF},
    {"wait", no_argument, NULL, OPTION_WAIT},
    {"json", no_argument, NULL, OPTION_JSON},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

/*
 * Returns the code, or EXIT_REFUSED if output was lost.  A reader that closed the pipe has all it
 * wanted.
 */
static int finish(int code)
{
    if (!fflush(stdout) && !ferror(stdout))
        return code;
    if (errno == EPIPE)
        return code;
    fprintf(stderr, "mapi-count: standard output: cannot write: %s\n", nslice_write_error(errno));
    return EXIT_REFUSED;
}

static void print_help(void)
{
    fputs(
        "Count the packets that match each filter expression. Without one, count all packets.\n"
        "Usage: mapi-count -r FILE [OPTIONS] [expression...]\n"
        "       mapi-count -i IFACE [OPTIONS] [expression...]\n"
        "\n"
        "Several captures, or a folder of them, are read as one, ordered by their first packets. "
        "An interface is read until Ctrl-C.\n"
        "Prints a line for each expression: packets, wire bytes, seconds, expression, separated "
        "by tabs.\n"
        "\n"
        "Options:\n"
        "  -h,--help                   print this help and exit\n"
        "  --version                   print the version and exit\n"
        "  -r,--read FILE              capture (pcap or pcapng, may be compressed), folder of "
        "captures, or - for standard input;\n"
        "                              may be repeated\n"
        "  -i,--interface IFACE        network interface or device of mapi.conf to read; any: all "
        "interfaces\n"
        "  -F,--file FILE              read expressions, one per line; an empty line counts "
        "everything; # begins a comment;\n"
        "                              -: standard input\n"
        "  -c,--count COUNT            stop after that many packets, matching or not\n"
        "  -d,--duration SECONDS       how long to read an interface (default: until Ctrl-C)\n"
        "  --wait                      wait for an interface that does not exist yet\n"
        "  --erf                       the capture is an ERF file of a DAG card\n"
        "  --each                      read the capture once for each expression, not once for "
        "all\n"
        "  --string                    expressions are strings to search for (STR_SEARCH), not "
        "filters\n"
        "  --batch N                   packets per batch (1 to 512; default 512)\n"
        "  --per-packet                the same as --batch 1\n"
        "  --format text|json          format of the output (default text)\n"
        "  --json                      the same as --format json: one object (see "
        "mapi-count(1))\n"
        "  -o,--output FILE            file to print to; -: standard output (default)\n"
        "  -q,--quiet                  no notes; only errors and what is missing\n"
        "\n"
        "Examples:\n"
        "  mapi-count -r trace.pcap 'tcp port 80' 'udp port 53'\n"
        "  mapi-count -r trace.pcapng --each -F filters.txt\n"
        "  mapi-count -r trace.pcap --string 'GET /' '|16 03 01|'\n"
        "  mapi-count -i eth0 -d 10 tcp udp\n"
        "  mapi-count -r monday.pcap -r tuesday.pcap tcp udp\n"
        "\n"
        "Exit codes: 0 success; 1 the capture is damaged or contains records of impossible "
        "length, or packets were lost, by a\n"
        "device or when the capture was recorded; the message says what was counted; 2 invalid "
        "usage, or a file of expressions\n"
        "that cannot be read or is empty; 3 the capture or an expression was refused, or the "
        "output cannot be written;\n"
        "130 interrupted while reading a capture or waiting for an interface\n",
        stdout);
}

/* Ends the program.  A message that ends with a remedy gets no other. */
__attribute__((noreturn, format(printf, 1, 2))) static void misused(const char *format, ...)
{
    const char *const remedy = format[strlen(format) - 1] == ')' ? "" : " (see mapi-count --help)";
    va_list values;

    va_start(values, format);
    fputs("mapi-count: ", stderr);
    vfprintf(stderr, format, values);
    fprintf(stderr, "%s\n", remedy);
    va_end(values);
    exit(EXIT_USAGE);
}

/* Ends the program on failure. */
static void add_capture(struct options *options, const char *path)
{
    char why[PATH_MAX + 256];

    if (captures_add(&options->captures, path, why, sizeof(why)) == 0)
        return;
    fprintf(stderr, "mapi-count: %s\n", why);
    exit(EXIT_REFUSED);
}

static int count_each(const struct options *options, struct filter *filters, int count,
                      struct mapi_stat *stats)
{
    int code = EXIT_COUNTED, i;

    for (i = 0; i < count; i++) {
        const int one = count_once(options, &filters[i], 1, stats);
        if (one > code)
            code = one;
        if (command_was_interrupted())
            break;
    }
    return code;
}

static double read_seconds(const char *text)
{
    char *end = NULL;
    const double seconds = strtod(text, &end);

    if (end == text || *end || !(seconds > 0 && isfinite(seconds)))
        misused("--duration: \"%s\" is not a positive number of seconds", text);
    return seconds;
}

/* Returns the text, which is a number that libmapi accepts. */
static const char *read_number(const char *option, const char *text, unsigned long long most)
{
    char *end = NULL;
    unsigned long long number;

    errno = 0;
    number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end)
        misused("%s: \"%s\" is not a whole number", option, text);
    if (errno || number < 1 || number > most)
        misused("%s: %s is out of range (1 to %llu)", option, text, most);
    return text;
}

static const char *read_format(const char *text)
{
    if (strcmp(text, "text") != 0 && strcmp(text, "json") != 0)
        misused("--format: unknown value \"%s\" (available: text, json)", text);
    return text;
}

static const char *read_name(const char *option, const char *text)
{
    if (!*text)
        misused("%s: is empty (give a value or omit the option)", option);
    return text;
}

/* Only some options may be repeated.  Ends the program if `letter` was given before. */
static void refuse_repeated(int letter)
{
    static const char *const kOnce[] = {
        ['i'] = "--interface", ['c'] = "--count",          ['d'] = "--duration",
        ['o'] = "--output",    [OPTION_BATCH] = "--batch", [OPTION_FORMAT] = "--format",
    };
    static char is_given[OPTION_VERSION + 1];
    const char *name = (size_t)letter < sizeof(kOnce) / sizeof(*kOnce) ? kOnce[letter] : NULL;

    if (name && is_given[letter]++)
        misused("%s is given more than once", name);
}

/* An option that is unknown or lacks its value. */
__attribute__((noreturn)) static void refuse_option(int letter, char **argv)
{
    const char *word = argv[optind - 1];
    const char name[] = {'-', (char)optopt, '\0'};
    const int is_short = optopt > 0 && optopt < OPTION_EACH && strncmp(word, "--", 2) != 0;

    if (letter == ':')
        misused("%s requires a value", is_short ? name : word);
    misused("unknown option \"%s\"", is_short ? name : word);
}

static struct filter *read_options(struct options *options, int argc, char **argv,
                                   struct filter *filters, int *count)
{
    int letter;

    opterr = 0;
    while ((letter = getopt_long(argc, argv, kShort, kLong, NULL)) >= 0) {
        refuse_repeated(letter);
        switch (letter) {
        case 'r': add_capture(options, read_name("--read", optarg)); break;
        case 'i': options->device = read_name("--interface", optarg); break;
        case 'F':
            options->has_input_of_expressions |= !strcmp(optarg, "-");
            filters = append_file(filters, count, read_name("--file", optarg));
            break;
        case 'c': options->packets = read_number("--count", optarg, INT64_MAX); break;
        case 'd': options->seconds = read_seconds(optarg); break;
        case 'o': options->output = read_name("--output", optarg); break;
        case 'q': options->is_quiet = 1; break;
        case OPTION_EACH: options->separately = 1; break;
        case OPTION_STRING: options->strings = 1; break;
        case OPTION_BATCH: options->batch = read_number("--batch", optarg, BATCH_MOST); break;
        case OPTION_PER_PACKET: options->is_per_packet = 1; break;
        case OPTION_ERF: options->is_erf = 1; break;
        case OPTION_WAIT: options->waits = 1; break;
        case OPTION_JSON: options->is_json = 1; break;
        case OPTION_FORMAT: options->format = read_format(optarg); break;
        case 'h': print_help(); exit(finish(EXIT_COUNTED));
        case OPTION_VERSION: puts("mapi-count " NETSLICE_VERSION); exit(finish(EXIT_COUNTED));
        default: refuse_option(letter, argv);
        }
    }
    for (; optind < argc; optind++)
        filters = append(filters, count, argv[optind]);
    return filters;
}

/* Ends the program if options cannot be combined, or nothing would use them. */
static void combine(struct options *options, int count)
{
    if (options->batch && options->is_per_packet)
        misused("--batch cannot be combined with --per-packet");
    if (options->is_per_packet)
        options->batch = "1";
    if (options->is_json && options->format && strcmp(options->format, "json") != 0)
        misused("--json cannot be combined with --format %s", options->format);
    options->is_json |= options->format && !strcmp(options->format, "json");
    if (options->strings && count == 0)
        misused("--string requires a string to search for");
    if (options->separately && count == 0)
        misused("--each requires expressions");
}

/* Ends the program if options cannot be combined. */
static void check_source(const struct options *options)
{
    const int has_captures = options->captures.count > 0;

    if (options->device && has_captures)
        misused("-r cannot be combined with -i");
    if (!options->device && !has_captures)
        misused("a source is required: -r FILE or -i IFACE");
    if (options->device && options->is_erf)
        misused("--erf cannot be combined with -i");
    if (!options->device && options->waits)
        misused("--wait requires -i");
    if (!options->device && options->seconds > 0)
        misused("-d requires -i");
}

/* Opens what is printed to: standard output, or memory for a file.  Returns an exit code. */
static int open_output(struct options *options, struct text *text)
{
    char why[PATH_MAX + 256] = "";
    int i, status = COMMAND_TEXT_FILE_OK;

    options->out = stdout;
    if (!options->output || !strcmp(options->output, "-"))
        return 0;
    for (i = 0; i < options->captures.count && !status; i++)
        status = command_check_text_file(options->output, options->captures.list[i].path, why,
                                         sizeof(why));
    if (options->device)
        status = command_check_text_file(options->output, "", why, sizeof(why));
    if (status) {
        fprintf(stderr, "mapi-count: %s\n", why);
        return status == COMMAND_TEXT_FILE_MISUSED ? EXIT_USAGE : EXIT_REFUSED;
    }
    options->out = open_memstream(&text->bytes, &text->count);
    if (!options->out) {
        perror("mapi-count");
        return EXIT_REFUSED;
    }
    return 0;
}

/* Writes what was printed, if it goes to a file.  Returns the exit code. */
static int close_output(const struct options *options, struct text *text, int code)
{
    char why[PATH_MAX + 256] = "";
    int status = COMMAND_TEXT_FILE_OK;

    if (options->out == stdout)
        return finish(code);
    if (fclose(options->out)) {
        perror("mapi-count");
        code = EXIT_REFUSED;
    }
    if (code != EXIT_REFUSED && code != EXIT_USAGE)
        status =
            command_write_text_file(options->output, text->bytes, text->count, why, sizeof(why));
    free(text->bytes);
    if (status == COMMAND_TEXT_FILE_INTERRUPTED)
        return EXIT_INTERRUPTED;
    if (status)
        fprintf(stderr, "mapi-count: %s\n", why);
    return status ? EXIT_REFUSED : code;
}

/* Reports a request that cannot be served.  Returns 0 if it can. */
static int refuse(const struct options *options, int count)
{
    const char *source = options->device;
    int i;

    if (!source)
        source = strcmp(options->captures.list[0].path, "-") ? options->captures.list[0].path
                                                             : "standard input";
    for (i = 0; i < options->captures.count && options->has_input_of_expressions; i++) {
        if (!strcmp(options->captures.list[i].path, "-")) {
            fputs("mapi-count: standard input: cannot be both the capture and the file of "
                  "expressions (save one of them to a file)\n",
                  stderr);
            return EXIT_USAGE;
        }
    }
    if (options->separately && count > 1 &&
        (options->device || captures_have_stream(&options->captures))) {
        fprintf(stderr,
                "mapi-count: %s: cannot be read once for each expression (save it to a file first, "
                "or omit --each)\n",
                source);
        return EXIT_REFUSED;
    }
    return 0;
}

static int count_all(const struct options *options, struct filter *filters, int count)
{
    struct mapi_stat stats = {0};
    int code;

    if (options->waits)
        command_catch_interrupts();
    code = options->separately ? count_each(options, filters, count, &stats)
                               : count_once(options, filters, count, &stats);
    if (options->is_json && code != EXIT_REFUSED)
        print_json(options, filters, count, &stats, code);
    return code;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    struct filter *filters = NULL;
    struct text text = {0};
    int count = 0, code;

    command_keep_standard_files();
    filters = read_options(&options, argc, argv, filters, &count);
    check_source(&options);
    combine(&options, count);
    code = refuse(&options, count);
    if (!code)
        code = open_output(&options, &text);
    if (!code) {
        if (count == 0)
            filters = append(filters, &count, "");
        code = close_output(&options, &text, count_all(&options, filters, count));
    }
    free_filters(filters, count);
    captures_free(&options.captures);
    return code;
}
