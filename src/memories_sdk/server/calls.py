"""A request once its caller is known: what was sent, and the shelf it is about."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from starlette.requests import Request

from memories_sdk.bound import unknown_id
from memories_sdk.edits import Edit
from memories_sdk.errors import EditConflict, InvalidInput, NotFound
from memories_sdk.memory import DERIVED, FACTS, Vocabulary
from memories_sdk.principals import Agent, Principal, chosen
from memories_sdk.scope import Scope
from memories_sdk.server.authentication import SAFE, Caller
from memories_sdk.server.replies import Refused
from memories_sdk.store import MemoryStore
from memories_sdk.wire import MEMORY_KEYS, Json

MAX_DEPTH: Final = 20
MAX_DIGITS: Final = 20
INTEGER_BITS: Final = 64
_POSITIVE: Final = re.compile(r"[1-9][0-9]{0,17}\Z")
NUMBER: Final = re.compile(r"-?[0-9]{1,18}\Z")
_ETAG: Final = re.compile(r'"v([1-9][0-9]{0,17})"\Z')
_TAGS: Final = re.compile(r'(?:W/)?"[^"]*"')
_TAG_LIST: Final = re.compile(rf"{_TAGS.pattern}(?:[ \t]*,[ \t]*{_TAGS.pattern})*\Z")
ANY: Final = "*"
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_NESTED: Final = re.compile(rb"[\[{]")
_EXTRAS: Final = ("tags", "pinned", "untrusted")


class Call:
    """One request.

    Attributes:
        query: The parameters behind the path; of a repeated one the last.
        caller: Who is calling.
        request: As it came.
        body: As it came.
    """

    def __init__(self, store: MemoryStore, request: Request, body: bytes, caller: Caller) -> None:
        self.store = store
        self.caller = caller
        self.query: Mapping[str, str] = request.query_params
        self.request = request
        self.body = body
        self._caught_up: int | None = None

    def check(self) -> None:
        """Refuse what no route would take.

        Raises:
            InvalidInput: The query is no text, or a write is bound to what it has not seen.
        """
        try:
            unquote_to_bytes(self.request.scope["query_string"]).decode()
        except ValueError:
            # Read with a guess in the place of a letter, it could name another memory.
            raise InvalidInput(
                "The query is no text in UTF-8.", field="query", suggestion="Escape it as UTF-8."
            ) from None
        if self.request.method not in SAFE and "if-none-match" in self.headers:
            raise InvalidInput(
                "If-None-Match is for reading.",
                field="If-None-Match",
                suggestion="POST makes a memory and never writes over one.",
            )

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, by name in lower case."""
        return self.request.headers

    @property
    def id(self) -> str:
        """The memory in the path, or an empty text."""
        return str(self.request.path_params.get("id", ""))

    @cached_property
    def given(self) -> dict[str, Any]:
        """The body, an object; an empty body is an empty one.

        Raises:
            Refused: It is no JSON, or no object.
        """
        if not self.body.strip():
            return {}
        value = _parsed(self.body)
        if not isinstance(value, dict):
            raise Refused(422, "VALIDATION_ERROR", "Request body must be a JSON object.")
        return value

    @cached_property
    def named_principal(self) -> Principal | None:
        """Whom `?principal_id=` names; None where it names nobody.

        Raises:
            InvalidInput: It is no id.
            AccessDenied: The caller may not act as that principal.
        """
        sent = self.query.get("principal_id", "")
        if not sent:
            return None
        if not _POSITIVE.match(sent):
            raise InvalidInput(
                "principal_id must be a positive integer.",
                field="principal_id",
                suggestion="Leave it out to act as yourself.",
            )
        return self._visible(int(sent))

    @cached_property
    def vocabularies(self) -> tuple[Vocabulary, ...]:
        """The types this request is about: documents, unless `?vocabularies=` names others.

        Raises:
            InvalidInput: There is no vocabulary of that name.
        """
        known = self.store.vocabularies
        if not (sent := self.query.get("vocabularies")):
            return tuple(each for each in known if each.name != FACTS.name) or known
        wanted = sent.split(",")
        found = tuple(each for each in known if each.name in wanted)
        if len(found) != len(wanted):
            raise InvalidInput(
                f"vocabularies must be some of: {', '.join(each.name for each in known)}",
                field="vocabularies",
                suggestion="Part them by commas, and name each once.",
            )
        return found

    @cached_property
    def scope(self) -> Scope:
        """The shelf of this request.

        Raises:
            AccessDenied: The caller may not act as that principal.
            NotFound: The agent does not exist, or belongs to somebody else.
        """
        return self.shelf(self.vocabularies)

    def shelf(
        self, vocabularies: tuple[Vocabulary, ...], principal: Principal | None = None
    ) -> Scope:
        """Return the shelf of this request for these types."""
        named = principal or self.named_principal or self.caller.principal
        agent = None
        if (sent := self.request.path_params.get("agent_id")) is not None:
            agent = self._agent(sent, named)
            named = self.store.principals.get(agent.principal_id)
        scope = self.store.scope(
            acting_as=self.caller.user,
            principal=named,
            agent=agent,
            vocabularies=vocabularies,
            source=self.headers.get("x-memories-source") or "rest",
        )
        key = self.headers.get("idempotency-key")
        return scope if key is None or self.request.method in SAFE else scope.once(key)

    def other(self, principal_id: int | None, agent_id: int | None) -> Scope:
        """Return another shelf that the caller reaches.

        Raises:
            AccessDenied: The caller may not act as that principal.
            NotFound: The agent does not exist, or belongs to somebody else.
        """
        owner = self.caller.principal
        if principal_id is not None:
            owner = self._visible(principal_id)
        agent = None if agent_id is None else self._agent(str(agent_id), owner)
        if agent is not None:
            owner = self.store.principals.get(agent.principal_id)
        return self.store.scope(
            acting_as=self.caller.user, principal=owner, agent=agent, source="rest"
        )

    def _visible(self, id: int) -> Principal:
        visible = self.store.principals.visible_to(self.caller.user)
        return chosen((each for each in visible if self.caller.principal in {None, each}), id)

    def _agent(self, sent: str, owner: Principal | None) -> Agent:
        """Return the agent in the path, of this owner or of anybody the caller may act as."""
        with suppress(NotFound):
            agent = self.store.agents.seen_by(
                int(sent) if _POSITIVE.match(sent) else 0, self.caller.user
            )
            if owner is None or agent.principal_id == owner.id:
                return agent
        raise unknown_id()  # Spora's words for whatever is missing

    @property
    def type(self) -> str | None:
        """The type in the query; an empty one is none."""
        return self.query.get("type") or None

    @property
    def expected_version(self) -> int | None:
        """The version the caller saw, from `If-Match` or the body; of several the newest.

        Raises:
            InvalidInput: `If-Match` names none, and is not `*`.
        """
        if self._caught_up is not None:
            return self._caught_up
        sent = self._all("if-match")
        if sent not in {None, ANY}:
            return max(self._versions(sent))
        version: int | None = self.given.get("expected_version")
        # A write by name would make a memory where there is none, unless it names a version.
        return 1 if version is None and sent == ANY and not self.id else version

    def catches_up(self, stale: EditConflict) -> bool:
        """Tell whether `If-Match` names the present version after all, and name that from now on.

        Raises:
            NotFound: It asks for any version, and there is none.
        """
        sent = self._all("if-match")
        if sent is None or (sent == ANY and self.given.get("expected_version") is not None):
            return False
        if stale.current is None:
            if sent == ANY:
                raise unknown_id()
            return False
        self._caught_up = stale.current.version
        return sent == ANY or self._caught_up in self._versions(sent)

    def has_seen(self, etag: str) -> bool:
        """Tell whether `If-None-Match` names what the caller has; a weak tag counts as well."""
        sent = self._all("if-none-match")
        tags = (each.removeprefix("W/") for each in _TAGS.findall(sent or ""))
        return sent == ANY or etag in tags

    def _all(self, name: str) -> str | None:
        """Return all that a header says, a list in several lines too; None where it is missing."""
        lines = self.request.headers.getlist(name)
        return ", ".join(lines).strip() if lines else None

    @staticmethod
    def _versions(sent: str) -> list[int]:
        # A weak tag says that two versions are alike, which is not enough to write over one.
        tags = _TAGS.findall(sent) if _TAG_LIST.match(sent) else []
        if found := [int(ours[1]) for each in tags if (ours := _ETAG.match(each))]:
            return found
        raise InvalidInput(
            "If-Match must be the ETag of the memory you read.",
            field="If-Match",
            suggestion='For example If-Match: "v3".',
        )

    @property
    def fields(self) -> tuple[str, ...] | None:
        """The keys of a memory that are wanted; None for all.

        Raises:
            InvalidInput: There is no such key.
        """
        if not (sent := self.query.get("fields")):
            return None
        wanted = tuple(dict.fromkeys(sent.split(",")))
        if not set(wanted) <= set(MEMORY_KEYS):
            raise InvalidInput(
                f"fields must be some of: {', '.join(MEMORY_KEYS)}",
                field="fields",
                suggestion="Part them by commas.",
            )
        return wanted

    def number(self, name: str, default: int) -> int:
        """Return a whole number of the query.

        Raises:
            InvalidInput: It is none.
        """
        if not (sent := self.query.get(name)):
            return default
        if not NUMBER.match(sent):
            raise InvalidInput(
                f"{name} must be a whole number.", field=name, suggestion="Leave it out."
            )
        return int(sent)

    def edits(self) -> list[Edit] | None:
        """Return the replacements in the body, or None.

        Raises:
            InvalidInput: They are no list of objects with `find` and `new_text`.
        """
        sent = self.given.get("edits")
        if sent is None:
            return None
        try:
            return [Edit(each["find"], each["new_text"]) for each in sent]
        except (TypeError, KeyError):
            raise InvalidInput(
                "edits must be a list of objects with find and new_text.",
                field="edits",
                suggestion='For example [{"find": "old", "new_text": "new"}].',
            ) from None


