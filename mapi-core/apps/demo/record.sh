#!/bin/sh
# SPDX-License-Identifier: MIT
# record: real servers and clients in two network namespaces -> demo.pcap, recorded by tcpdump.
#
# Usage: record.sh [OUTPUT]      as root; OUTPUT defaults to demo.pcap next to this script
# Exit:  0 recorded, 1 the recording failed or lost packets, 2 invalid usage or a missing tool
set -eu
umask 022

here=$(cd "$(dirname "$0")" && pwd)
output=${1:-$here/demo.pcap}
case $output in /*) ;; *) output=$PWD/$output ;; esac
server=nsdemo-srv-$$
client=nsdemo-cli-$$
work=
pids=

fail() { echo "record.sh: $*" >&2; exit 1; }

# need TOOL PACKAGE: the script installs nothing, it only reports what to install.
missing=
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
check_tools()
{
    PATH=$PATH:/usr/sbin:/sbin
    need ip iproute2; need ethtool ethtool; need tcpdump tcpdump; need curl curl
    need python3 python3; need dnsmasq dnsmasq-base; need dig bind9-dnsutils
    need iperf3 iperf3; need ping iputils-ping; need openssl openssl
    if [ -n "$missing" ]; then
        echo "record.sh: missing tools (on Debian: apt-get install$missing)" >&2
        exit 2
    fi
    [ "$(id -u)" = 0 ] || { echo "record.sh: requires root for network namespaces" >&2; exit 2; }
}

# Interfaces disappear with their namespaces; processes are ended by the ids kept here.
cleanup()
{
    trap - EXIT INT TERM HUP
    for pid in $pids; do kill "$pid" 2>/dev/null || :; done
    wait 2>/dev/null || :
    ip netns del "$server" 2>/dev/null || :
    ip netns del "$client" 2>/dev/null || :
    [ -z "$work" ] || rm -rf "$work"
}

at_server() { ip netns exec "$server" "$@"; }
at_client() { ip netns exec "$client" "$@"; }
serve() { ip netns exec "$server" "$@" >>"$work/servers.log" 2>&1 </dev/null & pids="$pids $!"; }

# end NAMESPACE NAME LAST_BYTE: one end of the link.  192.0.2.0/24, 198.51.100.0/24 and 2001:db8::/32 are documentation addresses.
end()
{
    ip -n "$1" link set "$2" address "02:00:00:00:00:0$3"
    ip -n "$1" addr add "192.0.2.$3/24" dev "$2"
    ip -n "$1" addr add "2001:db8::$3/64" dev "$2" nodad
    ip -n "$1" link set lo up
    # Without offloads, every frame is valid on a wire: at most 1514 bytes, checksums filled in.
    ip netns exec "$1" ethtool -K "$2" gso off tso off gro off tx off rx off >/dev/null
    ip -n "$1" link set "$2" up
}

make_network()
{
    ip netns add "$server"
    ip netns add "$client"
    ip -n "$server" link add wire0 type veth peer name wire1 netns "$client"
    end "$server" wire0 1
    ip -n "$server" addr add 192.0.2.3/24 dev wire0
    ip -n "$server" addr add 2001:db8::3/64 dev wire0 nodad
    end "$client" wire1 2
}

# Pages of many sizes; some have links with "www", so that a search finds it in requests, replies or neither.
make_pages()
{
    mkdir -p "$work/site/img" "$work/links"
    python3 - "$work" <<'PY'
import random, sys
work = sys.argv[1]
dice = random.Random(2005)
words = "packet monitor slice probe counter cycle clock frame queue batch filter header flow port".split()

def text(size):
    out = []
    while sum(map(len, out)) < size:
        out.append(" ".join(dice.choices(words, k=12)) + "\n")
    return "".join(out)[:size]

pages = {"index.html": 700, "news.html": 4200, "manual.html": 38000, "search.html": 1300, "about.html": 220}
for name, size in pages.items():
    links = "".join(f'<a href="http://www.example.{tld}/">www.example.{tld}</a>\n' for tld in ("org", "net", "com"))
    body = text(size) if name != "about.html" else "no links here\n"
    open(f"{work}/site/{name}", "w").write(f"<html><body>{links if name != 'about.html' else ''}<p>{body}</p></body></html>\n")
for name, size in {"logo.png": 2900, "photo.jpg": 61000, "map.jpg": 24000}.items():
    open(f"{work}/site/img/{name}", "wb").write(dice.randbytes(size))
for part, count in {"small": 3, "medium": 40, "large": 420}.items():
    with open(f"{work}/links/{part}.html", "w") as page:
        for number in range(count):
            page.write(f'<li><a href="http://www{number % 7}.host{number}.example/">{" ".join(dice.choices(words, k=3))}</a>\n')
open(f"{work}/links/plain.txt", "w").write(text(9000))
PY
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=www.example.org \
        -keyout "$work/key.pem" -out "$work/cert.pem" >/dev/null 2>&1 || fail "openssl created no certificate"
}

start_servers()
{
    serve python3 -m http.server 80 --bind :: --directory "$work/site"
    # Port 2005 serves HTTP over TCP and DNS over UDP; both reply with "www" in most packets.
    # The name servers have their own addresses, because they use the TCP port as well.
    for address in 192.0.2.1 2001:db8::1; do
        serve python3 -m http.server 2005 --bind "$address" --protocol HTTP/1.1 --directory "$work/links"
    done
    for port in 53 2005; do
        serve dnsmasq --listen-address=192.0.2.3,2001:db8::3 --bind-interfaces --keep-in-foreground --no-resolv --no-hosts --user=root --pid-file= --conf-file=/dev/null \
            --port="$port" --cache-size=0 --local=/example.org/ --local=/example.net/ \
            --host-record=www.example.org,192.0.2.1,2001:db8::1 --host-record=www.example.net,192.0.2.1 \
            --host-record=mail.example.org,192.0.2.1 --cname=images.example.org,www.example.org \
            --txt-record=example.org,"see www.example.org for the pages" --mx-host=example.org,mail.example.org,10
    done
    (cd "$work/site" && exec ip netns exec "$server" openssl s_server -quiet -accept 443 -WWW \
        -key "$work/key.pem" -cert "$work/cert.pem" >>"$work/servers.log" 2>&1 </dev/null) & pids="$pids $!"
    serve iperf3 -s -p 5201
    serve iperf3 -s -p 5202
}

# wait_for WHAT COMMAND...: up to 10 s until COMMAND succeeds.
wait_for()
{
    what=$1; shift
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || { cat "$work"/*.log >&2; fail "$what did not start"; }
        sleep 0.1
    done
}
listening() { [ "$(at_server ss -Hltn | grep -cE ':(80|2005|53|443|5201|5202) ')" -ge 9 ]; }

start_capture()
{
    ip netns exec "$server" tcpdump -i wire0 -n -s 262144 -B 16384 -Z root -w "$work/demo.pcap" \
        2>"$work/tcpdump.log" </dev/null & capture=$!
    pids="$pids $capture"
    wait_for tcpdump grep -q 'listening on' "$work/tcpdump.log"
}

stop_capture()
{
    sleep 1
    kill -TERM "$capture" # background processes of sh ignore INT
    wait "$capture" || fail "tcpdump failed: $(cat "$work/tcpdump.log")"
    grep -q '^0 packets dropped by kernel' "$work/tcpdump.log" || fail "packets were lost: $(cat "$work/tcpdump.log")"
}

get() { at_client curl -s --max-time 20 "$@" >/dev/null || echo "curl $*: exit $?" >>"$work/clients.log"; }

browse()
{
    for host in www.example.org www.example.net images.example.org; do
        at="$host:80:192.0.2.1"
        for page in index.html news.html about.html img/logo.png; do get --resolve "$at" "http://$host/$page"; sleep 0.03; done
    done
    get --resolve www.example.org:80:192.0.2.1 http://www.example.org/manual.html http://www.example.org/img/photo.jpg
    get -A Mozilla/5.0 -e http://www.example.net/ "http://192.0.2.1/search.html?q=www"
    get http://192.0.2.1/no-such-page
    get -T "$work/links/plain.txt" http://192.0.2.1/upload
    at_client curl -s http://192.0.2.1:81/ || : # a closed port replies with a reset
}

browse_v6()
{
    for page in index.html news.html img/map.jpg about.html; do
        get --resolve 'www.example.org:80:[2001:db8::1]' "http://www.example.org/$page"
        sleep 0.05
    done
}

port_2005()
{
    for _ in 1 2 3; do
        for page in small.html medium.html plain.txt; do get "http://192.0.2.1:2005/$page"; sleep 0.02; done
    done
    get http://192.0.2.1:2005/large.html http://192.0.2.1:2005/small.html
    get 'http://[2001:db8::1]:2005/large.html'
}

resolve()
{
    for port in 53 2005; do
        for _ in 1 2 3 4 5 6 7 8; do
            for name in www.example.org www.example.net mail.example.org images.example.org www.nowhere.example.org; do
                at_client dig +tries=1 +time=2 -p "$port" @192.0.2.3 "$name" A >/dev/null || :
            done
        done
        at_client dig +tries=1 +time=2 -p "$port" @2001:db8::3 www.example.org AAAA >/dev/null || :
        at_client dig +tries=1 +time=2 -p "$port" @192.0.2.3 example.org TXT example.org MX >/dev/null || :
        at_client dig +tries=1 +time=2 -p "$port" @192.0.2.3 +tcp www.example.org A >/dev/null || :
    done
}

secure()
{
    for page in index.html news.html img/map.jpg; do
        get -k --resolve www.example.org:443:192.0.2.1 "https://www.example.org/$page"
    done
}

echo_requests()
{
    for size in 0 18 56 512 1472 3000; do at_client ping -q -n -c 6 -i 0.1 -s "$size" 192.0.2.1 >/dev/null || :; done
    for size in 8 56 1452; do at_client ping -q -n -6 -c 6 -i 0.1 -s "$size" 2001:db8::1 >/dev/null || :; done
}

# iperf3 limited by bytes or blocks: small, medium and full frames, once in each direction.
streams()
{
    at_client iperf3 -c 192.0.2.1 -p 5201 -n 400K -b 8M
    at_client iperf3 -c 192.0.2.1 -p 5201 -n 200K -b 8M -M 536 -R
    at_client iperf3 -6 -c 2001:db8::1 -p 5201 -n 100K -b 8M
} >/dev/null 2>>"$work/iperf3.log"
datagrams()
{
    at_client iperf3 -u -c 192.0.2.1 -p 5202 -l 18 -k 1500 -b 250K
    at_client iperf3 -u -c 192.0.2.1 -p 5202 -l 214 -k 400 -b 2M
    at_client iperf3 -u -c 192.0.2.1 -p 5202 -l 982 -k 150 -b 4M -R
    at_client iperf3 -u -c 192.0.2.1 -p 5202 -l 1472 -k 120 -b 6M
} >/dev/null 2>>"$work/iperf3.log"

count() { tcpdump -n -r "$1" ${2:+"$2"} 2>/dev/null | wc -l; }
summary()
{
    echo "$1: $(wc -c <"$1") bytes"
    for filter in '' tcp udp icmp icmp6 ip6 arp 'port 80' 'port 53' 'port 443' 'src port 2005' \
        'less 63' 'len > 63 and len < 128' 'len > 127 and len < 256' 'len > 255 and len < 512' \
        'len > 511 and len < 1024' 'len > 1023 and len < 1514' 'len = 1514' 'len > 1514'; do
        printf '%8d  %s\n' "$(count "$1" "$filter")" "${filter:-all packets}"
    done
}

check_tools
trap cleanup EXIT
trap 'exit 1' INT TERM HUP
work=$(mktemp -d)
make_network
make_pages
start_servers
wait_for 'a server' listening
start_capture
clients=
for job in browse browse_v6 port_2005 resolve secure echo_requests streams datagrams; do
    "$job" & clients="$clients $!"
done
for pid in $clients; do wait "$pid" || fail "a client failed: $(cat "$work"/*.log)"; done
stop_capture
[ ! -s "$work/clients.log" ] || cat "$work/clients.log" >&2
mv "$work/demo.pcap" "$output"
summary "$output"
