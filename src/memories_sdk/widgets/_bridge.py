"""The bridge between a widget's two halves: requests from the page, one answer to each.

A request is `{id, verb, args}`; its answer is `{id, ok}` or `{id, error}`, where error is
`{code, message, suggestion}`. Bytes go beside either as a buffer. Requests of one moment come as
`{batch: [...]}`, and so do their answers. Only methods marked with `@verb(...)` can be asked for.
Traits go from the kernel to the page alone, and hold no text of a memory: notebooks save them.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
import threading
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import ClassVar, Final, TypeVar

import anywidget
import traitlets

from memories_sdk.errors import InvalidInput, MemoriesError, NotFound
from memories_sdk.markdown import SafeHtml

STATIC: Final = Path(__file__).parent / "static"
ASSETS: Final = ("ui.js", "codemirror.js")
"""What the shell in the page fetches, once a page."""


_log = logging.getLogger("memories_sdk.widgets")
_Method = TypeVar("_Method", bound=Callable[..., object])
_VERB: Final = "_memories_verb"


@dataclass(frozen=True, slots=True)
class Binary:
    """An answer with bytes beside it."""

    ok: dict[str, object]
    content: bytes


def verb(name: str) -> Callable[[_Method], _Method]:
    """Let the page ask for the method under that name.

    Its parameters are keyword-only and annotated with JSON types, or with `bytes` for the buffer
    that comes beside the request; what it returns is JSON, or `Binary`.
    """

    def mark(method: _Method) -> _Method:
        setattr(method, _VERB, name)
        return method

    return mark


class Bridge(anywidget.AnyWidget):
    """A widget that answers the requests of its page, whatever happens."""

    _esm = STATIC / "shell.js"
    _about = traitlets.Dict().tag(
        sync=True
    )  # what `hello` answers, for a page that has the modules
    _verbs: ClassVar[Mapping[str, _Verb]] = {}

    def __init_subclass__(cls, **options: object) -> None:
        """Collect the verbs of the class and of all its bases."""
        super().__init_subclass__(**options)  # type: ignore[arg-type]  # anywidget passes them on
        # What each name means in the end: an override without the mark takes the verb away.
        members = {
            name: each for kind in reversed(cls.__mro__) for name, each in vars(kind).items()
        }
        marked = [each for each in members.values() if hasattr(each, _VERB)]
        cls._verbs = {getattr(each, _VERB): _verb_of(each) for each in marked}

    def __init__(self) -> None:
        super().__init__(_about=self._hello())
        # The page's messages may come on a thread of their own, beside the running cell.
        self._turn = threading.RLock()
        self.on_msg(self._hear)

    @verb("hello")
    def _hello(self) -> dict[str, object]:
        """Say which widget this is and by which digests its modules go."""
        return {
            "widget": self._kind(),
            "assets": {name: _digest(name) for name in ASSETS},
        }

    @verb("asset")
    def _asset(self, *, digest: str) -> str:
        """Return the module of that digest."""
        for name in ASSETS:
            if _digest(name) == digest:
                return (STATIC / name).read_text("utf-8")
        raise NotFound(
            "This page is older than its kernel.", suggestion="Reload the page and run the cell."
        )

    def _kind(self) -> str:
        # anywidget gives each instance a class of its own, and users may derive theirs.
        home = "memories_sdk.widgets."
        return next(
            each.__name__ for each in type(self).__mro__ if each.__module__.startswith(home)
        )

    def _hear(self, _widget: object, message: object, buffers: object) -> None:
        if not isinstance(message, dict):
            return
        if isinstance(together := message.get("batch"), list):
            replies = [self._reply(each, ()) for each in together if _is_open(each)]
            self.send({"batch": [reply for reply, content in replies if content is None]})
            for reply, content in replies:
                if content is not None:  # bytes go beside one answer alone
                    self.send(reply, content)
        elif _is_open(message):
            self.send(*self._reply(message, buffers if isinstance(buffers, Sequence) else ()))

    def _reply(
        self, message: Mapping[str, object], buffers: Sequence[object]
    ) -> tuple[dict[str, object], list[bytes] | None]:
        """Return the answer to one request, and the bytes that go beside it."""
        answer = self._answer(message, buffers)
        content = answer.pop("content", None)
        return {"id": message["id"], **answer}, [content] if isinstance(content, bytes) else None

    def _answer(
        self, message: Mapping[str, object], buffers: Sequence[object]
    ) -> dict[str, object]:
        name = message.get("verb")
        try:
            with self._turn:
                ok = self._asked(name)(self, message.get("args"), buffers)
            if isinstance(ok, Binary):
                return {"ok": ok.ok, "content": ok.content}
            if isinstance(ok, dict) and "html" in ok:
                ok = ok | {"html": _plain(ok["html"])}
            json.dumps(ok, allow_nan=False)  # an answer that cannot be sent is no answer
        except MemoriesError as refusal:
            return _error(refusal.code, refusal.message, refusal.suggestion)
        # Whatever else happens, the page must not wait for an answer that never comes.
        except Exception:  # noqa: BLE001
            _log.exception("the request %r of a widget failed", name)
            return _error("internal", "The kernel could not do this; its log tells why.", "")
        return {"ok": ok}

    def _asked(self, name: object) -> _Verb:
        if isinstance(name, str) and name in self._verbs:
            return self._verbs[name]
        raise NotFound(f"No such request: {name!r}.", suggestion="Reload the page.")


def _is_open(message: object) -> bool:
    """Tell whether a message is a request that can be answered."""
    return isinstance(message, dict) and isinstance(message.get("id"), str)


class _Verb:
    """A method that the page may ask for, with its arguments checked against its annotations."""

    def __init__(self, method: Callable[..., object]) -> None:
        self._method = method
        self._parameters = inspect.signature(method).parameters

    @cached_property
    def _hints(self) -> dict[str, object]:
        # Not before the first call: a class may name what its module defines further down.
        return typing.get_type_hints(self._method)

    def __call__(self, widget: Bridge, args: object, buffers: Sequence[object]) -> object:
        given = {} if args is None else args
        if not isinstance(given, dict):
            raise InvalidInput("args must be an object.")
        hints = self._hints
        names = [name for name, hint in hints.items() if hint is bytes]
        sent = [bytes(each) for each in buffers if isinstance(each, bytes | bytearray | memoryview)]
        given = given | dict(zip(names, sent, strict=False))
        for name, parameter in self._parameters.items():
            if name != "self" and name not in given and parameter.default is parameter.empty:
                raise InvalidInput(f"{name} is missing.", field=name)
        for name, value in given.items():
            if name not in hints or name == "return":
                raise InvalidInput(f"{name} is not an argument.", field=name)
            if not _fits(value, hints[name]):
                raise InvalidInput(f"{name} has the wrong type.", field=name)
        return self._method(widget, **given)


def _fits(value: object, hint: object) -> bool:
    """Tell whether a JSON value is of the annotated type."""
    origin = typing.get_origin(hint)
    if origin is types.UnionType or origin is typing.Union:
        return any(_fits(value, each) for each in typing.get_args(hint))
    if origin is list:
        (item,) = typing.get_args(hint)
        return isinstance(value, list) and all(_fits(each, item) for each in value)
    if hint is None or hint is type(None):
        return value is None
    if isinstance(value, bool):
        return hint is bool or hint is object
    return isinstance(value, origin or hint)  # type: ignore[arg-type]  # a class by now


@cache
def _verb_of(method: Callable[..., object]) -> _Verb:
    """Return the verb of a method; anywidget makes a class for each widget, with the same ones."""
    return _Verb(method)


@cache
def _digest(name: str) -> str:
    return f"{name}:{hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:16]}"


def _plain(html: object) -> str:
    """Return rendered text as a plain one: some hosts send a kind of its own as an empty object.

    Raises:
        TypeError: `render_safe` did not make it.
    """
    if not isinstance(html, SafeHtml):
        raise TypeError("html that was not rendered by render_safe")
    return str(html)


def _error(code: str, message: str, suggestion: str) -> dict[str, object]:
    return {"error": {"code": code, "message": message, "suggestion": suggestion}}
