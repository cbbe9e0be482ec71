#!/bin/sh
# SPDX-License-Identifier: MIT
# mapi-count counts what tcpdump counts, and its exit codes are those of its manual.
set -eu
count=$NETSLICE_BIN/mapi-count
demo=$NETSLICE_SOURCE/mapi-core/apps/demo/demo.pcap
command -v tcpdump > /dev/null || exit 77
[ -f "$demo" ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

expect() { # CODE COMMAND...
    want=$1; shift
    code=0
    "$@" > "$folder/out" 2> "$folder/err" || code=$?
    [ $code -eq "$want" ] || { echo "exit $code, not $want: $*"; cat "$folder/err"; exit 1; }
}

printf '%s\n' '# filters' tcp udp 'src port 2005' 'ip[2:2] > 576' > "$folder/filters"
for mode in '' --each --per-packet '--batch 7'; do
    # shellcheck disable=SC2086 # none, one or two words
    expect 0 "$count" $mode -F "$folder/filters" -r "$demo"
    [ "$(wc -l < "$folder/out")" -eq 4 ]
    cp "$folder/out" "$folder/counts"
    while IFS='	' read -r packets _ _ expression; do
        want=$(tcpdump -r "$demo" --count "$expression" 2> /dev/null | cut -d' ' -f1)
        [ "$packets" = "$want" ] || { echo "$expression: $packets, tcpdump says $want"; exit 1; }
    done < "$folder/counts"
done

# A file of expressions that has none is an error, not a request to count everything.
grep_err() { grep -q -- "$1" "$folder/err" || { echo "no \"$1\" in:"; cat "$folder/err"; exit 1; }; }
expect 2 "$count" -F "$folder" -r "$demo"
grep_err "$folder: Is a directory"
: > "$folder/empty"
expect 2 "$count" -F "$folder/empty" -r "$demo"
grep_err "$folder/empty: contains no expression"
expect 2 "$count" -F - -r "$demo" < /dev/null
grep_err '^mapi-count: standard input: contains no expression'
expect 3 "$count" -r - < /dev/null
grep_err '^mapi-count: standard input: is empty (error 1026)$'
: | expect 3 "$count" -r "$demo" -r -
grep_err '^mapi-count: standard input: is not a regular file, .* (save it to a file first) (error 1026)$'
echo '# none' > "$folder/comment"
expect 2 "$count" -F "$folder/comment" -r "$demo"
expect 2 "$count" -F "$folder/absent" -r "$demo"
grep_err "$folder/absent: No such file"
printf 'tcp\0udp\n' > "$folder/zero"
expect 2 "$count" -F "$folder/zero" -r "$demo"
grep_err "$folder/zero: line 1 "
expect 2 "$count" --batch 513 -r "$demo"
grep_err '^mapi-count: --batch: 513 is out of range (1 to 512)$'
for words in '-c 0' '-c 9223372036854775808' '-c 99999999999999999999'; do
    # shellcheck disable=SC2086 # words
    expect 2 "$count" $words -r "$demo"
    grep_err "^mapi-count: --count: ${words#-c } is out of range (1 to 9223372036854775807)\$"
done
for words in x 1x -1 ' 1' ''; do
    expect 2 "$count" -c "$words" -r "$demo"
    grep_err "^mapi-count: --count: \"$words\" is not a whole number (see mapi-count --help)\$"
done
expect 2 "$count" ''
grep_err '^mapi-count: a source is required: -r FILE or -i IFACE (see mapi-count --help)$'
expect 2 "$count" -r ''
grep_err '^mapi-count: --read: is empty (give a value or omit the option)$'

# A message names the file once.
expect 3 "$count" -r "$folder/absent"
grep_err "^mapi-count: $folder/absent: No such file or directory (check the name) (error 6155)\$"
mkdir "$folder/texts"
echo text > "$folder/texts/a.txt"
expect 3 "$count" -r "$folder/texts"
grep_err "^mapi-count: .*$folder/texts/a.txt: is neither pcap nor pcapng; it begins with .*--erf.*(error 1026)\$"
expect 3 "$count" -r "$demo" 'no such filter'
grep_err '^mapi-count: BPF_FILTER: filter "no such filter": .* (see pcap-filter(7)) (error 1025)$'

name=$(printf '%0200d' 0)
mkdir -p "$folder/$name/$name/$name"
expect 3 "$count" -r "$folder/$name/$name/$name/absent"
grep_err "^mapi-count: $folder/0.*absent: No such file or directory (check the name) (error 6155)\$"

# Output that cannot be printed is an error.
# shellcheck disable=SC2016,SC2086 # the inner shell expands; words
for words in "-r $demo tcp" --help --version; do
    expect 3 sh -c '"$0" "$@" > /dev/full' "$count" $words
    grep -q 'standard output: cannot write: No space left on device (free some space' "$folder/err"
    expect 3 sh -c '"$0" "$@" >&-' "$count" $words
    grep -q 'standard output: cannot write: ' "$folder/err"
done

expect 0 "$count" --help
expect 0 "$count" --version
expect 2 "$count"
expect 2 "$count" --no-such-option
grep_err '^mapi-count: unknown option "--no-such-option" (see mapi-count --help)$'
expect 2 "$count" -r "$demo" -x
grep_err '^mapi-count: unknown option "-x" '
expect 2 "$count" -r
grep_err '^mapi-count: -r requires a value '
expect 2 "$count" --batch
grep_err '^mapi-count: --batch requires a value '
for words in '-i lo' '-d 1' --wait; do
    # shellcheck disable=SC2086 # words
    expect 2 "$count" -r "$demo" $words
    grep_err '^mapi-count: -.*-i'
done
expect 2 "$count" -i lo --erf
grep_err '^mapi-count: --erf cannot be combined with -i '
expect 2 "$count" -i lo -d never
grep_err '^mapi-count: --duration: "never" is not a positive number of seconds '

# Options that nothing would use, or that contradict each other.
unused() { # MESSAGE OPTIONS...
    message=$1; shift
    expect 2 "$count" "$@" -r "$demo"
    grep_err "^mapi-count: $message (see mapi-count --help)\$"
}
unused '--batch cannot be combined with --per-packet' --batch 7 --per-packet
unused '--json cannot be combined with --format text' --format text --json
unused '--string requires a string to search for' --string
unused '--each requires expressions' --each
unused '--count is given more than once' -c 1 --count 2
unused '--output is given more than once' -o one -o two

# The output may be a file, which must not be the capture.
expect 0 "$count" -r "$demo" -o "$folder/out.txt" tcp
[ ! -s "$folder/out" ] && [ "$(cut -f4 "$folder/out.txt")" = tcp ]
expect 0 "$count" -r "$demo" --json -o "$folder/out.json" tcp
grep -q '^{"schema":"netslice-mapi-count-1",' "$folder/out.json"
cp "$demo" "$folder/own.pcap"
expect 2 "$count" -r "$folder/own.pcap" -o "$folder/own.pcap"
grep_err 'own.pcap: the output is the same file as the input (choose another name)$'
cmp "$demo" "$folder/own.pcap"
expect 3 "$count" -r "$folder/absent"
expect 3 "$count" -r "$demo" 'no such filter'
grep -q 'no such filter' "$folder/err"
head -c 2000 "$demo" > "$folder/cut.pcap"
expect 1 "$count" -r "$folder/cut.pcap"
grep -q "$folder/cut.pcap: offset" "$folder/err"

# The demo capture with a snap length of 4: counted and reported, but not a success.
{ head -c 16 "$demo"; printf '\004\000\000\000'; tail -c +21 "$demo"; } > "$folder/snaplen.pcap"
expect 1 "$count" -r "$folder/snaplen.pcap"
grep -q 'snaplen.pcap: 4827 records hold more bytes than the snaplen allows (the first at offset 24)' "$folder/err"
[ "$(cut -f1 "$folder/out")" -eq 4827 ]

# Ctrl-C while a pipe is silent: the counts so far. A pipe without a writer ends immediately.
mkfifo "$folder/pipe"
{ cat "$demo"; exec sleep 60; } > "$folder/pipe" &
writer=$!
timeout --signal=INT --kill-after=10 2 "$count" -r "$folder/pipe" > "$folder/out" 2> "$folder/err" && code=0 || code=$?
kill $writer
[ "$(cut -f1 "$folder/out")" = 4827 ] || { echo "interrupted, exit $code:"; cat "$folder/out" "$folder/err"; exit 1; }
grep_err 'interrupted; the counts cover the first 4827 packets'
code=0
timeout --preserve-status --signal=INT --kill-after=10 1 "$count" -r "$folder/pipe" 2> "$folder/err" || code=$?
[ $code -eq 130 ] || { echo "a pipe without a writer: exit $code"; exit 1; }
