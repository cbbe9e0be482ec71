#!/bin/sh
# SPDX-License-Identifier: MIT
# mapi-cost measures the demo capture; its JSON is consistent, bad input is refused with a message,
# and nothing is left behind.
set -eu
cost=$NETSLICE_BIN/mapi-cost
demo=$NETSLICE_SOURCE/mapi-core/apps/demo/demo.pcap
command -v python3 > /dev/null || exit 77
[ -f "$demo" ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
TMPDIR=$folder/tmp
export TMPDIR
mkdir "$TMPDIR"

expect() { # CODE COMMAND...
    want=$1; shift
    code=0
    "$@" > "$folder/out" 2> "$folder/err" || code=$?
    [ $code -eq "$want" ] || { echo "exit $code, not $want: $*"; cat "$folder/err"; tail -n 40 "$folder/out"; exit 1; }
    [ -z "$(ls "$TMPDIR")" ] || { echo "left behind: $(ls "$TMPDIR")"; exit 1; }
}
reports() { grep -q -- "$1" "$folder/err" || { echo "no \"$1\" in:"; cat "$folder/err"; exit 1; }; }

check='
import json, sys
document = json.load(open(sys.argv[1]))
assert document["schema"] == "netslice-mapi-cost-1"
assert document["unit"] == sys.argv[2], document["unit"]
assert document["losses"]["equation_holds"]
assert document["losses"]["issued"] == document["losses"]["drained"] + sum(document["losses"]["lost"].values())
assert [row["id"] for row in document["rows"]] == sys.argv[3:], document["rows"]
for row in document["rows"]:
    for kind in ("instructions", "cycles"):
        if row[kind] is None:
            assert kind == "instructions" and document["sources"]["no_instructions_why"], row
            continue
        assert row[kind]["packets"] > 0 and row[kind]["ci95"] >= 0, row
        assert row["table"] == 4 or 0 < row[kind]["net"] <= row[kind]["raw"], row
        parts = [part[kind] for part in row["parts"] if part["in_cost"]]
        assert not parts or abs(sum(parts) - row[kind]["net"]) < 1e-6 * max(1, row[kind]["net"]), row
    assert row["cycles"]["ci95"] > 0, row
    if row["table"] == 4 and row["instructions"]:
        # Where a unit was interrupted, different packets are compared, and the interval shows it.
        assert row["instructions"]["net"] < 1, row
'
expect 0 "$cost" --details -c 20000 --step-units 2 --scenario none --scenario filter --scenario filter+buffer --scenario search-64 \
    --scenario results --scenario next-packet --scenario more-counter --scenario more-filter-same --scenario more-search-same \
    -w "$folder/cost.json" --write-csv "$folder/cost.csv" -r "$demo"
python3 -c "$check" "$folder/cost.json" batch none filter filter+buffer search-64 results next-packet more-counter \
    more-filter-same more-search-same
[ "$(grep -c '^[234],' "$folder/cost.csv")" -eq 9 ]
grep -q '^model,filter,"BPF_FILTER",' "$folder/cost.csv"
grep -q 'BPF_FILTER + TO_BUFFER' "$folder/out"
grep -q 'not core cycles' "$folder/out"
grep -q 'Additive model: a packet costs the sum of these' "$folder/out"
grep -q '^TSC cycles: ' "$folder/out"
additive='
import json, math, sys
document = json.load(open(sys.argv[1]))
net = {row["id"]: row["cycles"]["net"] for row in document["rows"]}
model = document["additive"]["cycles"]
ids = [row["id"] for row in model["scenarios"]]
assert ids[:-2] == [i for i in net if i not in ("results", "next-packet")], model
assert ids[-2:] == ["filter+buffer/0", "filter+buffer/1"], model # each function on the packets that pass
costs = {term["id"]: term["cost"] for term in model["terms"]}
assert costs["base"] and costs["filter"] and costs["known-flow"] and costs["buffer-passing"] and not costs["search-byte"], costs
assert all(cost["value"] > -cost["ci95"] for cost in costs.values() if cost), costs
probe = document["probe"]
assert probe["inside_factors"] and all(factor["ci95"] > 0 and factor["flows"] in (1, 9) and factor["slice"] == "dispatch" for factor in probe["inside_factors"]), probe
assert "filter" in [factor["load"] for factor in probe["inside_factors"]], probe
# filter, filter+buffer, search-64, counter, search-1500, three with further flows, two companions
assert probe["program"] and abs(probe["program"]["cost"]) < 1 and probe["program"]["loads"] <= 10, probe
for row in model["scenarios"]:
    assert row["net"] == net.get(row["id"], row["net"]) and row["error"] >= max(0.05, 0.01 * abs(row["net"])) - 1e-9, row
    assert set(row) == {"id", "terms", "net", "error", "model", "residual", "residual_ci95", "verdict", "cause", "in_fit"}, row
    assert row["cause"] is None or row["verdict"] == "missed", row
    assert (row["verdict"] == "missed") == (row["model"] is not None and abs(row["residual"]) > row["residual_ci95"]), row
    if row["model"]:
        assert math.isclose(row["net"] - row["model"]["value"], row["residual"], abs_tol=1e-9), row
assert set(model) == {"terms", "scenarios", "not_in_model", "spare", "holds"}, model
paper = {term["id"]: term["cost"]["value"] for term in document["additive"]["paper"]["scampi_instructions"]}
assert round(paper["filter"]) == 280 and round(paper["flow"]) == 21, paper
'
python3 -c "$additive" "$folder/cost.json"

expect 0 "$cost" --per-packet -c 5000 --step-units 2 --scenario counter --json -r "$demo"
python3 -c "$check" "$folder/out" packet counter
expect 0 "$cost" -c 200 --no-instructions --no-thinning --scenario counter --json -r "$demo"
python3 -c '
import json, sys
document = json.load(open(sys.argv[1]))
assert document["probe"]["program"] is None and document["probe"]["inside_factors"] == [], document["probe"]
' "$folder/out"
expect 0 "$cost" --list
cp "$folder/out" "$folder/list"
expect 0 "$cost" --list --json
python3 -c '
import json, sys
document = json.load(open(sys.argv[1]))
assert document["schema"] == "netslice-mapi-cost-list-1"
listed = [line.split()[0] for line in open(sys.argv[2])]
assert [scenario["id"] for scenario in document["scenarios"]] == listed, document
assert all(set(scenario) == {"table", "scenario", "id", "packet_bytes"} for scenario in document["scenarios"])
' "$folder/out" "$folder/list"
expect 0 "$cost" --list --format csv -o "$folder/list.csv"
python3 -c '
import csv, sys
listed = [line.split()[0] for line in open(sys.argv[2])]
assert [row["id"] for row in csv.DictReader(open(sys.argv[1]))] == listed
' "$folder/list.csv" "$folder/list"
expect 0 "$cost" --help
expect 0 "$cost" --version

# Output that cannot be printed is an error.
# shellcheck disable=SC2016,SC2086 # the inner shell expands; words
for words in --list --help --version "-c 200 --no-instructions --no-thinning --scenario counter -r $demo"; do
    expect 3 sh -c '"$0" "$@" > /dev/full' "$cost" $words
    reports 'standard output: cannot write: No space left on device'
    expect 3 sh -c '"$0" "$@" >&-' "$cost" $words
    reports 'standard output: cannot write'
done

# So is a pipe whose reader ends early; a file still gets its results.
for format in json csv; do
    rm -f "$folder/other"
    [ $format = json ] && other=--write-csv || other=--write
    { code=0; "$cost" -c 200 --no-instructions --no-thinning --scenario counter --format "$format" "$other" "$folder/other" -r "$demo" 2> "$folder/err" || code=$?
      echo $code > "$folder/code"; } | true
    [ "$(cat "$folder/code")" -eq 3 ] || { echo "closed pipe: exit $(cat "$folder/code")"; exit 1; }
    reports 'standard output: cannot write: Broken pipe'
    grep -q counter "$folder/other"
done

# shellcheck disable=SC2016 # the inner shell expands
expect 3 sh -c '"$0" "$@" 2>&-' "$cost" -r "$folder/absent.pcap"

expect 2 "$cost"
reports '^mapi-cost: a source is required: -r FILE or -i IFACE (see mapi-cost --help)$'
expect 2 "$cost" "$demo"
reports '^mapi-cost: unexpected argument ".*demo.pcap" (see mapi-cost --help)$'
expect 2 "$cost" --json --format csv -r "$demo"
reports '^mapi-cost: --json cannot be combined with --format csv '
# Options that nothing would use.
unused() { # MESSAGE OPTIONS...
    message=$1; shift
    expect 2 "$cost" "$@"
    reports "^mapi-cost: $message (see mapi-cost --help)\$"
}
unused '--list cannot be combined with -r' --list -r "$demo"
unused '--list cannot be combined with --filter' --list --filter tcp
unused '--source cannot be combined with --no-instructions' --source step --no-instructions -r "$demo"
unused '--step-units cannot be combined with --no-instructions' --step-units 4 --no-instructions -r "$demo"
unused '--step-units cannot be combined with --source rdpmc' --step-units 4 --source rdpmc -r "$demo"
unused '--string requires --scenario five or table2' --string GET --scenario counter -r "$demo"
unused '--string with -i requires --record' --string GET -i lo
unused '-r cannot be combined with -i' -i lo -r "$demo"
unused '--erf cannot be combined with -i' -i lo --erf
unused '-d requires -i' -d 1 -r "$demo"
unused '--details requires --format text: JSON and CSV have everything' --details --json -r "$demo"
unused '--record requires -i' --record -r "$demo"
expect 2 "$cost" -w - -r "$demo"
reports '^mapi-cost: --write: cannot be standard output, to which --format already prints (use --format json, or specify a file)$'
expect 2 "$cost" --write-csv - -r "$demo"
reports '^mapi-cost: --write-csv: cannot be standard output, .*(use --format csv, or specify a file)$'
expect 2 "$cost" -i ''
reports '^mapi-cost: --interface: is empty (give a value or omit the option)$'
expect 3 "$cost" -i nodev
reports '^mapi-cost: no device or network interface "nodev"'
expect 0 "$cost" -c 200 --no-instructions --no-thinning --scenario counter -q --format csv -o "$folder/o.csv" -r "$demo"
[ ! -s "$folder/out" ] && [ ! -s "$folder/err" ] && grep -q '^2,counter' "$folder/o.csv"
expect 2 "$cost" --scenario no-such -r "$demo"
expect 2 "$cost" --source magic -r "$demo"
expect 3 "$cost" -r "$folder/absent.pcap"
reports absent.pcap
printf 'not a capture, but long enough to be read' > "$folder/text"
expect 3 "$cost" -r "$folder/text"
reports "$folder/text"
expect 3 "$cost" --filter 'no such filter' -r "$demo"
reports 'no such filter'
mkfifo "$folder/pipe"
expect 3 "$cost" -r "$folder/pipe"
reports 'regular file'
head -c 300000 "$demo" > "$folder/cut.pcap"
expect 1 "$cost" -c 2000 --no-instructions --no-thinning --scenario counter -w "$folder/cut.json" -r "$folder/cut.pcap"
reports "$folder/cut.pcap: offset"
python3 -c "$check" "$folder/cut.json" batch counter
{ head -c 16 "$demo"; printf '\140\000\000\000'; tail -c +21 "$demo"; } > "$folder/snaplen.pcap"
expect 1 "$cost" -c 2000 --no-instructions --no-thinning --scenario counter -r "$folder/snaplen.pcap"
reports 'more bytes than the snaplen'
expect 3 env TMPDIR="$folder/absent" "$cost" -r "$demo"
reports 'TMPDIR'
expect 3 "$cost" -c 200 --no-instructions --no-thinning --scenario counter -w "$folder/absent/cost.json" -r "$demo"
reports 'absent/cost.json: cannot write: No such file or directory (create its folder first'

# A row that no packet reached gives the reason.
expect 1 "$cost" -c 2000 --no-instructions --no-thinning --filter 'udp port 1' --scenario next-packet --scenario filter+next-packet \
    -w "$folder/missing.json" -r "$demo"
grep -q 'rows with functions after BPF_FILTER use packets that it rejects' "$folder/out"
grep -q '(filter+next-packet): no cycles: the filter "udp port 1" passes no packet of' "$folder/out"
python3 -c 'import json, sys; rows = json.load(open(sys.argv[1]))["rows"]; assert [bool(row["missing"]) for row in rows] == [False, True], rows' \
    "$folder/missing.json"

# A single batch has a cost, but no variation can be calculated.
for packets in 1 64; do
    expect 1 "$cost" -c $packets --no-instructions --no-thinning --scenario none --scenario counter -w "$folder/single.json" --write-csv "$folder/single.csv" -r "$demo"
    grep -q ' ± - ' "$folder/out"
    grep -q "(counter): no interval of cycles: --count $packets of .* increase --count" "$folder/out"
    python3 -c '
import csv, json, sys
document = json.load(open(sys.argv[1]))
for row in document["rows"]:
    assert row["cycles"]["net"] is not None and row["cycles"]["ci95"] is None and row["missing"], row
assert document["additive"]["cycles"] is None, document["additive"]
assert [row["tsc_cycles_ci95"] for row in csv.DictReader(open(sys.argv[2]))] == ["", ""]
' "$folder/single.json" "$folder/single.csv"
done
expect 0 "$cost" -c 128 --no-instructions --no-thinning --scenario counter -r "$demo"

# With single-stepping there are always at least two batches, even if they cost the same.
if python3 -c 'import json, sys; source = json.load(open(sys.argv[1]))["sources"]["instructions"]; sys.exit(not (source or "").startswith("step"))' \
    "$folder/cost.json"; then
    expect 0 "$cost" -c 5000 --step-units 2 --scenario counter --scenario search-64 --scenario more-search-same -w "$folder/stepped.json" -r "$demo"
    python3 -c '
import json, sys
rows = {row["id"]: row for row in json.load(open(sys.argv[1]))["rows"]}
assert rows["search-64"]["instructions"]["packets"] >= 128 and rows["search-64"]["instructions"]["ci95"] is not None, rows["search-64"]
' "$folder/stepped.json"
fi

# A device does not have to be an interface.
printf '[driver]\ndevice=tap\npath=%s\nrepeat=forever\n' "$demo" > "$folder/mapi.conf"
expect 0 env MAPI_CONF="$folder/mapi.conf" "$cost" --details -i tap -d 20 -c 100 --no-instructions --scenario filter
grep -q 'each row until 20 s have passed or 100 packets have arrived' "$folder/out"
grep -q 'on a network interface, the kernel applies it to flows that begin with it' "$folder/out"

# Outputs that would destroy the capture or each other are refused before anything is measured.
cp "$demo" "$folder/own.pcap"
for words in '-w own.pcap' '--write-csv ./own.pcap' '-o own.pcap' '-w same --write-csv same' '-w same -o same' "-w ''" "-o ''"; do
    expect 2 sh -c "cd '$folder' && '$cost' $words -r own.pcap"
done
# shellcheck disable=SC2094 # "table" must be refused
(cd "$folder" && ! "$cost" -w table -r own.pcap > table 2> err)
reports 'table: the output is the same file as standard output (choose another name)'
cmp "$demo" "$folder/own.pcap"
# If one output fails, the others are still written.
expect 3 "$cost" -c 200 --no-instructions --no-thinning --scenario counter -w /dev/full --write-csv "$folder/left.csv" -r "$demo"
reports '/dev/full: cannot write: No space left on device (free some space'
[ "$(grep -c '^2,counter' "$folder/left.csv")" -eq 1 ]
grep -q 'COUNTER' "$folder/out"

# A capture that changes during the measurement gives no figures that look complete.
cp "$demo" "$folder/shrinks.pcap"
"$cost" -c 20000000 --no-instructions --scenario counter --scenario filter -r "$folder/shrinks.pcap" > "$folder/out" 2> "$folder/err" &
pid=$!
sleep 1
head -c 1000000 "$demo" > "$folder/shrinks.pcap"
code=0
wait $pid || code=$?
[ $code -eq 3 ] || { echo "capture changed: exit $code"; cat "$folder/err"; exit 1; }
reports 'shrinks.pcap: changed while it was measured'

# Ctrl-C: an orderly end, with the rows that were finished.
"$cost" -c 4000000 --no-instructions -w "$folder/part.json" -r "$demo" > "$folder/out" 2> "$folder/err" &
pid=$!
sleep 4
kill -INT $pid
code=0
wait $pid || code=$?
[ $code -eq 130 ] || { echo "interrupted: exit $code"; exit 1; }
[ -z "$(ls "$TMPDIR")" ] || { echo "interrupted, left behind: $(ls "$TMPDIR")"; exit 1; }

# ... and of rows that were timed but not counted, the cycles.
"$cost" -c 5000 --step-units 100000 --scenario filter -r "$demo" > "$folder/out" 2> "$folder/err" &
pid=$!
cpu_seconds() { awk '{ print int(($14 + $15) / 100) }' "/proc/$1/stat" 2> /dev/null || echo 9; }
while [ "$(cpu_seconds $pid)" -lt 3 ]; do sleep 0.1; done
kill -INT $pid || true
code=0
wait $pid || code=$?
if [ $code -ne 0 ]; then # a PMU counts faster than that
    [ $code -eq 130 ] || { echo "interrupted: exit $code"; cat "$folder/err"; exit 1; }
    grep -q 'no instructions: interrupted' "$folder/out" || { echo "timed, but not printed:"; cat "$folder/out" "$folder/err"; exit 1; }
    grep -q '^BPF_FILTER  *any | ' "$folder/out"
fi