def moment(given: Mapping[str, Any], name: str) -> datetime | None:
    """Return a moment of a body, or None for none.

    Raises:
        InvalidInput: It is no moment with a time zone.
    """
    sent = given.get(name)
    if sent is None:
        return None
    try:
        found = datetime.fromisoformat(sent)
        if found.tzinfo is not None:
            return found.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InvalidInput(
        f"{name} must be a moment in ISO 8601, with a time zone.",
        field=name,
        suggestion="For example 2030-01-31T12:00:00+00:00.",
    )


def draft(given: Mapping[str, Any]) -> Json:
    """Return the fields of a body that every write of a memory takes in the same way."""
    values: Json = {name: given[name] for name in _EXTRAS if name in given}
    if "summary" in given:
        values["summary"] = given["summary"]
    if given.get("summary_derived") is True:
        values["summary"] = DERIVED
    if "content" in given:
        values["content"] = "" if given["content"] is None else given["content"]
    if "expires_at" in given:
        values["expires_at"] = moment(given, "expires_at")
    return values


def _parsed(body: bytes) -> object:
    """Return the value of a JSON text, as strictly as the format is defined.

    Raises:
        Refused: It is none.
    """
    try:
        text = body.decode()
        if len(_NESTED.findall(body)) > MAX_DEPTH:
            _check_depth(text)
        value: object = json.loads(
            text, object_pairs_hook=_once, parse_constant=_constant, parse_int=_integer
        )
        if _SURROGATE.search(body):
            json.dumps(value, ensure_ascii=False).encode()  # half of a pair is no text
    except (ValueError, RecursionError):
        raise Refused(400, "INVALID_JSON", "Request body must be valid JSON.") from None
    return value


def _check_depth(text: str) -> None:
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            msg = "too deeply nested"
            raise ValueError(msg)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) != len(pairs):
        msg = "a key stands twice"
        raise ValueError(msg)
    return values


def _integer(text: str) -> int:
    """Return a number that every engine can hold."""
    if len(text) <= MAX_DIGITS and (number := int(text)).bit_length() < INTEGER_BITS:
        return number
    raise Refused(422, "VALIDATION_ERROR", "A number has more than 64 bits.")


def _constant(name: str) -> object:
    msg = f"{name} is not JSON"
    raise ValueError(msg)


def check_texts(texts: Mapping[str, object], tags: object) -> None:
    """Refuse fields of a body that are no text, and tags that are no list of texts.

    Raises:
        InvalidInput: One is not; names the field.
    """
    for field, value in texts.items():
        if not isinstance(value, str):
            raise InvalidInput(f"{field} must be text.", field=field, suggestion="Send a string.")
    if not isinstance(tags, list) or not all(isinstance(each, str) for each in tags):
        raise InvalidInput(
            "tags must be a list of texts.", field="tags", suggestion='For example ["style"].'
        )
