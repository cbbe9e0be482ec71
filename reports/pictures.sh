#!/bin/bash
# SPDX-License-Identifier: MIT
# Two recordings of mapi-flow -> page.png and flame_graph.png, the pictures of README.md, as headless
# Chromium shows them.
#
# Usage: reports/pictures.sh [FOLDER]
# FOLDER (default: a new one) keeps the recordings; with those of an earlier run, they are not made
# again. NETSLICE_BIN names the folder of the programs. Recording functions requires root.
set -eu
reports=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${NETSLICE_BIN:-$reports/../build/release/bin}" && pwd)
folder=$(realpath "${1:-$(mktemp -d)}")
mkdir -p "$folder"
cd "$folder"
PATH=$bin:$PATH
flows=('BPF_FILTER tcp | COOKING 65536 10 0 3 | STR_SEARCH "GET /" 0 0 | PKT_COUNTER'
    "ANONYMIZE 'IP,SRC_IP,PREFIX_PRESERVING' | HASHSAMP 4 0 | BYTE_COUNTER"
    'BPF_FILTER "udp port 53" | REGEXP "[a-z]+.com" | PKT_COUNTER'
    'BPF_FILTER tcp | TRACK_TORRENT | PKT_COUNTER'
    'TRACK_SKYPE | PKT_COUNTER'
    'EXPIRED_FLOWS 60 0 0')
functions='^(ndpi_(detection_process_packet|check_flow_func|search_[a-z_]*|connection_tracking|network_port_ptree_match|match_[his][a-z_]*)|hs_scan)'

# record_flows TRACE COPIES OPTION...: of the demo's capture, so many times.
record_flows() {
    local trace=$1 copies=$2 copy
    shift 2
    [[ ! -e $trace ]] || return 0
    rm -rf captures
    mkdir captures
    for ((copy = 10; copy < 10 + copies; ++copy)); do
        cp "$reports/../mapi-core/apps/demo/demo.pcap" "captures/$copy.pcap"
    done
    nsdump record -q "$@" -w "$trace" -- mapi-flow -q -r captures -o /dev/null "${flows[@]}" || [[ $? == 1 ]] # packets that were sampled away
}

# screenshot ADDRESS PICTURE WIDTH HEIGHT
screenshot() {
    chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --allow-file-access-from-files \
        --virtual-time-budget=5000 --user-data-dir=profile \
        "--screenshot=$2" "--window-size=$3,$4" "file://$folder/$1" >chromium.log 2>&1 || { cat chromium.log; exit 1; }
    rm -rf profile
}

record_flows mapi-flow.nsl 60
record_flows functions.nsl 12 --function "$functions"
rm -rf report
nsreport mapi-flow.nsl -o report -q
nsdump export functions.nsl -q --format flamegraph -o functions.svg
screenshot report/index.html "$reports/page.png" 1100 1215
screenshot 'functions.svg#search=search_' "$reports/flame_graph.png" 1200 240
ls -l "$reports"/{page,flame_graph}.png
