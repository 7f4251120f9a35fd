"""OpenTelemetry spans for verbs and tool calls, which never carry what a memory says.

```python
from memories_sdk import telemetry

telemetry.instrument()          # spans go where OpenTelemetry is set up to send them
```

A span says which verb or tool, on which kind of shelf, what came of it (`ok`, or the code of the
refusal), how many things it was about, and, by its own times, how long it took. No text, name,
type, tag, query, prompt, id or path is in it, nor the words of an error.

Until `instrument` is called nothing of this is loaded, and no verb runs a line for it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from importlib.metadata import version
from typing import Any, Final

from memories_sdk.approvals import operation_of
from memories_sdk.arguments import Arguments
from memories_sdk.document_tools import ALL_OPERATIONS
from memories_sdk.errors import InvalidInput, MemoriesError, MissingExtra
from memories_sdk.reader import ScopeReader
from memories_sdk.results import ToolResult
from memories_sdk.scope import Scope
from memories_sdk.tools import FACT_TOOLS, TOOLS, MemoryTools
from memories_sdk.trial import Trial

try:
    from opentelemetry import trace
    from opentelemetry.trace import Span, StatusCode, Tracer, TracerProvider
except ImportError as error:
    raise MissingExtra("memories_sdk.telemetry", "telemetry") from error

SCOPE: Final = "memories.scope"
OPERATION: Final = "memories.operation"
OUTCOME: Final = "memories.outcome"
COUNT: Final = "memories.count"
SIZE: Final = "memories.result.characters"

_NO_VERBS: Final = frozenset({"read_only", "once", "watch"})
"""They hand out an object and ask the store for nothing."""

_UNKNOWN: Final = "unknown"
"""Stands for the name of a tool or action that there is not: a model may write anything there."""

_originals: dict[tuple[type, str], Callable[..., Any]] = {}
_in_a_verb: ContextVar[bool] = ContextVar("memories_sdk.telemetry", default=False)


def instrument(*, tracer_provider: TracerProvider | None = None) -> None:
    """Make a span of each verb of a shelf and each call of a tool, in all stores from now on.

    A verb that is made of others is one span. Calling it again changes nothing.

    Args:
        tracer_provider: Where spans go; the one that is set up for the process when left out.
    """
    if _originals:
        return
    with suppress(ImportError):  # without its extra there is no store behind a server
        import memories_sdk.remote  # noqa: F401, PLC0415 -- its verbs are their own
    tracer = trace.get_tracer("memories_sdk", version("memories-sdk"), tracer_provider)
    verbs = {name for name in dir(Scope) if name[0] != "_"} - _NO_VERBS
    for kind in {*_kinds(ScopeReader)}:
        for name, verb in [*vars(kind).items()]:
            if inspect.isfunction(verb) and name in verbs:
                _replace(kind, name, _traced_verb(tracer, name, verb))
    _replace(MemoryTools, "call", _traced_call(tracer, MemoryTools.call))


def uninstrument() -> None:
    """Take the spans away again: verbs and tools are what they were."""
    while _originals:
        (kind, name), original = _originals.popitem()
        setattr(kind, name, original)


def _kinds(kind: type[ScopeReader]) -> Iterator[type[ScopeReader]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)


def _replace(kind: type, name: str, traced: Callable[..., Any]) -> None:
    _originals[kind, name] = vars(kind)[name]
    setattr(kind, name, traced)


def _traced_verb(tracer: Tracer, name: str, verb: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(verb)
    def traced(shelf: ScopeReader, /, *args: object, **options: object) -> object:
        if _in_a_verb.get() or isinstance(shelf, Trial):  # a trial is no act of anybody's
            return verb(shelf, *args, **options)
        with _span(tracer, f"memories {name}", shelf.kind, name) as span:
            mark = _in_a_verb.set(True)
            try:
                found = verb(shelf, *args, **options)
            finally:
                _in_a_verb.reset(mark)
            if (count := _count(found)) is not None:
                span.set_attribute(COUNT, count)
            span.set_attribute(OUTCOME, "ok")
            return found

    return traced


def _traced_call(tracer: Tracer, call: Callable[..., ToolResult]) -> Callable[..., ToolResult]:
    @wraps(call)
    def traced(
        tools: MemoryTools, /, tool: str, arguments: object = None, **options: object
    ) -> ToolResult:
        known = tool if tool in TOOLS or tool in FACT_TOOLS else _UNKNOWN
        operation = _operation(known, arguments)
        with _span(tracer, f"memories tool {known}", TOOLS.get(known, "global"), operation) as span:
            result = call(tools, tool, arguments, **options)
            span.set_attribute(OUTCOME, result.code)
            span.set_attribute(SIZE, len(result.text))
            return result

    return traced


def _operation(tool: str, arguments: object) -> str:
    try:
        wanted = operation_of(tool, Arguments(arguments))
    except InvalidInput:
        return _UNKNOWN
    known = tool in FACT_TOOLS or (tool in TOOLS and wanted in ALL_OPERATIONS)
    return wanted if known else _UNKNOWN


@contextmanager
def _span(tracer: Tracer, name: str, kind: str, operation: str) -> Iterator[Span]:
    """Open a span; an error that comes out leaves its code there, and none of its words."""
    with tracer.start_as_current_span(
        name, record_exception=False, set_status_on_exception=False
    ) as span:
        span.set_attribute(SCOPE, kind)
        span.set_attribute(OPERATION, operation)
        try:
            yield span
        except BaseException as error:
            code = error.code if isinstance(error, MemoriesError) else "internal"
            span.set_attribute(OUTCOME, code)
            span.set_status(StatusCode.ERROR)
            raise


def _count(found: object) -> int | None:
    """Return how many things a verb gave back or changed."""
    if found is None or isinstance(found, bool):
        return None
    if isinstance(found, int):
        return found
    return len(found) if isinstance(found, Sized) else 1
