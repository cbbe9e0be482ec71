# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# progress: the growing log of ninja or ctest -> "step n of m, what runs now, time left"; sourced by `run`.

# last_step LOG: "n m name", or nothing before the first step.
last_step()
{
    tail -c 8192 "$1" 2>/dev/null | tr '\r' '\n' | sed -nE \
        -e 's/^\[([0-9]+)\/([0-9]+)\] [A-Z][a-z]+ .*[ /]([^ /]+)$/s \1 \2 \3/p' \
        -e 's/^ *([0-9]+)\/([0-9]+) Test +#.*/s \1 \2/p' \
        -e 's/^ *Start +[0-9]+: (.*)$/t \1/p' |
        awk '$1 == "s" { n = $2; m = $3; if (NF > 3) name = $4 } $1 == "t" { name = $2 } END { if (m && n) print n, m, name }'
}

# time_left SECONDS N M: of a job that took SECONDS for N of its M steps.
time_left()
{
    seconds=$(($1 * ($3 - $2) / $2))
    if [ "$seconds" -ge 90 ]; then
        printf '%d min left' $(((seconds + 30) / 60))
    else
        printf '%d s left' "$seconds"
    fi
}

# follow TITLE LOG PID: until the process ends.  A terminal has one line that changes; anything else gets a line a minute.
follow()
{
    follow_started=$(date +%s) follow_printed=0
    while kill -0 "$3" 2>/dev/null; do
        sleep 1
        follow_elapsed=$(($(date +%s) - follow_started))
        [ -t 1 ] || [ $((follow_elapsed - follow_printed)) -ge 60 ] || continue
        # shellcheck disable=SC2046 # words
        set -- "$1" "$2" "$3" $(last_step "$2")
        if [ $# -ge 5 ]; then
            follow_line="$1: step $4 of $5, $(time_left "$follow_elapsed" "$4" "$5")${6:+, ${6}}"
            follow_printed=$follow_elapsed
            if [ -t 1 ]; then
                printf '\r\033[K%.*s' "${COLUMNS:-80}" "$follow_line"
            else
                printf '%s\n' "$follow_line"
            fi
        fi
        set -- "$1" "$2" "$3"
    done
    [ ! -t 1 ] || printf '\r\033[K'
}

# slowest LOG: the ten tests of ctest's log that took longest.
slowest()
{
    sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec.*/\2 \1/p' "$1" | sort -rn | head -n 10 |
        awk '{ printf("%s%s %.0f s", (NR > 1) ? ", " : "slowest: ", $2, $1) } END { if (NR) print "" }'
}
