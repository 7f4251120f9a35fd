"""Runs a server on uvicorn: on this machine alone, unless somebody says otherwise."""

from __future__ import annotations

import logging
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Final

import uvicorn

from memories_sdk.server.app import create_app
from memories_sdk.server.authentication import Authenticate
from memories_sdk.server.frame import logger
from memories_sdk.server.punctual import Punctual
from memories_sdk.server.routes import Limits
from memories_sdk.store import MemoryStore

LOOPBACK: Final = "127.0.0.1"
PORT: Final = 8642
FAREWELL: Final = 30
"""Longest wait for requests that are under way when the server is told to stop, in seconds."""


def serve(
    store: MemoryStore,
    *,
    host: str = LOOPBACK,
    port: int = PORT,
    hosts: Collection[str] = (),
    authenticate: Authenticate | None = None,
    limits: Limits | None = None,
    proxies: Collection[str] = (),
) -> None:
    """Serve a store until the process is told to stop; requests under way are finished.

    Args:
        store: What is served.
        host: The address to listen at; any but this machine's own is warned of.
        port: The port; 0 for any that is free, which the log then names.
        hosts: Names with a dot by which the server may be called.
        authenticate: See `create_app`.
        limits: See `create_app`.
        proxies: Addresses or networks whose word on where a request came from counts; without
            them nobody's does, since whoever guesses tokens could name a new address each time.

    Raises:
        InvalidInput: Nobody could prove who they are.
    """
    app = create_app(store, hosts=hosts, authenticate=authenticate, limits=limits)
    if not _is_loopback(host):
        warning = (
            f"WARNING: {host} can be reached from other machines, and this server speaks plain "
            "HTTP: tokens and memories can be read on the way. Put a proxy with HTTPS in front."
        )
        sys.stderr.write(f"{'!' * 80}\n{warning}\n{'!' * 80}\n")
    with _said_aloud():
        uvicorn.run(
            app,
            host=host,
            port=port,
            access_log=False,  # it would name ids and queries; the frame's own line does not
            server_header=False,
            http=Punctual,
            proxy_headers=bool(proxies),
            forwarded_allow_ips=list(proxies),
            lifespan="off",
            timeout_keep_alive=30,
            timeout_graceful_shutdown=FAREWELL,
        )


@contextmanager
def _said_aloud() -> Iterator[None]:
    """Print the server's lines while it runs, unless the host has given its log a place."""
    if logger.handlers:
        yield
        return
    printed, level = logging.StreamHandler(), logger.level
    logger.addHandler(printed)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        # Left behind, it would write for a later server too, and to a stream that may be closed.
        logger.removeHandler(printed)
        logger.setLevel(level)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
