"""The kernel's half of the protocol: every request gets exactly one answer."""

from __future__ import annotations

import json
import logging
from base64 import b64decode
from pathlib import Path

import pytest
from anywidget import AnyWidget

from memories_sdk import NotFound, widgets
from memories_sdk.markdown import render_safe
from memories_sdk.widgets._bridge import STATIC, Binary, Bridge, verb

CASES = json.loads((Path(__file__).parent / "protocol.json").read_text("utf-8"))["kernel"]
ALL = [getattr(widgets, name) for name in widgets.__all__ if name != "wire"]


class Answering(Bridge):
    """A widget with one verb for each kind of answer."""

    @verb("echo")
    def _echo(self, *, text: str) -> str:
        return text

    @verb("number")
    def _number(self, *, value: int | None) -> int | None:
        return value

    @verb("names")
    def _names(self, *, values: list[str]) -> int:
        return len(values)

    @verb("weigh")
    def _weigh(self, *, name: str, content: bytes) -> int:
        return len(content) if name else 0

    @verb("paint")
    def _paint(self) -> Binary:
        return Binary({"kind": "dot"}, b"\1\2\3")

    @verb("nothing")
    def _nothing(self) -> None:
        """Answer nothing."""

    @verb("refuse")
    def _refuse(self) -> None:
        raise NotFound("Memory not found.", suggestion="Look again.")

    @verb("break")
    def _break(self) -> None:
        raise RuntimeError("the secret inside")

    @verb("render")
    def _render(self, *, safe: bool) -> object:
        return {"html": render_safe("*x*") if safe else "<em>x</em>"}

    @verb("unsendable")
    def _unsendable(self) -> object:
        return float("nan")


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch):
    """Send a message to a widget as the page does, and return what comes back."""
    widget = Answering()
    sent: list[tuple[object, list[bytes]]] = []
    monkeypatch.setattr(
        widget, "send", lambda content, buffers=None: sent.append((content, buffers or []))
    )

    def ask(message: object, *buffers: bytes) -> object:
        sent.clear()
        widget._handle_custom_msg(message, [memoryview(each) for each in buffers])
        assert len(sent) < 2
        ask.buffers = sent[0][1] if sent else []
        return sent[0][0] if sent else None

    yield ask
    widget.close()


@pytest.mark.parametrize("case", CASES, ids=[case["name"].replace(" ", "_") for case in CASES])
def test_protocol(answers, case) -> None:
    """Both halves read the messages of one file of cases; this is the kernel's."""
    answer = answers(case["request"], *map(b64decode, case.get("buffers", ())))
    assert answers.buffers == [b64decode(each) for each in case.get("sends", ())]
    if "code" in case:
        assert answer["id"] == case["request"]["id"]
        assert answer["error"]["code"] == case["code"]
        assert answer["error"].keys() == {"code", "message", "suggestion"}
    else:
        assert answer == case["reply"]


def test_bytes_of_a_batch_go_beside_their_own_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch has no place for them: the other answers go together, these follow."""
    widget = Answering()
    sent: list[object] = []
    monkeypatch.setattr(
        widget, "send", lambda content, buffers=None: sent.append((content, buffers))
    )
    asked = [{"id": "1", "verb": "paint"}, {"id": "2", "verb": "nothing"}]
    widget._handle_custom_msg({"batch": asked}, [])
    widget.close()
    assert sent == [
        ({"batch": [{"id": "2", "ok": None}]}, None),
        ({"id": "1", "ok": {"kind": "dot"}}, [b"\1\2\3"]),
    ]


def test_an_exception_is_logged_in_full_and_told_to_nobody(answers, caplog) -> None:
    """People see one neutral sentence; the log has the traceback."""
    with caplog.at_level(logging.ERROR, "memories_sdk.widgets"):
        answer = answers({"id": "1", "verb": "break", "args": {}})
    assert "secret" not in json.dumps(answer)
    assert "the secret inside" in caplog.text
    assert "Traceback" in caplog.text


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_no_verb_hides_a_method_of_the_widget(kind: type[Bridge]) -> None:
    """A verb named like a method of ipywidgets would break the widget in a way hard to find."""
    for name, member in vars(kind).items():
        if hasattr(member, "_memories_verb"):
            assert not hasattr(AnyWidget, name), name


def test_an_override_without_the_mark_takes_the_verb_away() -> None:
    """What a subclass closes stays closed: no verb is inherited behind its back."""

    class Closed(Answering):
        def _echo(self, *, text: str) -> str:
            return text

    assert "echo" in Answering._verbs
    assert "echo" not in Closed._verbs


def test_modules_go_by_digest(answers) -> None:
    """A page gets the module it was told of; a page of another release is told to reload."""
    assets = answers({"id": "1", "verb": "hello", "args": {}})["ok"]["assets"]
    assert assets.keys() == {"ui.js", "codemirror.js"}
    text = answers({"id": "2", "verb": "asset", "args": {"digest": assets["ui.js"]}})["ok"]
    assert text == (STATIC / "ui.js").read_text("utf-8")
    refused = answers({"id": "3", "verb": "asset", "args": {"digest": "../__init__.py"}})
    assert refused["error"]["code"] == "not_found"


def test_only_safe_html_goes_to_the_page_as_html(caplog: pytest.LogCaptureFixture) -> None:
    """Text that nobody rendered is no answer, however it looks; no trait holds HTML at all."""
    widget = Answering()
    safe = widget._answer({"verb": "render", "args": {"safe": True}}, [])
    assert type(safe["ok"]["html"]) is str  # as every host sends it alike
    with caplog.at_level(logging.ERROR):
        plain = widget._answer({"verb": "render", "args": {"safe": False}}, [])
    assert plain["error"]["code"] == "internal"
    for kind in ALL:
        synced = kind.class_traits(sync=True)
        assert [name for name in synced if "html" in name and not name.startswith("_")] == []
