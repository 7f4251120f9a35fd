"""What other programs may add to a store: guards that look at each write, listeners to changes.

```python
from memories_sdk.hooks import hookimpl

class Diary:
    @hookimpl
    def memory_changed(self, changes):
        for revision in changes:
            print(revision)

store.plugins.register(Diary())
```

An installed package adds its plugin to every store by an entry point in the group `memories_sdk`.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Final

import pluggy

from memories_sdk.errors import MemoriesError, WriteRefused
from memories_sdk.guards import Concern, secrets
from memories_sdk.history import Revision
from memories_sdk.memory import Vocabulary

logger = logging.getLogger(__name__)

GROUP: Final = "memories_sdk"
SECRETS: Final = "secrets"
"""Name of the built-in plugin that looks for credentials."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)
"""Marks the function of a plugin that implements a hook."""


@dataclass(frozen=True, slots=True)
class Write:
    """What a verb is about to store.

    Attributes:
        shelf: Key of the shelf, `global:<principal>` or `agent:<agent>`.
        actor: Who writes, such as `user:alice` or `agent:writer`.
        type: The memory's type.
        texts: What is new of "name", "content", "summary" and "tags" (a line each).
    """

    shelf: str
    actor: str
    type: str
    texts: Mapping[str, str]


class Hooks:
    """The hooks there are; a plugin implements those it needs, with the arguments it needs."""

    @hookspec
    def write_guard(self, write: Write) -> Iterable[Concern] | None:
        """Return what must not be stored of a write, or nothing.

        Called before the store is locked, so it may take its time. A concern refuses the write on
        a guarded shelf (of facts), or everywhere when it says so; else it is reported. A guard
        that raises refuses the write.
        """

    @hookspec
    def memory_changed(self, changes: Sequence[Revision]) -> None:
        """Hear of a change that was committed, with all its parts in order.

        Only changes of this process; `scope.changes()` and `watch()` show those of others too.
        What it raises is logged and changes nothing.
        """


class SecretGuard:
    """The built-in guard: credentials by their shape."""

    @hookimpl
    def write_guard(self, write: Write) -> list[Concern]:
        """Return the secrets in the texts of a write."""
        return secrets(write.texts)


class Plugins:
    """The plugins of one store: `store.plugins`. The built-in guard and installed ones are in."""

    def __init__(self) -> None:
        self._manager = pluggy.PluginManager(GROUP)
        self._manager.add_hookspecs(Hooks)
        self.register(SecretGuard(), name=SECRETS)
        for name, plugin in _installed():
            self.register(plugin, name=name)

    def __repr__(self) -> str:
        return f"<Plugins {', '.join(self.names())}>"

    def register(self, plugin: object, *, name: str | None = None) -> None:
        """Add a plugin: an object or module with functions marked by `hookimpl`.

        Raises:
            ValueError: It, or another of that name, is registered already.
        """
        self._manager.register(plugin, name=name)
        self._manager.check_pending()

    def unregister(self, name: str) -> None:
        """Take a plugin away, such as `"secrets"`, the built-in guard.

        Raises:
            ValueError: There is none of that name.
        """
        if not self._manager.has_plugin(name):
            msg = f"no plugin is named {name!r}"
            raise ValueError(msg)
        self._manager.unregister(name=name)

    def names(self) -> list[str]:
        """Return the names of the plugins, in the order in which they came."""
        return [name for name, _ in self._manager.list_name_plugin()]

    @property
    def listening(self) -> bool:
        """Whether anybody hears of changes."""
        return bool(self._manager.hook.memory_changed.get_hookimpls())

    @property
    def foreign(self) -> bool:
        """Whether another guard than the built-in one looks at writes."""
        guards = self._manager.hook.write_guard.get_hookimpls()
        return any(not isinstance(guard.plugin, SecretGuard) for guard in guards)

    def concerns(self, write: Write) -> list[Concern]:
        """Return what all guards found in a write.

        Raises:
            WriteRefused: A guard failed: what nobody looked at is not let through.
        """
        try:
            answers = self._manager.hook.write_guard(write=write)
            return [concern for answer in answers for concern in answer]
        except MemoriesError:
            raise
        except Exception as error:
            logger.exception("a write guard failed")
            unseen = Concern("something that a guard failed on", "content", refuse=True)
            raise WriteRefused([unseen]) from error

    def admit(self, write: Write, vocabulary: Vocabulary) -> None:
        """Let a write pass, or not.

        Raises:
            WriteRefused: A guard found what must not be stored there, or failed.
        """
        if not vocabulary.guarded and not self.foreign:
            return  # the built-in guard refuses nothing there: `inspect` asks it
        found = self.concerns(write)
        if refused := [each for each in found if each.refuse or vocabulary.guarded]:
            raise WriteRefused(refused)

    def announce(self, changes: Sequence[Revision]) -> None:
        """Tell each listener of changes that are committed. Never raises."""
        known = {"changes": changes}
        for listener in self._manager.hook.memory_changed.get_hookimpls():
            # One by one: through the manager, one that raises would silence those after it.
            try:
                listener.function(*(known[name] for name in listener.argnames))
            except Exception:
                logger.exception("a listener to changes failed: %s", listener.plugin_name)


@cache
def _installed() -> tuple[tuple[str, object], ...]:
    """Return the plugins of installed packages; reading all their metadata takes a while."""
    found = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            plugin = point.load()
        except Exception as error:
            # Left out, a guard would be missing and nobody would know.
            raise MemoriesError(
                f"The plugin {point.name!r} cannot be loaded: {error}",
                suggestion=f"Mend it, or uninstall the package that brings {point.value}.",
            ) from error
        found.append((point.name, plugin() if inspect.isclass(plugin) else plugin))
    return tuple(found)
