/* SPDX-License-Identifier: MIT */
/* filters: command line and files -> a list of expressions. */
#include "filters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file_error/file_error.h"
#include "count.h"

struct filter *append(struct filter *filters, int *count, const char *expression)
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

/* Ends the program: a file without expressions must not count everything. */
static void refuse(const char *path, const char *why)
{
    fprintf(stderr, "mapi-count: %s: %s\n", strcmp(path, "-") ? path : "standard input", why);
    exit(EXIT_USAGE);
}

/* Removes the end of the line, which may be "\r\n". */
static void trim(const char *path, char *line, size_t bytes, unsigned number)
{
    char why[64];

    snprintf(why, sizeof(why), "line %u contains a NUL byte; not a text file", number);
    if (strlen(line) != bytes)
        refuse(path, why);
    while (bytes > 0 && strchr("\r\n", line[bytes - 1]))
        line[--bytes] = '\0';
}

struct filter *append_file(struct filter *filters, int *count, const char *path)
{
    FILE *file = strcmp(path, "-") ? fopen(path, "r") : stdin;
    const int before = *count;
    char *line = NULL;
    size_t room = 0;
    ssize_t bytes;
    unsigned number = 0;

    if (!file)
        refuse(path, nslice_read_error(errno));
    while ((bytes = getline(&line, &room, file)) >= 0) {
        trim(path, line, (size_t)bytes, ++number);
        if (*line != '#')
            filters = append(filters, count, line);
    }
    if (ferror(file))
        refuse(path, nslice_read_error(errno));
    if (*count == before)
        refuse(path, "contains no expression (one per line; an empty line counts everything)");
    free(line);
    if (file != stdin)
        fclose(file);
    return filters;
}

void free_filters(struct filter *filters, int count)
{
    while (count-- > 0)
        free(filters[count].expression);
    free(filters);
}
