"""What comes over a real socket, whole or broken: read as it was meant, or refused."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final

import h11
import pytest
from served import served

from memories_sdk import MemoryStore, Principal
from memories_sdk.server import Limits
from memories_sdk.server.punctual import Punctual

PATH = "/api/v1/memories"
PIECE = b"x" * 100


USUAL: Final = {"limits": Limits(rate=0, body=1_000, failures=3)}
IMPATIENT: Final = {"limits": Limits(rate=0, seconds=0.3)}
BEHIND: Final = {"limits": Limits(rate=0, failures=1), "proxies": ["127.0.0.1"]}


@pytest.fixture
def options(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    """What the server is started with."""
    return getattr(request, "param", USUAL)


@pytest.fixture
def place(
    store: MemoryStore, alice: Principal, options: Mapping[str, Any]
) -> Iterator[tuple[str, int]]:
    """Run the server, and give its address."""
    store.tokens.issue(alice)
    with served(store, **options) as server:
        yield server.place


@pytest.fixture
def head(store: MemoryStore, alice: Principal) -> str:
    """The headers of a program of alice's."""
    secret = store.tokens.issue(alice, access="write").secret
    return f"Host: x\r\nAuthorization: Bearer {secret}\r\n"


def said(place: tuple[str, int], text: str | bytes) -> list[tuple[int, bytes]]:
    """Send bytes as they are, and return the status and body of each answer until the end."""
    sent = text.encode() if isinstance(text, str) else text
    received = b""
    # A server that has read enough closes the line before all has come.
    with socket.create_connection(place, timeout=60) as line, suppress(ConnectionError):
        line.sendall(sent)
        while piece := line.recv(65_536):
            received += piece
    answers: list[tuple[int, bytes]] = []
    while received:
        reader = h11.Connection(h11.CLIENT)
        reader.send(h11.Request(method="GET", target="/", headers=[("Host", "x")]))
        reader.send(h11.EndOfMessage())
        reader.receive_data(received)
        reader.receive_data(b"")
        status, body = 0, b""
        while not isinstance(event := reader.next_event(), h11.EndOfMessage):
            if isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
        answers.append((status, body))
        received = reader.trailing_data[0]
    return answers


@pytest.mark.engines("sqlite-file")
@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: xchunked\r\n", "{}"),
        ("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
        ("Content-Length: 2\r\nContent-Length: 40\r\n", "{}"),
        ("Content-Length: +2\r\n", "{}"),
        ("Content-Length: 2, 3\r\n", "{}"),
        ("Content-Length : 2\r\n", "{}"),
        ("X: a\r\n b\r\n\tc\r\n\0: d\r\n", ""),
        ("Host: second.example\r\n", ""),
    ],
    ids=range(9),
)
def test_what_two_readers_would_read_otherwise_is_not_read(
    store: MemoryStore, alice: Principal, place: tuple[str, int], head: str, headers: str, body: str
) -> None:
    """No request hides in another one: both are refused, and the line is cut."""
    hidden = f"DELETE {PATH} HTTP/1.1\r\n{head}Connection: close\r\n\r\n"
    store.scope(acting_as=alice).create("n", "plan", "x")
    answers = said(place, f"POST {PATH}/recall HTTP/1.1\r\n{head}{headers}\r\n{body}{hidden}")
    assert [status for status, _ in answers] in ([400], [501])
    assert store.scope(acting_as=alice).list().total == 1


