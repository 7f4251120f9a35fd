"""Narrowing a list to one type of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import traitlets

from memories_sdk.memory import FACTS
from memories_sdk.widgets._bridge import verb
from memories_sdk.widgets._place import Placed

if TYPE_CHECKING:
    from memories_sdk.scope import Scope


class TypeFilter(Placed):
    """A row of chips, one per type with its count.

    Attributes:
        filter: The type whose chip is pressed, or None.
        grouped: Whether the list puts memories of one type together.
    """

    filter = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    grouped = traitlets.Bool(default_value=False).tag(sync=True)

    @verb("types")
    def _types(self) -> dict[str, object]:
        return types_of(self.scope)

    @verb("narrow")
    def _narrow(self, *, type: str | None) -> None:
        """Show that type alone, or all for None."""
        if type is not None:
            self.scope.list(type=type, limit=1)  # the store knows which types there are
        self.filter = type

    @verb("group")
    def _group(self, *, on: bool) -> None:
        """Put memories of one type together, or list all in their order."""
        self.grouped = on


def types_of(scope: Scope) -> dict[str, object]:
    """Return the types in their order; facts only where the shelf holds any."""
    counts = scope.counts()
    return {
        "types": [
            {
                "name": type,
                "label": label,
                "count": counts[type],
                "limit": vocabulary.max_body,
                "unit": vocabulary.unit,
            }
            for vocabulary in scope.vocabularies
            if vocabulary != FACTS or any(counts[each] for each in vocabulary.types)
            for type, label in vocabulary.labels.items()
        ],
        "all": sum(counts.values()),
    }
