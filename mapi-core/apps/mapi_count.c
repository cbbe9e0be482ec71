// SPDX-License-Identifier: MIT
// mapi-count: capture file and filters -> packets and bytes that match each.
#include <errno.h>
#include <getopt.h>
#include <mapi/mapi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum exit_code {
	EXIT_COUNTED = 0,
	EXIT_DAMAGED = 1,     /* the file contradicts itself or could not be read to its end; the counts are of what was read */
	EXIT_USAGE = 2,
	EXIT_REFUSED = 3,     /* no such file, or a filter that does not compile */
	EXIT_INTERRUPTED = 130,
};

struct filter {
	char *expression; /* "" counts everything */
	int flow, packets, bytes;
};

struct options {
	const char *capture;
	const char *batch;
	int separately;
	int strings;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static int fail(const char *what)
{
	int number = 0;
	char text[MAPI_ERROR_TEXT_BYTES] = "";
	mapi_read_error(&number, text);
	fprintf(stderr, "mapi-count: %s: %s (error %d)\n", what, text, number);
	return EXIT_REFUSED;
}

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int add_flow(const char *device, const struct options *options, struct filter *filter)
{
	filter->flow = mapi_create_flow(device);
	if (filter->flow < 0)
		return fail(options->capture);
	if (*filter->expression) {
		const int applied = options->strings
			? mapi_apply_function(filter->flow, "STR_SEARCH", filter->expression, 0, 0)
			: mapi_apply_function(filter->flow, "BPF_FILTER", filter->expression);
		if (applied < 0)
			return fail(filter->expression);
	}
	filter->packets = mapi_apply_function(filter->flow, "PKT_COUNTER");
	filter->bytes = mapi_apply_function(filter->flow, "BYTE_COUNTER");
	if (filter->packets < 0 || filter->bytes < 0 || mapi_connect(filter->flow) < 0)
		return fail(filter->expression);
	return 0;
}

static unsigned long long counter(int flow, int function)
{
	const unsigned long long *value = mapi_read_results(flow, function, MAPI_REF);
	return value ? *value : 0;
}

static int report(const char *device, const struct filter *filters, int count, double seconds)
{
	struct mapi_stat stats;
	int i;

	for (i = 0; i < count; i++)
		printf("%llu\t%llu\t%.6f\t%s\n", counter(filters[i].flow, filters[i].packets),
		       counter(filters[i].flow, filters[i].bytes), seconds, filters[i].expression);
	if (mapi_stats(device, &stats) < 1)
		return fail(device);
	if (stats.drop_link_type > 0)
		fprintf(stderr, "mapi-count: %llu times a filter has no meaning for a packet's link type; counted as no match\n",
			(unsigned long long)stats.drop_link_type);
	if (*stats.message)
		fprintf(stderr, "mapi-count: %s\n", stats.message);
	if (stats.unread_bytes > 0)
		fprintf(stderr, "mapi-count: %llu bytes were not read; the counts are of the %llu packets before\n",
			(unsigned long long)stats.unread_bytes, (unsigned long long)stats.ps_recv);
	return *stats.message || stats.unread_bytes ? EXIT_DAMAGED : EXIT_COUNTED;
}

static int count_on(const char *device, const struct options *options, struct filter *filters, int count)
{
	double begin;
	int code = EXIT_COUNTED;
	int i;

	if (options->batch && mapi_set_device_option(device, "batch", options->batch) < 0)
		return fail("--batch");
	for (i = 0; i < count && !code; i++)
		code = add_flow(device, options, &filters[i]);
	if (code)
		return code;
	begin = now_s();
	if (mapi_start_offline_device(device) < 0)
		return fail(options->capture);
	for (i = 0; i < count; i++)
		while (!interrupted && mapi_wait_flow(filters[i].flow, 200) < 0)
			;
	code = report(device, filters, count, now_s() - begin);
	return interrupted ? EXIT_INTERRUPTED : code;
}

/* Reads the capture once, for all filters together. */
static int count_once(const struct options *options, struct filter *filters, int count)
{
	char *device = mapi_create_offline_device(options->capture, MFF_PCAP);
	int code, i;

	if (!device)
		return fail(options->capture);
	code = count_on(device, options, filters, count);
	for (i = 0; i < count; i++)
		if (filters[i].flow > 0)
			mapi_close_flow(filters[i].flow);
	mapi_delete_offline_device(device);
	return code;
}

/* Keeps a copy of the expression. */
static struct filter *append(struct filter *filters, int *count, const char *expression)
{
	char *copy = strdup(expression);
	struct filter *longer = realloc(filters, sizeof(*filters) * (size_t)(*count + 1));
	if (!longer || !copy) {
		perror("mapi-count");
		exit(EXIT_REFUSED);
	}
	longer[*count] = (struct filter){.expression = copy};
	++*count;
	return longer;
}

static struct filter *append_file(struct filter *filters, int *count, const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char *line = NULL;
	size_t room = 0;

	if (!file) {
		fprintf(stderr, "mapi-count: %s: %s\n", path, strerror(errno));
		exit(EXIT_REFUSED);
	}
	while (getline(&line, &room, file) >= 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (*line == '#')
			continue;
		filters = append(filters, count, line);
	}
	free(line);
	if (file != stdin)
		fclose(file);
	return filters;
}

static void free_filters(struct filter *filters, int count)
{
	while (count-- > 0)
		free(filters[count].expression);
	free(filters);
}

static void usage(FILE *out)
{
	fputs("usage: mapi-count [options] CAPTURE [EXPRESSION...]\n"
	      "\n"
	      "Counts the packets of a pcap or pcapng file that match each filter expression; all of them without one.\n"
	      "Prints a line for each: packets, wire bytes, seconds, expression, with tabs between.\n"
	      "\n"
	      "  -f, --file FILE      one expression a line; '#' begins a comment; '-' is standard input\n"
	      "  -e, --each           read the capture once for each expression, not once for all\n"
	      "  -s, --string         expressions are strings to search (STR_SEARCH), not filters\n"
	      "  -b, --batch N        packets a unit of work, 1 to 64\n"
	      "  -p, --per-packet     the same as --batch 1\n"
	      "  -h, --help           this text\n"
	      "  -V, --version        the version\n"
	      "\n"
	      "examples:\n"
	      "  mapi-count trace.pcap 'tcp port 80' 'udp port 53'\n"
	      "  mapi-count --each --file filters.txt trace.pcapng\n"
	      "  mapi-count --string trace.pcap 'GET /' '|16 03 01|'\n"
	      "\n"
	      "exit status: 0 counted; 1 the capture is damaged or holds records of impossible length, the message says what was\n"
	      "counted; 2 wrong usage; 3 the capture or an expression was refused; 130 interrupted\n",
	      out);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"file", required_argument, NULL, 'f'}, {"each", no_argument, NULL, 'e'},
		{"string", no_argument, NULL, 's'},     {"batch", required_argument, NULL, 'b'},
		{"per-packet", no_argument, NULL, 'p'}, {"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},    {NULL, 0, NULL, 0},
	};
	struct options options = {0};
	struct filter *filters = NULL;
	int count = 0, code = EXIT_COUNTED, letter, i;

	while ((letter = getopt_long(argc, argv, "f:esb:phV", longs, NULL)) >= 0) {
		switch (letter) {
		case 'f': filters = append_file(filters, &count, optarg); break;
		case 'e': options.separately = 1; break;
		case 's': options.strings = 1; break;
		case 'b': options.batch = optarg; break;
		case 'p': options.batch = "1"; break;
		case 'h': usage(stdout); return EXIT_COUNTED;
		case 'V': puts("mapi-count " NETSLICE_VERSION); return EXIT_COUNTED;
		default: usage(stderr); return EXIT_USAGE;
		}
	}
	if (optind >= argc) {
		usage(stderr);
		return EXIT_USAGE;
	}
	options.capture = argv[optind++];
	for (; optind < argc; optind++)
		filters = append(filters, &count, argv[optind]);
	if (count == 0)
		filters = append(filters, &count, "");
	signal(SIGINT, on_interrupt);
	if (!options.separately)
		code = count_once(&options, filters, count);
	for (i = 0; i < count && options.separately; i++) {
		const int one = count_once(&options, &filters[i], 1);
		if (one > code)
			code = one;
		if (interrupted)
			break;
	}
	free_filters(filters, count);
	return code;
}
