/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * Rules for which slices and marks are recorded: text -> whether it selects a name.  The one
 * definition of their meaning, for programs, kernel and readers of traces.
 */
#ifndef NSLICE_RULES_H
#define NSLICE_RULES_H

#include <linux/types.h>

/*
 * Rules are patterns separated by commas, as in "filter*,!publish".  A pattern with "!" excludes
 * the names that it matches.  If there are patterns without "!", a name must match one of them.
 * Empty text selects all names.
 *
 * Patterns are those of the shell: "*" any text, "?" any byte, "[a-c]" and "[!a-c]" one byte of a
 * set or not of it, "\" the next byte itself.  There are no named classes such as [:digit:].
 *
 * In the kernel a pattern "kernel:NAME" means NAME, because outputs show names of the kernel so.
 */
#define NSLICE_RULES_TEXT 1024 /* bytes, with terminator */
#define NSLICE_RULES_KERNEL "kernel:"

enum nslice_rules_fault {
	NSLICE_RULES_VALID = 0,
	NSLICE_RULES_TOO_LONG = 1,
	NSLICE_RULES_EMPTY_PATTERN = 2,
	NSLICE_RULES_LAST_COMMA = 3,
	NSLICE_RULES_CONTROL_CHARACTER = 4,
	NSLICE_RULES_NAMED_CLASS = 5,
};

struct nslice_rule {
	const char *pattern; /* without "!" */
	const char *end;     /* of the pattern */
	const char *rest;    /* of the rules */
	int is_excluding;
};

/* First rule of terminated text.  0: none. */
static inline int nslice_rules_next(const char *rules, struct nslice_rule *rule)
{
	if (!*rules)
		return 0;
	rule->is_excluding = *rules == '!';
	rule->pattern = rules + rule->is_excluding;
	rule->end = rule->pattern;
	while (*rule->end && *rule->end != ',')
		++rule->end;
	rule->rest = rule->end + (*rule->end == ',');
	return 1;
}

/* One element of a set: a byte, or a range.  Moves *at behind it, to the end if it is incomplete. */
static inline int nslice_set_has(const char **at, const char *end, unsigned char byte)
{
	unsigned char low, high;

	*at += **at == '\\';
	if (*at >= end)
		return 0;
	low = (unsigned char)*(*at)++;
	high = low;
	if (end - *at > 1 && (*at)[0] == '-' && (*at)[1] != ']') {
		*at += (*at)[1] == '\\' ? 2 : 1;
		if (*at >= end)
			return 0;
		high = (unsigned char)*(*at)++;
	}
	return low <= byte && byte <= high;
}

/* Bytes of the set at `pattern` if it matches, else 0.  Without its "]" it is only a "[". */
static inline __u32 nslice_set_matches(const char *pattern, const char *end, char byte)
{
	const char *at = pattern + 1, *first;
	int is_excluding, is_found = 0;

	is_excluding = at < end && (*at == '!' || *at == '^');
	at += is_excluding;
	first = at;
	while (at < end && (*at != ']' || at == first))
		is_found |= nslice_set_has(&at, end, (unsigned char)byte);
	if (at >= end)
		return byte == '[';
	return is_found != is_excluding ? (__u32)(at + 1 - pattern) : 0;
}

/* Bytes of the element at `pattern`, which is not a "*", if it matches this byte, else 0. */
static inline __u32 nslice_element_matches(const char *pattern, const char *end, char byte)
{
	switch (*pattern) {
	case '?':
		return 1;
	case '[':
		return nslice_set_matches(pattern, end, byte);
	case '\\':
		return end - pattern > 1 && pattern[1] == byte ? 2 : 0;
	default:
		return *pattern == byte;
	}
}

/* Takes at most bytes of the pattern times bytes of the name steps: only the last "*" is retried. */
static inline int nslice_pattern_matches(const char *pattern, const char *end, const char *name)
{
	const char *behind_star = end, *retry = name;
	int has_star = 0;

	for (;;) {
		const __u32 bytes = *name && pattern < end && *pattern != '*' ?
					    nslice_element_matches(pattern, end, *name) : 0;

		if (pattern < end && *pattern == '*') {
			has_star = 1;
			behind_star = ++pattern;
			retry = name;
		} else if (bytes > 0) {
			pattern += bytes;
			++name;
		} else if (!*name) {
			return pattern == end;
		} else if (has_star) {
			pattern = behind_star;
			name = ++retry;
		} else {
			return 0;
		}
	}
}

/* Whether a rule is about this name.  is_kernel: it is a name of the kernel, without prefix. */
static inline int nslice_rule_matches(const struct nslice_rule *rule, const char *name, int is_kernel)
{
	static const char prefix[] = NSLICE_RULES_KERNEL;
	const char *pattern = rule->pattern;
	__u32 i = 0;

	while (prefix[i] && pattern + i < rule->end && pattern[i] == prefix[i])
		++i;
	if (is_kernel && !prefix[i])
		pattern += i;
	return nslice_pattern_matches(pattern, rule->end, name);
}

/* Whether valid rules select this name. */
static inline int nslice_rules_select(const char *rules, const char *name, int is_kernel)
{
	int is_limited = 0, is_selected = 0;
	struct nslice_rule rule;

	for (; nslice_rules_next(rules, &rule); rules = rule.rest) {
		const int is_match = nslice_rule_matches(&rule, name, is_kernel);

		if (rule.is_excluding && is_match)
			return 0;
		is_limited |= !rule.is_excluding;
		is_selected |= is_match && !rule.is_excluding;
	}
	return is_selected || !is_limited;
}

/*
 * `bytes` bytes of text, and a terminator.  Control characters, which include a terminator inside,
 * would end the line that a trace has about the rules.
 */
static inline enum nslice_rules_fault nslice_rules_check(const char *rules, __u64 bytes)
{
	struct nslice_rule rule;
	__u64 i;

	if (bytes >= NSLICE_RULES_TEXT)
		return NSLICE_RULES_TOO_LONG;
	for (i = 0; i < bytes; ++i) {
		if ((unsigned char)rules[i] < ' ' || rules[i] == 0x7f)
			return NSLICE_RULES_CONTROL_CHARACTER;
		if (rules[i] == '[' && (rules[i + 1] == ':' || rules[i + 1] == '.' || rules[i + 1] == '='))
			return NSLICE_RULES_NAMED_CLASS;
	}
	if (bytes > 0 && rules[bytes - 1] == ',')
		return NSLICE_RULES_LAST_COMMA;
	for (; nslice_rules_next(rules, &rule); rules = rule.rest)
		if (rule.pattern == rule.end)
			return NSLICE_RULES_EMPTY_PATTERN;
	return NSLICE_RULES_VALID;
}

#endif /* NSLICE_RULES_H */
