"""How store, scope, page and memory show as the last line of a notebook cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from html import escape
from typing import TYPE_CHECKING, Final, ParamSpec

from memories_sdk.characters import reveal
from memories_sdk.markdown import render_safe

if TYPE_CHECKING:
    from memories_sdk.memory import Memory, MemoryHead, Page
    from memories_sdk.reader import ScopeReader
    from memories_sdk.search.hits import Hit
    from memories_sdk.search.recall import Recall
    from memories_sdk.store import MemoryStore

SHOWN_ROWS: Final = 50


_P = ParamSpec("_P")


def not_typeset(markup: str) -> str:
    """Keep a notebook from typesetting what looks like a formula: those can link and load."""
    return f'<div class="tex2jax_ignore mathjax_ignore">{markup}</div>'


def _not_typeset(show: Callable[_P, str]) -> Callable[_P, str]:
    @wraps(show)
    def shown(*args: _P.args, **kwargs: _P.kwargs) -> str:
        return not_typeset(show(*args, **kwargs))

    return shown


@_not_typeset
def memory(value: Memory) -> str:
    """Return the heading and the rendered body of a memory."""
    facts = [value.type, f"version {value.version}", *value.tags]
    heading = f"<strong>{_text(value.name)}</strong> · {' · '.join(_text(fact) for fact in facts)}"
    summary = f"<p><em>{_text(value.summary)}</em></p>" if value.summary else ""
    body = render_safe(value.content, prefix=f"m{value.id.hex[-8:]}")
    return f"<article><p>{heading}</p>{summary}<div>{body}</div></article>"


@_not_typeset
def page(value: Page) -> str:
    """Return a page of a list as a table."""
    return _list(value, value.total)


@_not_typeset
def hits(value: Sequence[Hit], total: int) -> str:
    """Return hits as a table with their passages."""
    if not total:
        return "<p>No matches.</p>"
    rows = [
        (
            hit.memory.name,
            hit.memory.type,
            f"{hit.score:.2f}",
            " … ".join(passage.text for passage in hit.passages),
        )
        for hit in value
    ]
    more = f"<p>… and {total - len(rows)} more.</p>" if total > len(rows) else ""
    return _table(("Name", "Type", "Score", "Passages"), rows) + more


@_not_typeset
def recall(value: Recall) -> str:
    """Return what became of each memory that was considered for a prompt."""
    rows = [
        (verdict.memory.name, verdict.memory.type, verdict.outcome, verdict.reason)
        for verdict in value.report
    ]
    title = f"<p><strong>Recall</strong> · {len(value.as_context()):,} characters</p>"
    return title + (_table(("Name", "Type", "Outcome", "Why"), rows) if rows else "")


@_not_typeset
def scope(value: ScopeReader) -> str:
    """Return whose shelf it is and what stands first on it."""
    shelf = value.agent or value.principal
    first = value.list(limit=SHOWN_ROWS)
    title = f"<p><strong>{_text(str(shelf))}</strong> · acting as {_text(str(value.caller))}</p>"
    return title + _list(first, first.total)


@_not_typeset
def store(value: MemoryStore) -> str:
    """Return where the store is, and its principals with their agents."""
    rows = [
        (each.name, each.kind, ", ".join(agent.name for agent in value.agents.owned_by(each)))
        for each in value.principals.everyone()
    ]
    title = f"<p><strong>MemoryStore</strong> · {_text(value.location)}</p>"
    return title + _table(("Principal", "Kind", "Agents"), rows)


def _list(heads: Sequence[MemoryHead], total: int) -> str:
    if not total:
        return "<p>No memories.</p>"
    rows = [
        (head.name, head.type, head.summary or "", ", ".join(head.tags), f"{head.updated_at:%F %R}")
        for head in heads
    ]
    more = f"<p>… and {total - len(rows)} more.</p>" if total > len(rows) else ""
    return _table(("Name", "Type", "Summary", "Tags", "Updated (UTC)"), rows) + more


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{_text(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: str) -> str:
    return escape(reveal(value))
