"""Memories that agents and people keep together: typed markdown documents on shelves.

Start with `MemoryStore`; reach memories through `store.scope(acting_as=…)`; give agents
`MemoryTools`; curate by hand with `memories_sdk.widgets.MemoryPanel`.
"""

from memories_sdk.edits import Edit
from memories_sdk.errors import (
    AccessDenied,
    Conflict,
    EditConflict,
    InvalidInput,
    MemoriesError,
    NotFound,
    StorageError,
)
from memories_sdk.memory import DERIVED, DOCUMENTS, FACTS, Memory, MemoryHead, Vocabulary
from memories_sdk.principals import Agent, Principal
from memories_sdk.quota import Quota
from memories_sdk.scope import Scope
from memories_sdk.sides import MemoryReader, MemoryWriter
from memories_sdk.store import MemoryStore
from memories_sdk.tools import MemoryTools, ToolResult

__version__ = "0.1.0"

__all__ = [
    "DERIVED",
    "DOCUMENTS",
    "FACTS",
    "AccessDenied",
    "Agent",
    "Conflict",
    "Edit",
    "EditConflict",
    "InvalidInput",
    "MemoriesError",
    "Memory",
    "MemoryHead",
    "MemoryReader",
    "MemoryStore",
    "MemoryTools",
    "MemoryWriter",
    "NotFound",
    "Principal",
    "Quota",
    "Scope",
    "StorageError",
    "ToolResult",
    "Vocabulary",
]
