"""Commands on the store as a whole: principals, agents, verify, backup, eval."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypedDict

import typer

from memories_sdk.cli.refusals import PARTLY
from memories_sdk.cli.shell import Answer, Shell, command, lines
from memories_sdk.errors import InvalidInput
from memories_sdk.evaluation import evaluate, read_questions
from memories_sdk.principals import ROLES, Agent, Principal

app = typer.Typer()
principals = typer.Typer(help="Users and groups.", no_args_is_help=True)
agents = typer.Typer(help="Agents and their owners.", no_args_is_help=True)


class PrincipalShape(TypedDict):
    """A user or a group; `members` are the roles in a group, by user."""

    id: int
    kind: str
    name: str
    members: dict[str, str]


class PrincipalsShape(TypedDict):
    """All principals, users first."""

    principals: list[PrincipalShape]


class AgentShape(TypedDict):
    """An agent and its owner, as `user:name` or `group:name`."""

    id: int
    name: str
    owner: str


class AgentsShape(TypedDict):
    """The agents of a principal, by name."""

    agents: list[AgentShape]


class FindingShape(TypedDict):
    """One thing that is not as it was written."""

    damage: str
    text: str
    shelf: str | None


class VerifyShape(TypedDict):
    """What is damaged; an empty list proves the store intact."""

    findings: list[FindingShape]


class SymptomShape(TypedDict):
    """One thing that a store has; grave where something is lost or may be."""

    check: str
    grave: bool
    text: str
    advice: str
    repaired: bool


class DoctorShape(TypedDict):
    """What the store has, grave things first."""

    symptoms: list[SymptomShape]


class BackupShape(TypedDict):
    """Where the copy is, and its size in bytes."""

    path: str
    size: int


class EvalShape(TypedDict):
    """How well a shelf answered, as means over the questions."""

    questions: int
    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    ndcg: float
    budgeted: float
    precision: float
    overruns: int
    search_ms: float
    prompt_ms: float


OwnerNameArgument = Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")]


@command(
    principals,
    "list",
    group="principals",
    shape=PrincipalsShape,
    shelf=False,
    examples=["principals list"],
)
def principals_list(shell: Shell) -> Answer:
    """List users and groups, and who is in each group."""
    found = [_principal(shell, each) for each in shell.store.principals.everyone()]
    shown = (
        f"{each['kind']}:{each['name']}"
        + "".join(f"\n    {name} ({role})" for name, role in each["members"].items())
        for each in found
    )
    return Answer({"principals": found}, "\n".join(shown) or "Nobody is here yet.")


@command(
    principals,
    "add",
    group="principals",
    shape=PrincipalShape,
    shelf=False,
    examples=["principals add alice", "principals add lab --group --member alice --member bob"],
)
def principals_add(
    shell: Shell,
    *,
    name: OwnerNameArgument,
    group: Annotated[bool, typer.Option("--group", help="A group, and not a user.")] = False,
    member: Annotated[
        list[str] | None,
        typer.Option(help="A user of the group; may be repeated. The first owns a new one."),
    ] = None,
    role: Annotated[str | None, typer.Option(help=f"Their role: {', '.join(ROLES)}.")] = None,
) -> Answer:
    """Add a user, or a group with its members; one that is there stays."""
    if not group and (member or role):
        raise InvalidInput("Only a group has members.", field="member", suggestion="--group")
    if not group:
        return _answer(shell, shell.store.principals.user(name))
    users = [shell.principal("user", each) for each in member or []]
    made = shell.store.principals.group(name, members=users)
    for user in users if role is not None else []:
        shell.store.principals.add_member(made, user, role=role)  # type: ignore[arg-type]  # it checks
    return _answer(shell, made)


@command(
    principals,
    "remove-member",
    group="principals",
    shape=PrincipalShape,
    shelf=False,
    examples=["principals remove-member lab bob"],
)
def principals_remove(
    shell: Shell,
    *,
    group: Annotated[str, typer.Argument(help="The group.")],
    user: Annotated[str, typer.Argument(help="Who leaves it.")],
) -> Answer:
    """Take a user out of a group."""
    found = shell.principal("group", group)
    shell.store.principals.remove_member(found, shell.principal("user", user))
    return _answer(shell, found)


@command(
    agents,
    "list",
    group="agents",
    shape=AgentsShape,
    examples=["agents list", "agents list --principal lab"],
)
def agents_list(shell: Shell) -> Answer:
    """List the agents of a principal."""
    found = [_agent(each, shell.owner) for each in shell.store.agents.owned_by(shell.owner)]
    shown = (f"{each['name']} ({each['owner']})" for each in found)
    return Answer({"agents": found}, lines(shown, otherwise="No agents yet."))


@command(
    agents,
    "add",
    group="agents",
    shape=AgentShape,
    examples=["agents add writer", "agents add librarian --principal lab"],
)
def agents_add(shell: Shell, *, name: OwnerNameArgument) -> Answer:
    """Add an agent; one that is there stays."""
    made = _agent(shell.store.agents.ensure(name, owner=shell.owner), shell.owner)
    return Answer(made, f"{made['name']} belongs to {made['owner']}.")


@command(
    agents,
    "transfer",
    group="agents",
    shape=AgentShape,
    examples=["agents transfer writer lab", "agents transfer librarian alice --principal lab"],
)
def agents_transfer(
    shell: Shell,
    *,
    name: OwnerNameArgument,
    to: Annotated[str, typer.Argument(metavar="TO", help="The new owner: a user or a group.")],
) -> Answer:
    """Give an agent to another principal; its own memories go with it."""
    agent = shell.store.agents.get(name, owner=shell.owner)
    owner = next(
        (each for each in shell.store.principals.everyone() if to in (each.name, str(each))), None
    )
    if owner is None:
        owner = shell.principal("user", to)
    moved = shell.store.agents.transfer(agent, to=owner, acting_as=shell.caller)
    return Answer(_agent(moved, owner), f"{moved.name} belongs to {owner}.")


@command(app, "verify", shape=VerifyShape, shelf=False, examples=["verify", "verify --json"])
def verify(shell: Shell) -> Answer:
    """Prove that the store holds what was written; end with 7 when it does not."""
    found = shell.store.verify()
    data = {
        "findings": [
            {"damage": each.damage, "text": each.text, "shelf": each.shelf} for each in found
        ]
    }
    text = lines(map(str, found), otherwise="Everything is as it was written.")
    return Answer(data, text, PARTLY if found else 0)


@command(
    app, "doctor", shape=DoctorShape, shelf=False, examples=["doctor", "doctor --repair --json"]
)
def doctor(
    shell: Shell,
    *,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what loses nothing by being mended.")
    ] = False,
) -> Answer:
    """Look the store over, its file and its surroundings; end with 7 where something is grave."""
    found = shell.store.doctor(repair=repair)
    symptoms = [
        {name: getattr(each, name) for name in SymptomShape.__annotations__} for each in found
    ]
    text = lines(map(str, found), otherwise="Nothing is wrong.")
    grave = any(each.grave and not each.repaired for each in found)
    return Answer({"symptoms": symptoms}, text, PARTLY if grave else 0)


@command(app, "backup", shape=BackupShape, shelf=False, examples=["backup memories-copy.db"])
def backup(
    shell: Shell,
    *,
    path: Annotated[Path, typer.Argument(help="A file that does not exist yet.")],
) -> Answer:
    """Copy the store to a new file, of one moment, while others go on writing."""
    shell.store.backup(path)
    size = path.stat().st_size
    return Answer({"path": str(path), "size": size}, f"Copied to {path} ({size:,} bytes).")


@command(
    app, "eval", shape=EvalShape, examples=["eval questions.jsonl", "eval questions.jsonl --json"]
)
def evaluation(
    shell: Shell,
    *,
    questions: Annotated[
        Path, typer.Argument(help='JSON lines: {"question": "…", "evidence": ["name", …]}.')
    ],
    limit: Annotated[int, typer.Option("--limit", "-n", help="Most memories.")] = 8,
    max_chars: Annotated[int, typer.Option(help="Most characters of the block.")] = 1200,
) -> Answer:
    """Measure how well a shelf finds what answers known questions."""
    asked = read_questions(questions)
    result = evaluate(shell.shelf, asked, limit=limit, max_chars=max_chars)
    data = {name: getattr(result, name) for name in EvalShape.__annotations__}
    return Answer(data, result.table)


def _answer(shell: Shell, principal: Principal) -> Answer:
    return Answer(_principal(shell, principal), f"{principal} is here.")


def _principal(shell: Shell, each: Principal) -> PrincipalShape:
    roles = shell.store.principals.roles(each) if each.kind == "group" else {}
    members: dict[str, str] = {user.name: role for user, role in roles.items()}
    return {"id": each.id, "kind": each.kind, "name": each.name, "members": members}


def _agent(agent: Agent, owner: Principal) -> AgentShape:
    return {"id": agent.id, "name": agent.name, "owner": str(owner)}
