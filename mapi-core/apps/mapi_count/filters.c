/* SPDX-License-Identifier: MIT */
/* filters: command line and files -> a list of expressions. */
#include "filters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

struct filter *append_file(struct filter *filters, int *count, const char *path)
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

void free_filters(struct filter *filters, int count)
{
	while (count-- > 0)
		free(filters[count].expression);
	free(filters);
}
