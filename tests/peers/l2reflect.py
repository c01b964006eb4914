"""A model of DPDK's l2reflect on a raw socket, for the tests of `triptime reflect --dialect l2reflect`.

It follows the states of app/l2reflect/main.c (Siemens, 2022) and shares nothing with triptime's own code: the fields are packed
and unpacked here by hand, frames are taken from a raw socket, and every frame of the partner is forwarded, the late ones of the
handshake too.

Usage: l2reflect.py INTERFACE [--rounds N] [--drop-at N] [--reset-at N] [--double-at N] [--hold-at N] [--bytes N]

Prints one JSON object: whether it led, its round trips, the longest in ns, and how the game ended.
"""

import argparse
import json
import select
import socket
import struct
import time

ETHERTYPE = 0x88B5
DATA, HELO, EHLO, RSET, QUIT = range(5)
BROADCAST = b"\xff" * 6
MAGIC = 0xD00FAFFEAFFED00F
WARM_UP = 42


class Peer:
    def __init__(self, options):
        self.options = options
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
        self.socket.bind((options.interface, ETHERTYPE))
        self.own = self.socket.getsockname()[4]
        self.bytes = options.bytes
        self.remote = None
        self.sent = 0
        self.rounds = 0
        self.measured = []
        self.resets = 0
        self.marks = set()

    def packet(self, kind):
        octets = (self.bytes if kind == DATA else 64) - 4
        to = BROADCAST if kind == HELO else self.remote
        head = to + self.own + struct.pack(">H", ETHERTYPE)
        magic = MAGIC if kind == DATA else 0
        # Native layout of a 64-bit little-endian machine: the u64 after the octet is aligned.
        body = struct.pack("<BxQQQ", kind, magic, 1_000_000, self.bytes)
        return (head + body).ljust(octets, b"\0")

    def send(self, frame):
        if frame[14] == DATA:
            self.sent = time.monotonic_ns()
        self.socket.send(frame)

    def burst(self):
        frames = []
        while len(frames) < 32 and select.select([self.socket], [], [], 0)[0]:
            frame, address = self.socket.recvfrom(9700)
            if address[2] == socket.PACKET_OUTGOING or frame[6:12] == self.own:
                continue
            if self.remote_is_set and frame[6:12] != self.remote:
                continue
            frames.append(frame)
        return frames

    def elect(self):
        self.remote_is_set = False
        answered = running = False
        while not running:
            self.send(self.packet(HELO))
            time.sleep(0.5)
            for frame in self.burst():
                kind = frame[14]
                if kind == EHLO:
                    self.bytes = max(self.bytes, struct.unpack_from("<Q", frame, 32)[0])
                    running = running or answered
                if kind == HELO:
                    self.remote = frame[6:12]
                    self.send(self.packet(EHLO))
                    answered = True
        self.remote_is_set = True
        return int.from_bytes(self.own, "little") > int.from_bytes(self.remote, "little")

    def game(self):
        leads = self.elect()
        self.rounds = 0
        time.sleep(1.0)
        if leads:
            self.send(self.packet(DATA))
        idle_since = time.monotonic()
        while True:
            frames = self.burst()
            if frames:
                idle_since = time.monotonic()
            elif self.rounds > WARM_UP and time.monotonic() - idle_since > self.options.patience:
                self.send(self.packet(QUIT))
                return leads, "lost"
            for frame in frames:
                kind = frame[14]
                if kind == RSET:
                    return leads, "reset"
                if kind == QUIT:
                    return leads, "remote"
                if kind == DATA:
                    self.rounds += 1
                    self.marks.add(frame[40:56])
                    if self.rounds >= WARM_UP:
                        self.measured.append(time.monotonic_ns() - self.sent)
                    if self.rounds == self.options.drop_at:
                        continue
                    if self.rounds == self.options.hold_at:
                        time.sleep(0.6)
                        self.send(self.packet(QUIT))
                        return leads, "local"
                answer = frame[6:12] + self.own + frame[12:]
                self.send(answer)
                if kind == DATA and self.rounds == self.options.double_at:
                    self.send(answer)
                if kind == DATA and self.rounds == self.options.rounds:
                    self.send(self.packet(QUIT))
                    return leads, "local"
                if kind == DATA and self.rounds == self.options.reset_at and not self.resets:
                    self.resets = 1
                    self.send(self.packet(RSET))
                    return leads, "reset"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("interface")
    for name in ["rounds", "drop-at", "reset-at", "double-at", "hold-at"]:
        parser.add_argument(f"--{name}", type=int, default=0)
    parser.add_argument("--bytes", type=int, default=64)
    parser.add_argument("--patience", type=float, default=10.0)
    peer = Peer(parser.parse_args())
    leads, over = peer.game()
    while over == "reset":
        leads, over = peer.game()
    print(
        json.dumps(
            {
                "leads": leads,
                "over": over,
                "rounds": peer.rounds,
                "measured": len(peer.measured),
                "max": max(peer.measured, default=0),
                "bytes": peer.bytes,
                "balls": len(peer.marks),
            }
        )
    )


main()
