/* SPDX-License-Identifier: MIT */
/* mapi-count: capture file or device, and filters -> packets and bytes that match each. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/signals.h"
#include "common/command/standard_files.h"
#include "common/file_error/file_error.h"
#include "count.h"
#include "filters.h"
#include "json.h"

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
    fprintf(stderr, "mapi-count: standard output: %s\n", nslice_write_error(errno));
    return EXIT_REFUSED;
}

static void usage(FILE *out)
{
    fputs("usage: mapi-count [options] CAPTURE [EXPRESSION...]\n"
          "       mapi-count [options] CAPTURE... -- [EXPRESSION...]\n"
          "       mapi-count [options] --interface DEVICE [EXPRESSION...]\n"
          "\n"
          "Counts the packets that match each filter expression, or all packets if there is none. "
          "Reads captures (pcap or pcapng,\n"
          "may be compressed); several captures, or a folder of them, are read as one, ordered by "
          "their first packets; '-' is\n"
          "standard input. Reads a network interface or a device of mapi.conf until Ctrl-C.\n"
          "Prints a line for each expression: packets, wire bytes, seconds, expression, separated "
          "by tabs.\n"
          "\n"
          "  -i, --interface DEVICE\n"
          "                       read a network interface or a device of mapi.conf; 'any': all "
          "interfaces\n"
          "  -r, --read CAPTURE   read this capture or folder; may be repeated; all other "
          "arguments are then expressions\n"
          "  -w, --wait           wait for an interface that does not exist yet\n"
          "  -j, --json           print one JSON object (see mapi-count(1))\n"
          "  -E, --erf            the capture is an ERF file of a DAG card\n"
          "  -f, --file FILE      read expressions, one per line; an empty line counts everything; "
          "'#' begins a comment;\n"
          "                       '-' is standard input\n"
          "  -e, --each           read the capture once for each expression, not once for all\n"
          "  -s, --string         expressions are strings to search for (STR_SEARCH), not filters\n"
          "  -b, --batch N        packets per batch, 1 to 256\n"
          "  -p, --per-packet     the same as --batch 1\n"
          "  -h, --help           print this help\n"
          "  -V, --version        print the version\n"
          "\n"
          "examples:\n"
          "  mapi-count trace.pcap 'tcp port 80' 'udp port 53'\n"
          "  mapi-count --each --file filters.txt trace.pcapng\n"
          "  mapi-count --string trace.pcap 'GET /' '|16 03 01|'\n"
          "  mapi-count --interface eth0 tcp udp\n"
          "  mapi-count day/*.pcap -- tcp udp\n"
          "\n"
          "exit status: 0 success; 1 the capture is damaged or contains records of impossible "
          "length, or packets were lost, by a\n"
          "device or when the capture was recorded; the message says what was counted; 2 invalid "
          "usage, or a file of expressions\n"
          "that cannot be read or is empty; 3 the capture or an expression was refused, or the "
          "output cannot be written;\n"
          "130 interrupted\n",
          out);
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

/* Index of "--", or argc if there is none. */
static int find_end_of_options(int argc, char **argv)
{
    int i;

    for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        ;
    return i;
}

static struct filter *read_words(struct options *options, int argc, char **argv,
                                 struct filter *filters, int *count)
{
    const int end = find_end_of_options(argc, argv);
    const int has_list = end < argc && optind < end; /* several captures before "--" */
    int needs_capture = !options->device && options->captures.count == 0;

    for (; optind < end && needs_capture && has_list; optind++)
        add_capture(options, argv[optind]);
    for (; optind < argc; optind++) {
        if (optind == end)
            continue;
        needs_capture = !options->device && options->captures.count == 0;
        if (needs_capture)
            add_capture(options, argv[optind]);
        else
            filters = append(filters, count, argv[optind]);
    }
    return filters;
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

static struct filter *read_options(struct options *options, int argc, char **argv,
                                   struct filter *filters, int *count)
{
    static const struct option longs[] = {
        {"file", required_argument, NULL, 'f'},
        {"each", no_argument, NULL, 'e'},
        {"string", no_argument, NULL, 's'},
        {"batch", required_argument, NULL, 'b'},
        {"per-packet", no_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {"interface", required_argument, NULL, 'i'},
        {"erf", no_argument, NULL, 'E'},
        {"read", required_argument, NULL, 'r'},
        {"wait", no_argument, NULL, 'w'},
        {"json", no_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    const int end = find_end_of_options(argc, argv);
    int letter;

    while ((letter = getopt_long(end, argv, "f:i:r:Eesb:phVwj", longs, NULL)) >= 0) {
        switch (letter) {
        case 'f':
            options->has_input_of_expressions |= !strcmp(optarg, "-");
            filters = append_file(filters, count, optarg);
            break;
        case 'i': options->device = optarg; break;
        case 'r': add_capture(options, optarg); break;
        case 'E': options->is_erf = 1; break;
        case 'e': options->separately = 1; break;
        case 's': options->strings = 1; break;
        case 'b': options->batch = optarg; break;
        case 'p': options->batch = "1"; break;
        case 'w': options->waits = 1; break;
        case 'j': options->is_json = 1; break;
        case 'h': usage(stdout); exit(finish(EXIT_COUNTED));
        case 'V': puts("mapi-count " NETSLICE_VERSION); exit(finish(EXIT_COUNTED));
        default: usage(stderr); exit(EXIT_USAGE);
        }
    }
    return read_words(options, argc, argv, filters, count);
}

/* Reports a request that cannot be served.  Returns 0 if it can. */
static int refuse(const struct options *options, int count)
{
    int i;

    if ((options->device ? !*options->device || options->is_erf || options->captures.count > 0
                         : options->captures.count == 0 || options->waits) ||
        (options->captures.count > 0 && !*options->captures.list[0].path)) {
        usage(stderr);
        return EXIT_USAGE;
    }
    for (i = 0; i < options->captures.count && options->has_input_of_expressions; i++) {
        if (!strcmp(options->captures.list[i].path, "-")) {
            fputs("mapi-count: standard input cannot be both the capture and the file of "
                  "expressions\n",
                  stderr);
            return EXIT_USAGE;
        }
    }
    if (options->separately && count > 1 &&
        (options->device || captures_have_stream(&options->captures))) {
        fprintf(stderr,
                "mapi-count: %s: cannot be read once for each expression (save it to a file first, "
                "or omit --each)\n",
                options->device ? options->device : options->captures.list[0].path);
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
    return finish(code);
}

int main(int argc, char **argv)
{
    struct options options = {0};
    struct filter *filters = NULL;
    int count = 0, code;

    command_keep_standard_files();
    filters = read_options(&options, argc, argv, filters, &count);
    code = refuse(&options, count);
    if (!code) {
        if (count == 0)
            filters = append(filters, &count, "");
        code = count_all(&options, filters, count);
    }
    free_filters(filters, count);
    captures_free(&options.captures);
    return code;
}
