"""Where a widget looks: who acts, as whom, on which shelf. All rules stay in the store."""

from __future__ import annotations

import difflib
import html
import inspect
from typing import TYPE_CHECKING, Final

import traitlets

from memories_sdk import display
from memories_sdk.characters import reveal
from memories_sdk.errors import MemoriesError
from memories_sdk.principals import Agent, Principal, chosen
from memories_sdk.widgets._bridge import Bridge, verb
from memories_sdk.widgets._watch import WATCH

if TYPE_CHECKING:
    from memories_sdk.history import Revision
    from memories_sdk.scope import Scope
    from memories_sdk.store import MemoryStore

SHARED: Final = (
    "principal_id",
    "agent_id",
    "filter",
    "grouped",
    "query",
    "selected",
    "revision",
)
"""The traits that `wire` keeps in step."""

MAX_CHANGES: Final = 200
STATIC_ROWS: Final = 50


class Placed(Bridge):
    """A widget bound to a store and to who acts in it.

    Attributes:
        principal_id: As whom: an id of the caller's visible set.
        agent_id: Whose own shelf is open, or None for the principal's global shelf.
        revision: Rises whenever this widget changed something.
    """

    principal_id = traitlets.Int().tag(sync=True)
    agent_id = traitlets.Int(None, allow_none=True).tag(sync=True)
    revision = traitlets.Int(0).tag(sync=True)
    heard = traitlets.Int(0).tag(sync=True)  # marimo looks for what the page writes; see marimo.ts

    _seen: object = None

    def __init__(
        self,
        store: MemoryStore,
        *,
        acting_as: Principal,
        principal: Principal | None = None,
        agent: Agent | str | int | None = None,
        **unknown: object,
    ) -> None:
        if unknown:
            raise TypeError(_advice(type(self), next(iter(unknown))))
        scope = store.scope(acting_as=acting_as, principal=principal, agent=agent)
        self._store = store
        self._caller = acting_as
        super().__init__()
        with self.hold_sync():
            self.principal_id = scope.principal.id
            self.agent_id = None if scope.agent is None else scope.agent.id

    @property
    def scope(self) -> Scope:
        """The shelf that is open, bound to who acts.

        Raises:
            AccessDenied: The caller may not act as that principal, or not any more.
            NotFound: The agent is not the principal's, or not any more.
        """
        return self._scope_of(self.principal_id, self.agent_id)

    @verb("changes")
    def _changes(self, *, since: int | None) -> dict[str, object]:
        """Return the ids of memories that changed after `since`, and the place reached.

        `pushed` says that the page need not ask again soon: `revision` rises when it should.
        """
        pushed = WATCH.extend(self)
        if since is None:
            return {"seq": self._seq(), "ids": [], "more": False, "pushed": pushed}
        found = self.scope.changes(since=since, limit=MAX_CHANGES)
        ids = {str(each.memory_id) for each in found if each.memory_id is not None}
        return {
            "seq": found[-1].seq if found else since,
            "ids": sorted(ids),
            # A reorder names no memory: any of them may have moved.
            "more": len(found) == MAX_CHANGES or any(each.memory_id is None for each in found),
            "pushed": pushed,
        }

    def look(self) -> None:
        """Tell the page when the shelf changed, or was closed, since the last look."""
        try:
            now: object = self._signs()
        except MemoriesError as refusal:
            now = refusal.code
        with self._turn:
            if now != self._seen and self._seen is not None:
                self.revision += 1
            self._seen = now

    def close(self) -> None:
        """Let go of the page; the widget answers nothing any more."""
        WATCH.drop(self)
        self.unobserve_all()
        super().close()

    def __repr__(self) -> str:
        try:
            shelf = str(self.scope.agent or self.scope.principal)
        except MemoriesError:
            shelf = "a closed shelf"
        return f"<{self._kind()} {shelf} acting as {self._caller}>"

    def _repr_mimebundle_(self, **options: object) -> tuple[dict[str, object], dict[str, object]]:
        """Add a static list, which viewers without a kernel show instead of the widget."""
        made = super()._repr_mimebundle_(**options)  # type: ignore[arg-type]  # unused by anywidget
        data, metadata = made or ({}, {})
        return {**data, "text/html": display.not_typeset(self._static())}, metadata

    def _scope_of(self, principal_id: int, agent_id: int | None) -> Scope:
        return self._store.scope(
            acting_as=self._caller,
            principal=self._principal(principal_id),
            agent=agent_id,
            source="panel",
        )

    def _signs(self) -> tuple[object, ...]:
        """Return what is another one after each change that the page should hear of."""
        return (self.scope.key, self._seq())

    def _seq(self) -> int:
        newest = self.scope.history(limit=1)
        return newest[0].seq if newest else 0

    def _principal(self, id: int) -> Principal:
        return chosen(self._store.principals.visible_to(self._caller), id)

    def _touched(self) -> None:
        """Tell the other views, and the widgets wired to this one, that something changed."""
        self.revision += 1

    def _static(self) -> str:
        try:
            page = self.scope.list(limit=STATIC_ROWS)
        except MemoriesError as refusal:
            return f"<p>{html.escape(refusal.message)}</p>"
        items = "".join(
            f"<li><strong>{html.escape(reveal(head.name))}</strong> ({html.escape(head.type)})</li>"
            for head in page
        )
        more = f"<li>… and {page.total - len(page):,} more</li>" if page.total > len(page) else ""
        title = f"{html.escape(str(self.scope.agent or self.scope.principal))}: {page.total:,}"
        return f"<p>Memories of {title}</p><ol>{items}{more}</ol>"


def wire(*widgets: Placed) -> None:
    """Keep what the widgets share in step: place, filter, search, selection, and news of changes.

    The first widget's state wins. The links last as long as the widgets.
    """
    first, *rest = widgets
    for trait in SHARED:
        holders = [each for each in (first, *rest) if each.has_trait(trait)]
        for other in holders[1:]:
            traitlets.link((holders[0], trait), (other, trait))


def revision_of(revision: Revision) -> dict[str, object]:
    """Return what a line of the history shows."""
    return {
        "id": str(revision.memory_id),
        "version": revision.version,
        "action": revision.action,
        "actor": revision.actor,
        "source": revision.source,
        "at": revision.at.isoformat(),
        "name": revision.name,
        "type": revision.type,
    }


def _advice(kind: type, name: str) -> str:
    known = [
        each
        for each, parameter in inspect.signature(Placed.__init__).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(known)}."
    return f"{kind.__name__}() has no option {name!r}; {hint}"