@pytest.mark.engines("sqlite-file")
def test_a_head_is_not_waited_for(
    place: tuple[str, int], head: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line on which nothing comes, or a head without end, is cut; the first or a later one."""
    with monkeypatch.context() as hurry:
        hurry.setattr(Punctual, "SECONDS", 0.2)
        assert said(place, "") == said(place, "GET ") == []
    whole = f"GET {PATH} HTTP/1.1\r\n{head}\r\n".encode()
    with socket.create_connection(place, timeout=20) as line:
        line.sendall(whole)
        assert b" 200 " in line.recv(65_536)
        monkeypatch.setattr(Punctual, "SECONDS", 0.2)
        line.sendall(whole[:-2])
        # The rest of the first answer, and then the end: before the line would be idle too long.
        assert b" 200 " not in b"".join(iter(lambda: line.recv(65_536), b""))


@pytest.mark.engines("sqlite-file")
@pytest.mark.parametrize(
    "headers", ["X: " + "y" * 100_000, "X: y\r\n" * 20_000], ids=["long", "many"]
)
def test_a_head_is_bounded(place: tuple[str, int], head: str, headers: str) -> None:
    """More than 64 KiB of it are not kept, and not waited for."""
    answers = said(place, f"GET {PATH} HTTP/1.1\r\n{head}{headers}")
    assert [status for status, _ in answers] in ([400], [])  # closed, perhaps before it was read


@pytest.mark.engines("sqlite-file")
@pytest.mark.parametrize("options", [IMPATIENT], indirect=True)
def test_a_length_that_lies_writes_nothing(
    store: MemoryStore, alice: Principal, place: tuple[str, int], head: str
) -> None:
    """Too long a one is waited for in vain, too short a one leaves no JSON."""
    body = '{"name": "n", "type": "plan"}'
    start = f"POST {PATH} HTTP/1.1\r\n{head}Connection: close\r\n"
    for length, status in ((len(body) + 9, 408), (len(body) - 9, 400)):
        (first, _), *_ = said(place, f"{start}Content-Length: {length}\r\n\r\n{body}")
        assert first == status
    assert store.scope(acting_as=alice).list().total == 0


@pytest.mark.engines("sqlite-file")
def test_a_body_without_end_is_cut(place: tuple[str, int], head: str) -> None:
    """In pieces of no announced number it is read up to the limit; the line is closed then."""
    pieces = (b"%x\r\n%s\r\n" % (len(PIECE), PIECE)) * 50
    start = f"POST {PATH} HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n".encode()
    next_one = f"GET {PATH} HTTP/1.1\r\n{head}\r\n".encode()
    ((status, body),) = said(place, start + pieces + b"0\r\n\r\n" + next_one)
    assert status == 413
    assert b"REQUEST_TOO_LARGE" in body


@pytest.mark.engines("sqlite-file")
def test_what_is_no_text_names_nothing(
    store: MemoryStore, alice: Principal, place: tuple[str, int], head: str
) -> None:
    """Broken UTF-8 is not mended into another name, neither in a path nor in a query."""
    store.scope(acting_as=alice).create("\ufffd", "plan", "x")
    for target, status in (
        (f"{PATH}/%ff", 404),
        (f"{PATH}/named?type=plan&name=%ff", 422),
        (f"{PATH}/named?type=plan&name=%ef%bf%bd", 200),
        (f"{PATH}/%00", 404),
        (f"{PATH}/..%2f..%2fsession", 404),
        (f"http://evil.example{PATH}", 404),
        ("//evil.example/api/v1/memories", 404),
        ("*", 404),
    ):
        ((found, _),) = said(place, f"GET {target} HTTP/1.1\r\n{head}Connection: close\r\n\r\n")
        assert found == status, target


@pytest.mark.engines("sqlite-file")
def test_a_guesser_cannot_name_another_address(place: tuple[str, int]) -> None:
    """Headers that a proxy would set count from no one, unless the owner named the proxy."""
    statuses = []
    for number in range(5):
        head = f"Host: x\r\nAuthorization: Bearer mem_x\r\nX-Forwarded-For: 10.0.0.{number}\r\n"
        ((status, _),) = said(place, f"GET {PATH} HTTP/1.1\r\n{head}Connection: close\r\n\r\n")
        statuses.append(status)
    assert statuses == [401, 401, 401, 429, 429]


@pytest.mark.engines("sqlite-file")
@pytest.mark.parametrize("options", [BEHIND], indirect=True)
def test_a_named_proxy_tells_addresses_apart(place: tuple[str, int]) -> None:
    """Each client behind it is counted by itself; what a client adds before counts nothing."""
    statuses = []
    for forwarded in ("10.0.0.1", "10.0.0.1", "10.0.0.2", "1.2.3.4, 10.0.0.1"):
        head = f"Host: x\r\nAuthorization: Bearer mem_x\r\nX-Forwarded-For: {forwarded}\r\n"
        ((status, _),) = said(place, f"GET {PATH} HTTP/1.1\r\n{head}Connection: close\r\n\r\n")
        statuses.append(status)
    assert statuses == [401, 429, 401, 429]


@pytest.mark.engines("sqlite-file")
def test_who_is_turned_away_while_sending_writes_nothing(
    store: MemoryStore, alice: Principal, place: tuple[str, int]
) -> None:
    """A token that is taken back while a body is on its way counts no more when it has come."""
    issued = store.tokens.issue(alice, access="write")
    body = b'{"name": "n", "type": "plan"}'
    start = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {issued.secret}\r\n"
    with socket.create_connection(place, timeout=60) as line:
        # The server says that it goes on, so it has looked at the head.
        line.sendall(f"{start}Expect: 100-continue\r\n".encode())
        line.sendall(b"Content-Length: %d\r\n\r\n" % len(body))
        assert b" 100 " in line.recv(100)
        store.tokens.revoke(issued.token.id)
        line.sendall(body)
        assert b" 401 " in line.recv(1_000)
    assert store.scope(acting_as=alice).list().total == 0


@pytest.mark.engines("sqlite-file")
def test_many_guesses_at_once_are_no_more_guesses(place: tuple[str, int]) -> None:
    """Lines that are opened side by side share the count of their address."""
    ready = threading.Barrier(12)
    head = "Host: x\r\nAuthorization: Bearer mem_x\r\nConnection: close\r\n"

    def guess(_: int) -> int:
        ready.wait(60)
        ((status, _),) = said(place, f"GET {PATH} HTTP/1.1\r\n{head}\r\n")
        return status

    with ThreadPoolExecutor(12) as pool:
        statuses = sorted(pool.map(guess, range(12)))
    assert statuses == [401] * 3 + [429] * 9
