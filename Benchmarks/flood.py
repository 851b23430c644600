"""Junk that looks like the beginning of a QUIC connection: v1 Initial packets with random ids and random content."""

import multiprocessing
import os
import socket
import time

DATAGRAM_BYTES = 1200
SOURCES = 64
PER_SECOND = 60_000


def junk_initial(random_ids, filling):
    """A long header of type Initial, both ids given, no token, and `filling` as its protected rest."""
    head = b"\xc3\x00\x00\x00\x01\x08" + random_ids[:8] + b"\x08" + random_ids[8:16] + b"\x00"
    rest = DATAGRAM_BYTES - len(head) - 2
    return head + (0x4000 | rest).to_bytes(2, "big") + filling[:rest]


def send_all(address, count):
    """Sends `count` datagrams from several local addresses, paced so that the receiver's queue can follow."""
    host, port = address.rsplit(":", 1)
    sockets = []
    for index in range(SOURCES):
        handle = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        handle.bind((f"127.0.1.{index + 1}", 0))
        handle.connect((host, int(port)))
        sockets.append(handle)
    filling = os.urandom(DATAGRAM_BYTES)
    started = time.monotonic()
    for index in range(count):
        if index % 256 == 0:
            ahead = index / PER_SECOND - (time.monotonic() - started)
            if ahead > 0:
                time.sleep(ahead)
        try:
            sockets[index % SOURCES].send(junk_initial(os.urandom(16), filling))
        except OSError:
            continue  # refused or full: the flood goes on


class Flood:
    """A process that floods while the block runs."""

    def __init__(self, address, count):
        self.process = multiprocessing.Process(target=send_all, args=(address, count))

    def is_running(self):
        return self.process.is_alive()

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.process.join(120)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
