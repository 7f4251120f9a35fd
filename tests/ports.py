"""Ports for servers that tests start as programs of their own."""

from __future__ import annotations

import random
import socket

_LOWEST, _CLIENTS = 20_000, 32_768
_dice = random.SystemRandom()  # of two test runners with one seed, both would throw the same
_given: set[int] = set()


def free_port() -> int:
    """Return a port that nobody listens on, and that was not returned before.

    It lies below those that the system gives to clients: until the server has started, one of
    them could be given it.
    """
    while True:
        port = _dice.randrange(_LOWEST, _CLIENTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in _given:
            _given.add(port)
            return port
