"""What every command shares: which store and shelf, how it answers, how a refusal ends."""

from __future__ import annotations

import getpass
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import TracebackType
from typing import Annotated, Final, NamedTuple, Self

import typer

from memories_sdk.characters import reveal
from memories_sdk.cli.refusals import INTERRUPTED, near, one_line, refuse
from memories_sdk.errors import InvalidInput, MemoriesError, NotFound
from memories_sdk.memory import Memory
from memories_sdk.principals import Principal, chosen
from memories_sdk.scope import Scope
from memories_sdk.store import MemoryStore

SOURCE: Final = "command line"


class Answer(NamedTuple):
    """What a command gives.

    Attributes:
        data: For `--json`, in the shape that the command declares.
        text: For people, without the last line break.
        code: The exit code.
        end: What is printed behind the text: nothing, where the text is a body to the byte.
    """

    data: object
    text: str
    code: int = 0
    end: str = "\n"


class Command(NamedTuple):
    """A command as it is documented.

    Attributes:
        shape: The type of what `--json` prints.
    """

    name: str
    shape: object
    examples: Sequence[str]


StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH",
        envvar="MEMORIES_URL",
        help="The store: a path or a URL; else the one in your data folder.",
    ),
]
ActingOption = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="USER",
        envvar="MEMORIES_USER",
        help="Who acts; else your login name.",
    ),
]
PrincipalOption = Annotated[
    str | None,
    typer.Option("--principal", metavar="GROUP", help="The shelf of a group you are in."),
]
AgentOption = Annotated[
    str | None, typer.Option("--agent", metavar="NAME", help="The own shelf of an agent.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
TypeOption = Annotated[
    str | None, typer.Option("--type", "-t", metavar="TYPE", help="The type of the memory.")
]
LimitOption = Annotated[int, typer.Option("--limit", "-n", help="Most entries, 1 to 500.")]
CursorOption = Annotated[
    str | None, typer.Option("--cursor", help="The next_cursor of the page before.")
]
VersionOption = Annotated[
    int | None,
    typer.Option("--expected-version", help="Refuse unless this is the current version."),
]


class Shell:
    """One call of the program: its store, its shelf and where it prints."""

    def __init__(
        self,
        *,
        store: str | None,
        acting_as: str | None = None,
        principal: str | None = None,
        agent: str | None = None,
        json: bool = False,
    ) -> None:
        self.location = store or None
        self._acting_as = acting_as
        self._principal = principal
        self._agent = agent
        self.json = json

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if "store" in vars(self):
            self.store.close()

    @cached_property
    def store(self) -> MemoryStore:
        """The store, opened on first need."""
        return MemoryStore(self.location)

    @cached_property
    def caller(self) -> Principal:
        """The user who acts; one that was named must be there, the login name is made."""
        if self._acting_as is None:
            return self.store.principals.user(getpass.getuser())
        return self.principal("user", self._acting_as)

    @cached_property
    def owner(self) -> Principal:
        """As whom the caller acts: itself, or the group that was named."""
        if self._principal is None:
            return self.caller
        return chosen(self.store.principals.visible_to(self.caller), self._principal)

    @cached_property
    def shelf(self) -> Scope:
        """The shelf that the command works on."""
        return self.store.scope(
            acting_as=self.caller, principal=self.owner, agent=self._agent, source=SOURCE
        )

    def principal(self, kind: str, name: str) -> Principal:
        """Return a principal that is there.

        Raises:
            NotFound: It is not.
        """
        known = [each for each in self.store.principals.everyone() if each.kind == kind]
        for each in known:
            if each.name == name:
                return each
        suggestion = near(name, [each.name for each in known])
        raise NotFound(
            f"There is no {kind} {name!r} in this store.",
            suggestion=suggestion or f"Make one with: memories principals add {name}",
        )

    def find(self, name: str, type: str | None) -> Memory:
        """Return the memory of that name, of any type when only one has it, or of that id.

        Raises:
            NotFound: There is none.
            InvalidInput: Several types have it.
        """
        types = [each for vocabulary in self.shelf.vocabularies for each in vocabulary.types]
        found = []
        for each in types if type is None else [type]:
            try:
                found.append(self.shelf.get(name, each))
            except NotFound:
                continue
        if len(found) > 1:
            raise InvalidInput(
                f"{name!r} is the name of several memories.",
                field="type",
                suggestion=f"Say which: --type {' or '.join(it.type for it in found)}",
            )
        if found:
            return found[0]
        try:
            return self.shelf.get_by_id(name)
        except NotFound:
            names = [each.name for each in self.shelf.list(limit=500)]
            hint = near(name, names) or "memories list shows what is here."
            raise NotFound(f"There is no memory {name!r} here.", suggestion=hint) from None

    @contextmanager
    def progress(self, label: str) -> Iterator[Callable[[int, int | None], None]]:
        """Give a function that moves a bar on the error output of a terminal: done, and of what."""
        if self.json or not sys.stderr.isatty():
            yield lambda _done, _total: None
            return
        from rich.console import Console  # noqa: PLC0415 - it takes as long as all the rest
        from rich.progress import Progress  # noqa: PLC0415

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)

    def agreed(self, shown: str, question: str) -> None:
        """Show a person what is about to be written, and ask; a program goes on unasked.

        Raises:
            typer.Exit: They said no.
        """
        if self.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return
        typer.echo(reveal(shown), err=True)
        try:
            yes = typer.confirm(question, default=True, err=True)
        except typer.Abort:
            yes = False
        if not yes:
            raise typer.Exit(INTERRUPTED)

    def print(self, answer: Answer) -> None:
        """Print an answer; to a terminal, without characters that could steer it."""
        if self.json:
            # Escapes of JSON's own, where the output could not take the characters.
            escaped = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
            sys.stdout.write(json.dumps(answer.data, ensure_ascii=escaped, indent=2) + "\n")
            return
        text = answer.text
        if sys.stdout.isatty():
            text = reveal(text)
            if text and not text.endswith("\n"):
                text += "\n"
            sys.stdout.write(text)
            return
        # Bytes, since a text stream may write other line ends than the body has.
        sys.stdout.flush()
        sys.stdout.buffer.write((text + answer.end if text else text).encode())
        sys.stdout.buffer.flush()


COMMANDS: Final[dict[str, Command]] = {}
"""Every command by its full name, in the order of its making."""


def command(
    app: typer.Typer,
    name: str,
    *,
    shape: object,
    examples: Sequence[str],
    group: str = "",
    shelf: bool = True,
) -> Callable[[Callable[..., Answer]], Callable[..., None]]:
    """Make a command of a function that takes a `Shell` and the command's own options.

    Args:
        app: Where it goes.
        name: What it is called.
        shape: The type of what `--json` prints.
        examples: Calls for the help, the commonest first.
        group: The command it belongs to, such as "principals".
        shelf: Whether it works on a shelf, and not on the store as a whole.
    """
    full = f"{group} {name}".strip()
    COMMANDS[full] = Command(full, shape, tuple(examples))

    def register(function: Callable[..., Answer]) -> Callable[..., None]:
        def run(**options: object) -> None:
            with _shell(options) as shell:
                raise typer.Exit(_carry_out(shell, function, options))

        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        shared = _SHELF if shelf else _STORE
        signature = inspect.Signature([*own, *shared], return_annotation=None)
        run.__signature__ = signature  # type: ignore[attr-defined]  # Typer reads it
        run.__annotations__ = {each.name: each.annotation for each in signature.parameters.values()}
        lines = "\n".join(f"  memories {example}" for example in examples)
        about = inspect.cleandoc(function.__doc__ or "")
        text = f"{about}\n\n\b\nExamples:\n{lines}"
        app.command(name, help=text, short_help=about.splitlines()[0])(run)
        return run

    return register


def lines(texts: Iterable[str], *, otherwise: str) -> str:
    """Return one line for each text, or what to say when there is none."""
    return "\n".join(map(one_line, texts)) or otherwise


def _carry_out(shell: Shell, function: Callable[..., Answer], options: dict[str, object]) -> int:
    try:
        answer = function(shell, **options)
        shell.print(answer)
    except BrokenPipeError:
        sys.stderr.close()  # the reader has seen enough; Python would complain on its way out
        return 0
    except (MemoriesError, OSError) as error:
        return refuse(error, as_json=shell.json)
    except KeyboardInterrupt:
        print("memories: interrupted", file=sys.stderr)
        return INTERRUPTED
    return answer.code


def _shell(options: dict[str, object]) -> Shell:
    """Return the shell of a call, and leave the command's own options."""
    names = {each.name: each.name for each in _SHELF} | {"as_": "acting_as"}
    given = {names[name]: options.pop(name) for name in list(names) if name in options}
    return Shell(**given)  # type: ignore[arg-type]  # each option has the type of its annotation


def _option(name: str, annotation: object, default: object) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


_STORE: Final = [_option("store", StoreOption, None), _option("json", JsonOption, default=False)]
_SHELF: Final = [
    _option("as_", ActingOption, None),
    _option("principal", PrincipalOption, None),
    _option("agent", AgentOption, None),
    *_STORE,
]
