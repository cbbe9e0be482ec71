#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ssl_version, ssl_state and stream_size in sids, on handshakes of OpenSSL."""

import ssl
import subprocess
import unittest
from datetime import datetime

import needs
from capture_files import packet_of, pcap
from sids_library import SidsTest, alerts_of, packets

SYN, ACK = 2, 16
LINKTYPE_RAW = 101
CLIENT = ("10.0.0.1", 40000)


class Side:
    """A side of a TLS connection, whose bytes the test carries."""

    def __init__(self, context, **arguments):
        self.input, self.output = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.input, self.output, **arguments)
        self.is_ready = False

    def go_on(self):
        """What it sends next."""
        if not self.is_ready:
            try:
                self.tls.do_handshake()
                self.is_ready = True
            except ssl.SSLWantReadError:
                pass
        return self.output.read()


class Tls(SidsTest):
    @classmethod
    def setUpClass(cls):
        needs.tools("openssl", "tshark")

    def certificate(self):
        path = self.folder / "both.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
            + ["-nodes", "-subj", "/CN=test", "-keyout", path, "-out", self.folder / "cert.pem"],
            check=True,
            capture_output=True,
        )
        path.write_text(path.read_text() + (self.folder / "cert.pem").read_text())
        return path

    def flights(self, version):
        """(is from the client, bytes) of a connection: its handshake, a request, a reply."""
        server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
        server.load_cert_chain(self.certificate())
        client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
        client.minimum_version = client.maximum_version = version
        sides = [Side(client), Side(server, server_side=True)]
        flights = []
        while not all(side.is_ready for side in sides):
            for i, side in enumerate(sides):
                if sent := side.go_on():
                    flights.append((i == 0, sent))
                    sides[1 - i].input.write(sent)
        for i, text in enumerate((b"request", b"reply")):
            sides[i].tls.write(text)
            flights.append((i == 0, sides[i].output.read()))
        return flights

    def capture(self, flights, port):
        server, numbers = ("10.0.0.2", port), [101, 701]
        made = [
            packet_of(CLIENT, server, 100, 0, SYN),
            packet_of(server, CLIENT, 700, 101, SYN | ACK),
            packet_of(CLIENT, server, 101, 701, ACK),
        ]
        for is_client, sent in flights:
            ends = (CLIENT, server) if is_client else (server, CLIENT)
            own = 0 if is_client else 1
            made.append(packet_of(*ends, numbers[own], numbers[1 - own], ACK, sent))
            numbers[own] += len(sent)
        path = self.folder / "tls.pcap"
        path.write_bytes(pcap(LINKTYPE_RAW, made))
        return path

    def matched(self, path, options):
        """The numbers of the packets that match, counted from 1 as in tshark."""
        output = self.sids(f"count tcp; {options} id:1;\n", "-r", path, "--json").stdout
        times = [alert["timestamp"] for alert in alerts_of(output)[0]]
        return [
            int(datetime.strptime(time, "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()) - 1000 + 1
            for time in times
        ]

    def dissected(self, path, condition):
        shown = subprocess.run(
            ["tshark", "-r", path, "-Y", condition, "-T", "fields", "-e", "frame.number"],
            check=True,
            capture_output=True,
            text=True,
        )
        return [int(number) for number in shown.stdout.split()]

    def test_handshake_messages_are_found_where_tshark_finds_them(self):
        path = self.capture(self.flights(ssl.TLSVersion.TLSv1_2), 443)
        for state, kind in (
            ("client_hello", 1),
            ("server_hello", 2),
            ("server_keyx", 12),
            ("client_keyx", 16),
        ):
            with self.subTest(state=state):
                expected = self.dissected(path, f"tls.handshake.type == {kind}")
                self.assertEqual(len(expected), 1)
                self.assertEqual(self.matched(path, f"ssl_state:{state};"), expected)
        self.assertEqual(self.matched(path, "ssl_state:client_hello,client_keyx;"), [4, 6])

    def test_versions_stay_with_the_connection(self):
        flights = self.flights(ssl.TLSVersion.TLSv1_2)
        path = self.capture(flights, 443)
        everything = list(range(4, 4 + len(flights)))  # from the first payload on
        self.assertEqual(self.matched(path, "ssl_version:tls1.2;"), everything)
        self.assertEqual(self.matched(path, "ssl_version:!tls1.2;"), [])
        self.assertEqual(self.matched(path, "ssl_version:sslv2,sslv3;"), [])
        self.assertEqual(
            self.matched(path, "flow:to_client,established; ssl_version:tls1.2;"),
            [4 + i for i, (is_client, _) in enumerate(flights) if not is_client],
        )

    def test_another_port_is_read_from_the_first_handshake_on(self):
        flights = self.flights(ssl.TLSVersion.TLSv1_3)
        path = self.capture([(False, b"220 ready\r\n"), (True, b"STARTTLS\r\n"), *flights], 25)
        self.assertEqual(self.matched(path, "ssl_state:client_hello;"), [6])
        self.assertEqual(self.matched(path, "ssl_state:server_hello;"), [7])
        self.assertEqual(
            self.matched(path, "ssl_version:tls1.2;"), list(range(6, 6 + len(flights)))
        )

    def test_stream_size_counts_the_bytes_of_each_side(self):
        flights = self.flights(ssl.TLSVersion.TLSv1_2)
        path = self.capture(flights, 443)
        sent, expected = [1, 1], []
        for i, (is_client, text) in enumerate(flights):
            sent[0 if is_client else 1] += len(text)
            if sent[1] > 500:
                expected.append(4 + i)
        self.assertGreater(len(expected), 2)
        self.assertEqual(self.matched(path, "stream_size:server,>,500;"), expected)
        self.assertEqual(self.matched(path, "stream_size:both,=,1;"), [2, 3])
        self.assertEqual(self.matched(path, "stream_size:either,=,0;"), [1])

    def test_the_rules_run_beside_others(self):
        path = self.capture(self.flights(ssl.TLSVersion.TLSv1_2), 443)
        rules = (
            "count tcp; ssl_state:client_hello; content:|16|; depth:1; id:1;\n"
            "count tcp; ssl_state:server_hello; content:|16|; depth:1; id:2;\n"
            "count udp; ssl_state:!client_hello; id:3;\ncount tcp; id:4;\n"
        )
        counted = packets(self.table(rules, "-r", path, "--all"))
        self.assertEqual([counted[i] for i in (1, 2, 3)], [1, 1, 0])
        self.assertGreater(counted[4], 7)


if __name__ == "__main__":
    unittest.main()
