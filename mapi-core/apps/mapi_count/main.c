/* SPDX-License-Identifier: MIT */
/* mapi-count: capture file or device, and filters -> packets and bytes that match each. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <sys/stat.h>

#include "command/signals.h"
#include "command/standard_files.h"
#include "count.h"
#include "file_error/file_error.h"
#include "filters.h"

/* The code, or that of an output that did not get out.  A reader that closed the pipe has what it wanted. */
static int finish(int code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	if (errno == EPIPE)
		return code;
	fprintf(stderr, "mapi-count: standard output: %s\n", nslice_write_error(errno));
	return EXIT_REFUSED;
}

/* A pipe or the like: what was read is gone. */
static int is_stream(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) && !S_ISBLK(status.st_mode);
}

static void usage(FILE *out)
{
	fputs("usage: mapi-count [options] CAPTURE [EXPRESSION...]\n"
	      "       mapi-count [options] --interface DEVICE [EXPRESSION...]\n"
	      "\n"
	      "Counts the packets of a capture, pcap or pcapng, also compressed, that match each filter expression; all without one.\n"
	      "Those of a network interface, or of a device of mapi.conf, until Ctrl-C.\n"
	      "Prints a line for each: packets, wire bytes, seconds, expression, with tabs between.\n"
	      "\n"
	      "  -i, --interface DEVICE  read a network interface, or a device of mapi.conf\n"
	      "  -E, --erf            the capture is an ERF file of a DAG card\n"
	      "  -f, --file FILE      one expression a line, an empty one counts everything; '#' begins a comment; '-' is\n"
	      "                       standard input\n"
	      "  -e, --each           read the capture once for each expression, not once for all\n"
	      "  -s, --string         expressions are strings to search (STR_SEARCH), not filters\n"
	      "  -b, --batch N        packets a unit of work, 1 to 256\n"
	      "  -p, --per-packet     the same as --batch 1\n"
	      "  -h, --help           this text\n"
	      "  -V, --version        the version\n"
	      "\n"
	      "examples:\n"
	      "  mapi-count trace.pcap 'tcp port 80' 'udp port 53'\n"
	      "  mapi-count --each --file filters.txt trace.pcapng\n"
	      "  mapi-count --string trace.pcap 'GET /' '|16 03 01|'\n"
	      "  mapi-count --interface eth0 tcp udp\n"
	      "\n"
	      "exit status: 0 counted; 1 the capture is damaged or holds records of impossible length, or packets were lost, by a\n"
	      "device or when the capture was recorded; the message says what was counted; 2 wrong usage, or a file of expressions that cannot be read or has none; 3 the capture or an expression was\n"
	      "refused, or the output cannot be written; 130 interrupted\n",
	      out);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"file", required_argument, NULL, 'f'}, {"each", no_argument, NULL, 'e'},
		{"string", no_argument, NULL, 's'},     {"batch", required_argument, NULL, 'b'},
		{"per-packet", no_argument, NULL, 'p'}, {"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},    {"interface", required_argument, NULL, 'i'},
		{"erf", no_argument, NULL, 'E'},        {NULL, 0, NULL, 0},
	};
	struct options options = {0};
	struct filter *filters = NULL;
	int count = 0, code = EXIT_COUNTED, letter, i;

	command_keep_standard_files();
	while ((letter = getopt_long(argc, argv, "f:i:Eesb:phV", longs, NULL)) >= 0) {
		switch (letter) {
		case 'f': filters = append_file(filters, &count, optarg); break;
		case 'i': options.capture = optarg; options.is_device = 1; break;
		case 'E': options.is_erf = 1; break;
		case 'e': options.separately = 1; break;
		case 's': options.strings = 1; break;
		case 'b': options.batch = optarg; break;
		case 'p': options.batch = "1"; break;
		case 'h': usage(stdout); return finish(EXIT_COUNTED);
		case 'V': puts("mapi-count " NETSLICE_VERSION); return finish(EXIT_COUNTED);
		default: usage(stderr); return EXIT_USAGE;
		}
	}
	if (!options.is_device && optind < argc)
		options.capture = argv[optind++];
	if (!options.capture || !*options.capture || (options.is_device && options.is_erf)) {
		usage(stderr);
		return EXIT_USAGE;
	}
	for (; optind < argc; optind++)
		filters = append(filters, &count, argv[optind]);
	if (count == 0)
		filters = append(filters, &count, "");
	if (options.separately && count > 1 && (options.is_device || is_stream(options.capture))) {
		fprintf(stderr, "mapi-count: %s: cannot be read once for each expression; save it to a file first, or leave --each out\n",
			options.capture);
		return EXIT_REFUSED;
	}
	if (!options.separately)
		code = count_once(&options, filters, count);
	for (i = 0; i < count && options.separately; i++) {
		const int one = count_once(&options, &filters[i], 1);
		if (one > code)
			code = one;
		if (command_was_interrupted())
			break;
	}
	free_filters(filters, count);
	return finish(code);
}
