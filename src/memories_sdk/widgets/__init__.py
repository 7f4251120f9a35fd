"""Memories in a notebook: five widgets that stand alone and compose.

    from memories_sdk import widgets
    widgets.MemoryPanel(store, acting_as=alice)

`PrincipalPicker`, `TypeFilter`, `MemoryList` and `MarkdownEditor` are the parts; `MemoryPanel` is
the four wired into one. `wire(...)` makes separate widgets share what is chosen in any of them.
Needs the extra: `pip install "memories-sdk[widgets]"`.
"""

from memories_sdk.errors import MissingExtra

try:
    from memories_sdk.widgets._place import wire
    from memories_sdk.widgets.markdown_editor import MarkdownEditor
    from memories_sdk.widgets.memory_list import MemoryList
    from memories_sdk.widgets.memory_panel import MemoryPanel
    from memories_sdk.widgets.principal_picker import PrincipalPicker
    from memories_sdk.widgets.type_filter import TypeFilter
except ModuleNotFoundError as missing:
    if missing.name not in {"anywidget", "ipywidgets", "traitlets"}:
        raise
    raise MissingExtra("memories_sdk.widgets", "widgets") from missing

__all__ = [
    "MarkdownEditor",
    "MemoryList",
    "MemoryPanel",
    "PrincipalPicker",
    "TypeFilter",
    "wire",
]
