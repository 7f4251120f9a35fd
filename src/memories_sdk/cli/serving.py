"""Commands around the server: serve, and the tokens that callers prove themselves with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, TypedDict

import typer

from memories_sdk.cli.shell import Answer, Shell, command, lines
from memories_sdk.errors import InvalidInput, MissingExtra
from memories_sdk.tokens import Access, Token

app = typer.Typer()
tokens = typer.Typer(help="What callers of the server prove themselves with.", no_args_is_help=True)


class TokenShape(TypedDict):
    """A token without its secret; `principal` is None for all that the user may act as."""

    id: str
    user: str
    principal: str | None
    access: str
    label: str
    created_at: str
    expires_at: str | None
    revoked_at: str | None


class TokensShape(TypedDict):
    """The tokens of the store, the oldest first."""

    tokens: list[TokenShape]


class IssuedShape(TypedDict):
    """A new token, and its secret, which is shown this once."""

    token: TokenShape
    secret: str


class RevokedShape(TypedDict):
    """The token that was taken back."""

    revoked: str


class ServedShape(TypedDict):
    """Where the store was served, until it was told to stop."""

    host: str
    port: int


@command(
    app,
    "serve",
    shape=ServedShape,
    examples=("serve", "serve --port 9000", "serve --host 0.0.0.0 --allow-host memories.example"),
    shelf=False,
)
def serve(
    shell: Shell,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port.")] = 8642,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name with a dot by which it may be called."),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="A proxy that may say where a request came from."),
    ] = None,
) -> Answer:
    """Serve the store over HTTP, on this machine alone unless --host says otherwise.

    It does not start before there is a token: see `memories token create`.
    """
    try:
        from memories_sdk.server.serving import serve as run  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MissingExtra("memories serve", "server") from error
    run(shell.store, host=host, port=port, hosts=allow_host or (), proxies=proxy or ())
    return Answer(ServedShape(host=host, port=port), "Stopped.")


@command(
    tokens,
    "create",
    group="token",
    shape=IssuedShape,
    examples=("token create alice", "token create alice --write --days 30 --label notebook"),
    shelf=False,
)
def create(
    shell: Shell,
    user: Annotated[str, typer.Argument(help="Who acts with it.")],
    principal: Annotated[
        str | None,
        typer.Option(metavar="GROUP", help="The one group it may act as; else all of the user's."),
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="It may write, too.")] = False,  # noqa: FBT002
    label: Annotated[str, typer.Option(help="What it is for.")] = "",
    days: Annotated[int, typer.Option(min=0, help="When it ends; 0 for never.")] = 90,
) -> Answer:
    """Make a token and print its secret, this once."""
    access: Access = "write" if write else "read"
    try:
        ends = datetime.now(UTC) + timedelta(days=days) if days else None
    except OverflowError:
        raise InvalidInput("days is too large.", field="days", suggestion="--days 0") from None
    issued = shell.store.tokens.issue(
        shell.principal("user", user),
        principal=None if principal is None else shell.principal("group", principal),
        access=access,
        label=label,
        expires_at=ends,
    )
    shown = IssuedShape(token=_shape(issued.token), secret=issued.secret)
    return Answer(shown, issued.secret)


@command(tokens, "list", group="token", shape=TokensShape, examples=("token list",), shelf=False)
def show(shell: Shell) -> Answer:
    """List tokens, without their secrets."""
    found = [_shape(each) for each in shell.store.tokens.all()]
    text = lines(map(_line, found), otherwise="No tokens.")
    return Answer(TokensShape(tokens=found), text)


@command(
    tokens,
    "revoke",
    group="token",
    shape=RevokedShape,
    examples=("token revoke 01a22f0c-f724-7322-853f-d1424b84dda0",),
    shelf=False,
)
def revoke(shell: Shell, id: Annotated[str, typer.Argument(help="The token.")]) -> Answer:
    """Take a token back, and all sessions that were opened with it."""
    shell.store.tokens.revoke(id)
    return Answer(RevokedShape(revoked=id), f"Revoked token {id}.")


def _shape(token: Token) -> TokenShape:
    return TokenShape(
        id=str(token.id),
        user=token.user.name,
        principal=None if token.principal is None else token.principal.name,
        access=token.access,
        label=token.label,
        created_at=token.created_at.isoformat(),
        expires_at=None if token.expires_at is None else token.expires_at.isoformat(),
        revoked_at=None if token.revoked_at is None else token.revoked_at.isoformat(),
    )


def _line(token: TokenShape) -> str:
    whose = token["user"] + (f" as {token['principal']}" if token["principal"] else "")
    state = "revoked" if token["revoked_at"] else f"until {token['expires_at'] or 'revoked'}"
    label = f" — {token['label']}" if token["label"] else ""
    return f"{token['id']} {whose} {token['access']} {state}{label}"
