"""What other programs may add to a store: guards of writes, listeners, types, routes.

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final

import pluggy

from memories_sdk.errors import MemoriesError, PluginFailed, WriteRefused
from memories_sdk.guards import Concern, secrets
from memories_sdk.history import Revision
from memories_sdk.memory import DOCUMENTS, FACTS, Vocabulary

if TYPE_CHECKING:  # an annotation is no dependency
    from fastapi import FastAPI
    from starlette.requests import Request

    from memories_sdk.server import Caller
    from memories_sdk.store import MemoryStore

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
    def register_types(self) -> Iterable[Vocabulary] | None:
        """Return vocabularies for shelves to take, beside documents and facts.

        Asked when a store is opened without `vocabularies=`; no type may stand in two of them. A
        server offers what its own plugins register.
        """

    @hookspec
    def store_opening(self, store: MemoryStore) -> None:
        """Hear that a store was opened, before anybody else has it.

        Only plugins of installed packages hear it: others are registered afterwards. The store
        may be one behind a server, where only the server's own may make users and groups.
        """

    @hookspec
    def routes_registering(
        self, app: FastAPI, store: MemoryStore, caller: Callable[[Request], Caller]
    ) -> None:
        """Add routes to a server that is made: to `app`, which stands below `/plugins/<name>`.

        Whoever reaches them has passed the server's own gate: a token or a session, the right to
        write for any method that writes, the browser's CSRF token, and the size of the body.
        `caller(request)` returns who it is; a `MemoriesError` becomes the server's refusal.
        """

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
            try:
                self.register(plugin, name=name)
            except Exception as error:
                raise PluginFailed(name, f"cannot be registered: {error}") from error

    def __repr__(self) -> str:
        return f"<Plugins {', '.join(self.names())}>"

    def register(self, plugin: object, *, name: str | None = None) -> None:
        """Add a plugin: an object or module with functions marked by `hookimpl`.

        Raises:
            ValueError: It, or another of that name, is registered already, or it wraps a hook.
            pluggy.PluginValidationError: It implements a hook that there is not.
        """
        self._manager.register(plugin, name=name)
        try:
            self._manager.check_pending()
            self._check_unwrapped(plugin)
        except BaseException:
            self._manager.unregister(plugin)
            raise

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

    def vocabularies(self, chosen: Sequence[Vocabulary] | None = None) -> tuple[Vocabulary, ...]:
        """Return the chosen vocabularies; without a choice the usual ones and the plugins'.

        Raises:
            PluginFailed: A plugin failed, or offers what cannot stand beside the others.
        """
        if chosen is not None:
            return tuple(chosen)
        found = [DOCUMENTS, FACTS]
        for part in self._parts("register_types"):
            for vocabulary in part.start() or ():
                if not isinstance(vocabulary, Vocabulary):
                    raise PluginFailed(part.name, "offers types that are no Vocabulary")
                taken = {type for each in found for type in each.types}
                if twice := taken.intersection(vocabulary.types):
                    raise PluginFailed(part.name, f"offers a type twice: {', '.join(twice)}")
                found.append(vocabulary)
        return tuple(found)

    def opened(self, store: MemoryStore) -> None:
        """Tell the plugins of a store that was opened.

        Raises:
            PluginFailed: One of them failed; the store is closed.
        """
        try:
            for part in self._parts("store_opening"):
                part.start(store=store)
        except BaseException:
            store.close()
            raise

    def add_routes(
        self,
        place: Callable[[str], FastAPI],
        store: MemoryStore,
        caller: Callable[[Request], Caller],
    ) -> None:
        """Let the plugins add their routes to a server.

        Args:
            place: Returns where the routes of a plugin go, by its name.
            store: What is served.
            caller: Tells who makes a request.

        Raises:
            PluginFailed: One of them failed.
        """
        for part in self._parts("routes_registering"):
            part.start(app=place(part.name), store=store, caller=caller)

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
        found: list[Concern] = []
        for part in self._parts("write_guard"):
            try:
                found += part(write=write) or ()
            except MemoriesError:
                raise
            except Exception as error:
                logger.exception("a write guard failed: %s", part.name)
                unseen = Concern(f"something that {part.name!r} failed on", "content", refuse=True)
                raise WriteRefused([unseen]) from error
        return found

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
        for part in self._parts("memory_changed"):
            try:
                part(changes=changes)
            except Exception:
                logger.exception("a listener to changes failed: %s", part.name)

    def _check_unwrapped(self, plugin: object) -> None:
        for hook in self._manager.get_hookcallers(plugin) or ():
            for part in hook.get_hookimpls():
                if part.plugin is plugin and (part.wrapper or part.hookwrapper):
                    # Never run, it would be a guard that lets everything through.
                    msg = f"{hook.name} cannot be wrapped"
                    raise ValueError(msg)

    def _parts(self, hook: str) -> list[_Part]:
        """Return the functions behind a hook, in the order in which the plugins came.

        Each is called by itself: through the manager, nobody could tell which of them failed, and
        one that raises would silence those after it.
        """
        return [_Part(it) for it in getattr(self._manager.hook, hook).get_hookimpls()]


class _Part:
    """The function with which a plugin takes part in a hook.

    Attributes:
        name: Of the plugin.
    """

    def __init__(self, implementation: pluggy.HookImpl) -> None:
        self.name = implementation.plugin_name
        self._function = implementation.function
        self._wanted = implementation.argnames

    def __call__(self, **known: object) -> Any:  # noqa: ANN401 -- what the hook returns
        """Call it with those of the arguments that it takes."""
        return self._function(*(known[name] for name in self._wanted))

    def start(self, **known: object) -> Any:  # noqa: ANN401 -- the same
        """Call it while something starts.

        Raises:
            PluginFailed: It failed.
        """
        try:
            found = self(**known)
            return tuple(found) if isinstance(found, Iterator) else found  # a generator runs late
        except Exception as error:
            what = f"failed at the start, in {self._function.__name__}: {error}"
            raise PluginFailed(self.name, what) from error


@cache
def _installed() -> tuple[tuple[str, object], ...]:
    """Return the plugins of installed packages; reading all their metadata takes a while."""
    found = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            plugin = point.load()
            found.append((point.name, plugin() if inspect.isclass(plugin) else plugin))
        except Exception as error:
            # Left out, a guard would be missing and nobody would know.
            what = f"cannot be loaded from {point.value}: {error}"
            raise PluginFailed(point.name, what) from error
    return tuple(found)
