"""Ports that must be known before something listens there."""

import random
import socket


def quiet_port():
    """A free port that the system assigns to nothing by itself, so that it stays free between two uses."""
    family = socket.AF_INET6 if socket.has_ipv6 else socket.AF_INET
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket(family) as one:
            try:
                one.bind(("", port))
            except OSError:
                continue
            return port
