"""The panel: everything in one widget."""

from __future__ import annotations

from memories_sdk.results import Approval
from memories_sdk.widgets._bridge import verb
from memories_sdk.widgets.markdown_editor import MarkdownEditor
from memories_sdk.widgets.memory_list import MemoryList
from memories_sdk.widgets.principal_picker import PrincipalPicker
from memories_sdk.widgets.type_filter import TypeFilter


class MemoryPanel(PrincipalPicker, TypeFilter, MemoryList, MarkdownEditor):
    """Principal picker, scope switch, type filter, list and editor, wired together.

    It also shows what agents wait for: the approvals of everybody the caller may act as.

    Readable and observable: `principal_id`, `agent_id`, `filter`, `query`, `selected`, `dirty`.
    Setting one in Python moves the page.

    Example:
        >>> widgets.MemoryPanel(store, acting_as=alice)  # doctest: +SKIP
    """

    @verb("changes")
    def _changes(self, *, since: int | None) -> dict[str, object]:
        """Return what changed, and how many requests wait."""
        return {**super()._changes(since=since), "waiting": self._waiting()}

    @verb("requests")
    def _requests(self) -> list[dict[str, object]]:
        """Return the requests that wait for the caller, the oldest first."""
        return [_request_of(each) for each in self._store.approvals.list(acting_as=self._caller)]

    @verb("grant")
    def _grant(self, *, id: str) -> str:
        """Carry out what was asked for, exactly as it was shown; return what it gave."""
        result = self._store.approvals.grant(id, acting_as=self._caller)
        self._touched()
        return result.text

    @verb("refuse")
    def _refuse(self, *, id: str) -> None:
        """Decide that it is not carried out."""
        self._store.approvals.refuse(id, acting_as=self._caller)
        self._touched()

    def _signs(self) -> tuple[object, ...]:
        return (*super()._signs(), self._waiting())

    def _waiting(self) -> int:
        return self._store.approvals.count(acting_as=self._caller)


def _request_of(approval: Approval) -> dict[str, object]:
    return {
        "id": str(approval.id),
        "actor": approval.actor,
        "description": approval.description,
        "preview": approval.preview,
        "at": approval.created_at.isoformat() if approval.created_at else "",
        "until": approval.expires_at.isoformat() if approval.expires_at else "",
    }
