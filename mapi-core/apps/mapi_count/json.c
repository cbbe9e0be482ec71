/* SPDX-License-Identifier: MIT */
/* json: counts -> JSON (RFC 8259). */
#include "json.h"

#include <stdio.h>

/* Length of a well-formed UTF-8 sequence, or 0. */
static int utf8_bytes(const unsigned char *at)
{
    const int more = *at < 0x80                  ? 0
                     : *at >= 0xc2 && *at < 0xe0 ? 1
                     : (*at & 0xf0) == 0xe0      ? 2
                     : *at >= 0xf0 && *at < 0xf5 ? 3
                                                 : -1;
    int i;

    for (i = 1; i <= more; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    /* Not overlong, not a UTF-16 surrogate, not beyond Unicode. */
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
        (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
        return 0;
    return more + 1;
}

static void print_string(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    putchar('"');
    while (*at) {
        const int bytes = utf8_bytes(at);
        if (bytes == 0)
            fputs("\\ufffd", stdout);
        else if (*at < 0x20 || *at == 0x7f)
            printf("\\u%04x", *at);
        else if (*at == '"' || *at == '\\')
            printf("\\%c", *at);
        else
            fwrite(at, 1, (size_t)bytes, stdout);
        at += bytes ? bytes : 1;
    }
    putchar('"');
}

static void print_sources(const struct options *options)
{
    int i;

    if (options->device) {
        fputs("\"device\":", stdout);
        print_string(options->device);
        return;
    }
    fputs("\"captures\":[", stdout);
    for (i = 0; i < options->captures.count; i++) {
        fputs(i ? "," : "", stdout);
        print_string(options->captures.list[i].path);
    }
    putchar(']');
}

static void print_statistics(const struct mapi_stat *stats)
{
    printf("\"statistics\":{\"packets\":%llu,\"bytes\":%llu,\"kernel_drops\":%llu,\"interface_"
           "drops\":%llu,\"bad_records\":%llu,"
           "\"truncated_records\":%llu,\"unread_bytes\":%llu,\"link_type\":%llu,\"message\":",
           (unsigned long long)stats->ps_recv, (unsigned long long)stats->bytes_recv,
           (unsigned long long)stats->drop_kernel, (unsigned long long)stats->ps_ifdrop,
           (unsigned long long)stats->drop_bad_record, (unsigned long long)stats->drop_truncated,
           (unsigned long long)stats->unread_bytes, (unsigned long long)stats->drop_link_type);
    print_string(stats->message);
    putchar('}');
}

void print_json(const struct options *options, const struct filter *filters, int count,
                const struct mapi_stat *stats, int code)
{
    int i;

    fputs("{\"schema\":\"netslice-mapi-count-1\",", stdout);
    print_sources(options);
    fputs(",\"counts\":[", stdout);
    for (i = 0; i < count; i++) {
        printf("%s{\"expression\":", i ? "," : "");
        print_string(filters[i].expression);
        printf(",\"packets\":%llu,\"bytes\":%llu,\"seconds\":%.6f}", filters[i].found_packets,
               filters[i].found_bytes, filters[i].seconds);
    }
    fputs("],", stdout);
    print_statistics(stats);
    printf(",\"is_complete\":%s}\n", code == EXIT_COUNTED ? "true" : "false");
}
