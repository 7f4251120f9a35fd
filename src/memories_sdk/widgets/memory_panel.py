"""The panel: everything in one widget."""

from __future__ import annotations

from memories_sdk.widgets.markdown_editor import MarkdownEditor
from memories_sdk.widgets.memory_list import MemoryList
from memories_sdk.widgets.principal_picker import PrincipalPicker
from memories_sdk.widgets.type_filter import TypeFilter


class MemoryPanel(PrincipalPicker, TypeFilter, MemoryList, MarkdownEditor):
    """Principal picker, scope switch, type filter, list and editor, wired together.

    Readable and observable: `principal_id`, `agent_id`, `filter`, `query`, `selected`, `dirty`.
    Setting one in Python moves the page.

    Example:
        >>> widgets.MemoryPanel(store, acting_as=alice)  # doctest: +SKIP
    """
