"""What a refusal says, word for word: agents and people act on it, so a changed word is a change.

Each row is a call, the kind of error, the field it names, its message and what to do about it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from memories_sdk import Edit, MemoryHead, MemoryStore, MemoryTools, Principal
from memories_sdk import edits as editing
from memories_sdk.edits import COUNTED_MATCHES, apply_edits, wanted_edits
from memories_sdk.errors import (
    AccessDenied,
    AnchorNotFound,
    AnchorNotUnique,
    InvalidInput,
    MemoriesError,
    TooLong,
    UnknownType,
)
from memories_sdk.fields import (
    byte_size,
    checked_order,
    checked_time,
    checked_type,
    checked_version,
    derived_summary,
    normal_content,
    normal_label,
    normal_name,
    normal_summary,
    normal_tags,
)
from memories_sdk.memory import (
    DERIVED,
    DOCUMENTS,
    FACTS,
    MAX_BODY_BYTES,
    MAX_ORDER,
    UNSET,
    Memory,
    Page,
    head_of,
)
from memories_sdk.policy import APPROVAL
from memories_sdk.principals import (
    Agent,
    chosen,
    denied,
    may_control,
    may_see,
    scope_key,
    spora_key,
)
from memories_sdk.tools import FACT_TOOLS, ApprovalPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENT_TYPES = "plan, documentation, examples, context"
ONE_LINE = "Remove line breaks, control characters and lone surrogates."
AS_TEXT = "Pass a str."
SHORT_NAME = "Keep the name short and put the rest into the body."
FOR_TAGS = 'For example tags=["style", "draft"].'
NAME_A_PASSAGE = "Name a passage."
NO_PASSAGE = ("find cannot be empty.", NAME_A_PASSAGE)
IN_OTHER_FORM = (
    "A canonically equivalent passage exists: its accents are written in another Unicode form. "
    "Copy the passage from the body as it is."
)
IN_OTHER_CASE = "A passage differs from it only in case, blanks or line ends. Copy it exactly."
EITHER = "Give either find and new_text, or edits."
EMPTY_DELETES = "Pass an empty new_text to delete the passage."
NOWHERE = "Read the memory again and copy the passage exactly."
LONE = "\ud800"


def edited(content: str, *pairs: tuple[object, object]) -> str:
    """Return a text after its edits."""
    return apply_edits(content, [Edit(*pair) for pair in pairs])


def too_long(what: str, size: str, limit: str, unit: str, excess: str) -> str:
    """Return what is said of a value over its limit."""
    return f"{what} has {size} {unit}; the limit is {limit} ({excess} too many)."


REFUSED: list[tuple[Callable[[], object], type[MemoriesError], str | None, str, str]] = [
    (
        lambda: checked_type("Plan", [DOCUMENTS, FACTS]),
        UnknownType,
        "type",
        f"type 'Plan' is not one of: {DOCUMENT_TYPES}, preference, constraint, fact, workflow",
        "Types are exact: lower case, no blanks around them.",
    ),
    (
        lambda: checked_type(7, [DOCUMENTS]),
        UnknownType,
        "type",
        "type '7' is not one of: plan, documentation, examples, context",
        "Types are exact: lower case, no blanks around them.",
    ),
    (
        lambda: normal_name(None),
        InvalidInput,
        "name",
        "name must be text, not nothing.",
        AS_TEXT,
    ),
    (
        lambda: normal_name(7),
        InvalidInput,
        "name",
        "name must be text, not a value of type int.",
        AS_TEXT,
    ),
    (
        lambda: normal_name(" \u3000\n"),
        InvalidInput,
        "name",
        "name cannot be empty.",
        "Give the memory a short name.",
    ),
    (
        lambda: normal_name("a\u2028b"),
        InvalidInput,
        "name",
        "name holds the character U+2028 at place 2, which cannot be shown in one line.",
        ONE_LINE,
    ),
    (
        lambda: normal_name("ab\x07"),
        InvalidInput,
        "name",
        "name holds the character U+0007 at place 3, which cannot be shown in one line.",
        ONE_LINE,
    ),
    (
        lambda: normal_name(LONE),
        InvalidInput,
        "name",
        "name holds the character U+D800 at place 1, which cannot be shown in one line.",
        ONE_LINE,
    ),
    (
        lambda: normal_name("\ufffe"),
        InvalidInput,
        "name",
        "name holds the character U+FFFE at place 1, which cannot be shown in one line.",
        ONE_LINE,
    ),
    (
        lambda: normal_name("n" * 201),
        TooLong,
        "name",
        too_long("name", "201", "200", "characters", "1"),
        SHORT_NAME,
    ),
    (
        lambda: normal_name("n" * 121, FACTS),
        TooLong,
        "name",
        too_long("name", "121", "120", "characters", "1"),
        SHORT_NAME,
    ),
    (
        lambda: normal_label(b"x", "actor"),
        InvalidInput,
        "actor",
        "actor must be text, not a value of type bytes.",
        AS_TEXT,
    ),
    (
        lambda: normal_label("\t", "source"),
        InvalidInput,
        "source",
        "source cannot be empty.",
        "Leave it out.",
    ),
    (
        lambda: normal_label("a\nb", "actor"),
        InvalidInput,
        "actor",
        "actor holds the character U+000A at place 2, which cannot be shown in one line.",
        ONE_LINE,
    ),
    (
        lambda: normal_label("x" * 201, "actor"),
        TooLong,
        "actor",
        too_long("actor", "201", "200", "characters", "1"),
        "Name the run or the person, not the story.",
    ),
    (
        lambda: normal_content(None),
        InvalidInput,
        "content",
        "content must be text, not nothing.",
        AS_TEXT,
    ),
    (
        lambda: normal_content("x" * 1_999 + "\0\0"),
        InvalidInput,
        "content",
        "content holds a NUL character, which not every engine can store.",
        "Remove it; the first is at character 2,000.",
    ),
    (
        lambda: normal_content("é" * (MAX_BODY_BYTES // 2) + "x"),
        TooLong,
        "content",
        too_long("content", "1,048,577", "1,048,576", "bytes", "1"),
        "Split it into several memories.",
    ),
    (
        lambda: normal_content("é" * 1_001, FACTS),
        TooLong,
        "content",
        too_long("content", "1,001", "1,000", "characters", "1"),
        "Split it into several memories.",
    ),
    (
        lambda: normal_summary(1.5),
        InvalidInput,
        "summary",
        "summary must be text, not a value of type float.",
        AS_TEXT,
    ),
    (
        lambda: normal_summary("a\x00"),
        InvalidInput,
        "summary",
        "summary holds the character U+0000 at place 2, which cannot be shown in one line.",
        ONE_LINE,
    ),
    (
        lambda: normal_summary("x" * 501),
        TooLong,
        "summary",
        too_long("summary", "501", "500", "characters", "1"),
        "A summary is one line; put the rest into the body.",
    ),
    (
        lambda: normal_tags("style"),
        InvalidInput,
        "tags",
        "tags must be a list of texts, not a value of type str.",
        FOR_TAGS,
    ),
    (
        lambda: normal_tags(None),
        InvalidInput,
        "tags",
        "tags must be a list of texts, not nothing.",
        FOR_TAGS,
    ),
    (
        lambda: normal_tags([1]),
        InvalidInput,
        "tag",
        "tag must be text, not a value of type int.",
        AS_TEXT,
    ),
    (
        lambda: normal_tags(["a\rb"]),
        InvalidInput,
        "tag",
        "tag holds the character U+000D at place 2, which cannot be shown in one line.",
        ONE_LINE,
    ),
    (
        lambda: normal_tags(["x" * 65]),
        TooLong,
        "tag",
        too_long("tag", "65", "64", "characters", "1"),
        "Tags are single words; use the summary for a sentence.",
    ),
    (
        lambda: normal_tags(str(number) for number in range(33)),
        TooLong,
        "tags",
        too_long("tags", "33", "32", "tags", "1"),
        "Keep the telling ones.",
    ),
    (
        lambda: checked_order("1"),
        InvalidInput,
        "order",
        "order must be an integer, not a value of type str.",
        "Leave it out to keep the place.",
    ),
    (
        lambda: checked_order(value=True),
        InvalidInput,
        "order",
        "order must be an integer, not a value of type bool.",
        "Leave it out to keep the place.",
    ),
    (
        lambda: checked_order(-MAX_ORDER - 1),
        InvalidInput,
        "order",
        "order must lie between -9007199254740991 and 9007199254740991.",
        "Use move or reorder to change places.",
    ),
    (
        lambda: checked_time("tomorrow"),
        InvalidInput,
        "expires_at",
        "expires_at must be a datetime with a time zone.",
        "For example datetime.now(UTC) + timedelta(days=7).",
    ),
    (
        lambda: checked_time(datetime(2026, 1, 1)),  # noqa: DTZ001 -- it is what is refused
        InvalidInput,
        "expires_at",
        "expires_at must be a datetime with a time zone.",
        "For example datetime.now(UTC) + timedelta(days=7).",
    ),
    (
        lambda: checked_time(datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))),
        InvalidInput,
        "expires_at",
        "expires_at lies outside the years 1 to 9999 in UTC.",
        "Pass None for never.",
    ),
    *(
        (
            lambda version=version: checked_version(version),
            InvalidInput,
            "expected_version",
            "expected_version must be a positive integer.",
            "Pass the version of the memory you read, or leave it out.",
        )
        for version in (0, True, "2", 1.0)
    ),
    (lambda: apply_edits("a", []), InvalidInput, "find", *NO_PASSAGE),
    (lambda: edited("a", ("", "b")), InvalidInput, "find", *NO_PASSAGE),
    (
        lambda: apply_edits("a", [("a", "b")]),
        InvalidInput,
        "edits",
        "edits must be a list of Edit, not of a value of type tuple.",
        'For example [Edit("old", "new")].',
    ),
    (
        lambda: edited("a", (1, "b")),
        InvalidInput,
        "find",
        "find must be text, not a value of type int.",
        AS_TEXT,
    ),
    (
        lambda: edited("a", ("a", None)),
        InvalidInput,
        "new_text",
        "new_text must be text, not nothing.",
        AS_TEXT,
    ),
    (
        lambda: edited("caf\u00e9", ("cafe\u0301", "x")),
        AnchorNotFound,
        "find",
        "find matches 0 occurrences.",
        IN_OTHER_FORM,
    ),
    (
        lambda: edited("cafe\u0301", ("caf\u00e9", "x")),
        AnchorNotFound,
        "find",
        "find matches 0 occurrences.",
        IN_OTHER_FORM,
    ),
    (
        lambda: edited("A  Straße\r\nb", ("a STRASSE B", "x")),
        AnchorNotFound,
        "find",
        "find matches 0 occurrences.",
        IN_OTHER_CASE,
    ),
    (
        lambda: edited("ab", ("a b", "x")),
        AnchorNotFound,
        "find",
        "find matches 0 occurrences.",
        NOWHERE,
    ),
    (
        lambda: edited("ab\nab", ("ab", "x")),
        AnchorNotUnique,
        "find",
        "find matches 2 > 1 occurrences; provide a unique substring.",
        "It stands at line:column 1:1, 2:1. Add a neighbouring word or line.",
    ),
    (
        lambda: denied(7),
        AccessDenied,
        None,
        "Caller does not control principal #7.",
        "store.principals.visible_to(caller) lists the principals it may act as.",
    ),
]


@pytest.mark.parametrize(
    ("call", "kind", "field", "message", "suggestion"),
    REFUSED,
    ids=[f"{number} {row[2]}" for number, row in enumerate(REFUSED)],
)
def test_a_refusal_says_what_is_wrong_and_what_to_do(
    call: Callable[[], object],
    kind: type[MemoriesError],
    field: str | None,
    message: str,
    suggestion: str,
) -> None:
    """Kind, field, message and advice are what callers and models rely on."""
    try:
        error = call()
    except MemoriesError as caught:
        error = caught
    assert type(error) is kind
    assert (error.message, error.suggestion) == (message, suggestion)
    assert getattr(error, "field", None) == field


def test_a_refused_edit_tells_which_it_was_and_where() -> None:
    """Of several edits the one is numbered from 0; places are lines and columns from 1."""
    with pytest.raises(AnchorNotFound) as missing:
        edited("one two", ("one", "1"), ("three", "3"))
    assert missing.value.edit == 1
    with pytest.raises(AnchorNotUnique) as doubled:
        edited("x\nab ab\nab", ("x", "y"), ("ab", "c"))
    assert doubled.value.edit == 1
    assert (doubled.value.count, doubled.value.positions) == (3, ((2, 1), (2, 4), (3, 1)))
    with pytest.raises(AnchorNotUnique) as overlapping:
        edited("a" * 12, ("aa", "c"))
    assert overlapping.value.count == 11
    assert overlapping.value.positions == tuple((1, column) for column in range(1, 11))
    assert "10 more" not in overlapping.value.suggestion


@pytest.mark.parametrize(("written", "size"), [("", 0), ("abc", 3), ("é", 2), ("字", 3), ("👩", 4)])
def test_bytes_are_those_of_utf8(written: str, size: int) -> None:
    """A limit in bytes is told in the bytes that are stored."""
    assert byte_size(written) == size


def test_what_is_right_comes_back_as_it_is_stored() -> None:
    """The other side of each rule: the last value that passes, and its normal form."""
    assert checked_type("fact", [DOCUMENTS, FACTS]) is FACTS
    assert checked_type("plan", [DOCUMENTS, FACTS]) is DOCUMENTS
    assert normal_name(" e\u0301\u00a0x ") == "\u00e9\u00a0x"
    assert normal_name("n" * 200) == "n" * 200
    assert normal_name("A Name", FACTS) == normal_name("a name", FACTS)
    assert normal_label(" agent:x ", "actor") == "agent:x"
    assert normal_label("x" * 200, "actor") == "x" * 200
    assert normal_content(f"a{LONE}é\r\n ") == "aé\r\n "
    assert normal_content("é" * (MAX_BODY_BYTES // 2)) == "é" * (MAX_BODY_BYTES // 2)
    assert normal_content("é" * 1_000, FACTS) == "é" * 1_000
    assert normal_summary(f" a\n{LONE}b\u2028 c ") == "a b c"
    assert normal_summary("x" * 500) == "x" * 500
    assert normal_summary(" ") == ""
    assert normal_tags([" b ", "", "a", "b", "e\u0301", "\u00e9"]) == ("b", "a", "\u00e9")
    assert normal_tags(["x" * 64]) == ("x" * 64,)
    assert len(normal_tags(map(str, range(32)))) == 32
    assert [checked_order(it) for it in (0, MAX_ORDER, -MAX_ORDER)] == [0, MAX_ORDER, -MAX_ORDER]
    assert (checked_version(None), checked_version(1), checked_time(None)) == (None, 1, None)
    at = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert checked_time(at) == datetime(2026, 1, 1, tzinfo=UTC)
    assert checked_time(at).tzinfo is UTC


def test_a_derived_summary_is_the_start_of_what_is_said() -> None:
    """Two hundred characters of plain text; none of a body that says nothing, or one character."""
    assert [derived_summary(body) for body in ("", "c", " c", "\n\n", "<!-- x -->")] == [
        *(None, None, "c", None, None)
    ]
    assert derived_summary("# ab") == "ab"
    assert derived_summary("x" * 300) == "x" * 200


def test_counting_places_reads_no_further_than_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound itself is a count that is told; one place less is told exactly."""
    monkeypatch.setattr(editing, "COUNTED_MATCHES", 5)
    for places, told in ((4, 4), (5, 5), (6, 5)):
        with pytest.raises(AnchorNotUnique) as caught:
            edited("a" * places, ("a", "b"))
        assert caught.value.count == told
    assert COUNTED_MATCHES == 10_000


HEAD = MemoryHead(
    *(UUID(int=1), "global", 1, None, "plan", "n", "A line", False, ("t",), True, 3, 2, 4),
    *(None, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC), False),
)


def named(name: str) -> MemoryHead:
    """Return a memory of that name."""
    values = [getattr(HEAD, field) for field in HEAD.__slots__]
    values[5] = name
    return MemoryHead(*values)


def test_values_say_what_they_are() -> None:
    """A repr is short, stable and tells no body; a text is a row of a list."""
    memory = Memory(*(getattr(HEAD, field) for field in HEAD.__slots__), "body")
    assert (repr(HEAD), repr(memory)) == ("<MemoryHead 'n' (plan) v2>", "<Memory 'n' (plan) v2>")
    assert str(HEAD) == "[n] [plan] — A line"
    assert head_of(memory) == HEAD
    assert type(head_of(memory)) is MemoryHead
    assert (repr(UNSET), repr(DERIVED)) == ("UNSET", "DERIVED")
    assert DOCUMENTS.types == ("plan", "documentation", "examples", "context")
    assert [str(Principal(1, "user", "alice")), str(Agent(2, "writer", 1))] == [
        *("user:alice", "agent:writer")
    ]
    assert "body" in memory._repr_html_()


def test_a_row_is_labelled_and_may_have_no_summary() -> None:
    """What a reader does not trust is told first; no dash stands before nothing."""
    values = [getattr(HEAD, field) for field in HEAD.__slots__]
    values[6], values[16] = "", True
    assert str(MemoryHead(*values)) == "(untrusted) [n] [plan]"


def test_a_page_is_a_sequence_that_tells_what_is_left() -> None:
    """It counts, slices, compares and hashes by its rows and by what it says of the rest."""
    heads = [named(each) for each in "abcdef"]
    page = Page(heads, total=9, next_cursor="next")
    assert repr(page) == "<Page 6 of 9: a, b, c, d, e, …>"
    assert repr(Page(heads[:5], total=5)) == "<Page 5 of 5: a, b, c, d, e>"
    assert (len(page), page[0], page[1:3], list(page)) == (6, heads[0], tuple(heads[1:3]), heads)
    assert (page.total, page.next_cursor, Page(heads, total=9).next_cursor) == (9, "next", None)
    same = Page(heads, total=9, next_cursor="next")
    assert page == same
    assert hash(page) == hash(same)
    others = [
        Page(heads[1:], total=9, next_cursor="next"),
        Page(heads, total=8, next_cursor="next"),
        Page(heads, total=9),
    ]
    assert all(page != other and hash(page) != hash(other) for other in others)
    assert page != tuple(heads)
    assert "a" in page._repr_html_()


def test_who_may_act_is_a_plain_rule() -> None:
    """A user acts as itself and its groups, and gives away what is its own or it controls."""
    alice, lab = Principal(1, "user", "alice"), Principal(2, "group", "lab")
    seen = [may_see(alice, 1, []), may_see(alice, 2, [2]), may_see(alice, 2, [3])]
    assert seen == [True, True, False]
    assert not may_see(lab, 2, [2])
    controlled = [may_control(alice, 2, role) for role in ("owner", "admin", "member", None)]
    assert controlled == [True, True, False, False]
    assert may_control(alice, 1, None)
    assert not may_control(lab, 2, "owner")
    assert [scope_key(principal_id=1), scope_key(agent_id=1)] == ["global:1", "agent:1"]
    assert spora_key("global", principal_id=12, agent_id=None, type="plan", name="a:b") == (
        "global:12:0:plan:a:b"
    )
    assert spora_key("agent", principal_id=None, agent_id=3, type="plan", name="n") == (
        "agent:0:3:plan:n"
    )
    for ids in ({}, {"principal_id": 1, "agent_id": 1}):
        with pytest.raises(
            ValueError, match=r"^a shelf belongs to exactly one principal or one agent$"
        ):
            scope_key(**ids)


def test_a_principal_is_chosen_by_id_name_or_as_it_is_written() -> None:
    """Whatever names none of the visible ones is refused in the same words, word for word."""
    alice, lab = Principal(1, "user", "alice"), Principal(2, "group", "lab")
    for wanted in (2, "lab", "group:lab"):
        assert chosen([alice, lab], wanted) == lab
    for wanted, told in {3: "#3", "bob": "'bob'", "None": "'None'"}.items():
        with pytest.raises(AccessDenied) as caught:
            chosen([alice, lab], wanted)
        assert caught.value.message == f"Caller does not control principal {told}."


@pytest.mark.parametrize("separator", [*"\n\x1c\x85\u2028\u2029\ud800\uffff"])
def test_whatever_ends_a_line_is_in_no_name(separator: str) -> None:
    """A reader may end a line at any of them."""
    with pytest.raises(InvalidInput, match="cannot be shown"):
        normal_name(f"a{separator}b")


def test_a_name_is_spelled_up_to_a_length() -> None:
    """Blanks of a long key count for nothing, so that it may be short in the end."""
    assert normal_name("a" + " " * 3_998 + "b", FACTS) == normal_name("a b", FACTS)
    with pytest.raises(TooLong):
        normal_name("a" + " " * 3_999 + "b", FACTS)


@pytest.mark.parametrize(
    ("given", "field", "message", "advice"),
    [
        ((UNSET, UNSET, UNSET), "find", "find is required.", EMPTY_DELETES),
        ((UNSET, "b", UNSET), "find", "find is required.", EMPTY_DELETES),
        (("a", UNSET, UNSET), "new_text", "new_text is required.", EMPTY_DELETES),
        (("a", UNSET, []), "edits", EITHER, "A single edit needs find and new_text."),
        ((UNSET, "b", []), "edits", EITHER, "A single edit needs find and new_text."),
    ],
)
def test_a_call_names_one_edit_or_several(
    given: tuple[object, ...], field: str, message: str, advice: str
) -> None:
    """Half an edit, or both forms at once, is refused by the name of what is wrong."""
    with pytest.raises(InvalidInput) as caught:
        wanted_edits(*given)
    assert (caught.value.field, caught.value.message) == (field, message)
    assert caught.value.suggestion == advice


def test_the_edits_of_a_call_are_those_that_it_names() -> None:
    """A single one is a list of one; a list is taken as it is."""
    several = [Edit("a", "b"), Edit("c", "")]
    assert wanted_edits("a", "", UNSET) == [Edit("a", "")]
    assert wanted_edits(UNSET, UNSET, several) is several


def test_a_place_is_counted_from_the_first_character() -> None:
    """A line end that begins a text ends its first line."""
    with pytest.raises(AnchorNotUnique) as caught:
        apply_edits("\na\n a", [Edit("a", "b")])
    assert caught.value.positions == ((2, 1), (3, 2))


def test_a_failure_of_ours_is_logged_with_the_tool(
    tools: MemoryTools, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What the log says of it names no argument of the call."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(tools, "shelf", broken)
    assert tools.call("memory", {"action": "list"}).code == "internal"
    assert [it.getMessage() for it in caplog.records] == ["memory tool call failed: memory"]


def test_what_waits_and_what_was_granted_say_who_asked(
    store: MemoryStore, bob: Principal, lab: Principal
) -> None:
    """The card, the change and its result are the agent's, whoever decides."""
    crew = store.agents.create("crew", owner=lab)
    tools = MemoryTools(store, acting_as=bob, agent=crew, source="run 7")
    tools.shelf("memory").create("n", "plan", "ab")
    call = {"action": "delete", "name": "n", "type": "plan"}
    waiting = tools.call("memory", call)
    assert (waiting.ok, waiting.code) == (False, "approval_required")
    assert waiting.text == "Waiting for approval: Memory delete: n (plan)"
    assert waiting.approval.actor == "agent:crew"
    assert waiting.approval.shelf == f"agent:{crew.id}"
    assert tools.call("memory", call, approved=True).ok is True
    change = tools.shelf("memory").history()[0]
    assert (change.action, change.actor, change.source) == ("delete", "agent:crew", "run 7")
    read = tools.call("memory", {"action": "save", "name": "n", "type": "plan", "content": "ab"})
    assert read.text == "Created memory [n] (type=plan) in agent scope."
    told = tools.call("memory", {"action": "get", "name": "n", "type": "plan"})
    assert (told.ok, told.hint, told.data["name"]) == (True, "", "n")


def test_a_result_tells_code_and_advice(tools: MemoryTools) -> None:
    """A host may retry what it can mend, and shows what to do; word for word."""
    call = {"action": "get", "name": "n", "type": "plan"}
    result = tools.call("memory", call)
    assert (result.code, result.retryable) == ("not_found", True)
    assert result.text == "Memory [n] (type=plan) not found in agent scope."
    result = tools.call("memory", {"action": "drop"})
    assert (result.code, result.retryable, result.hint) == ("unknown_action", True, "")
    result = tools.call("memory", call | {"type": "fact"})
    assert result.text.startswith("Error: type 'fact' is not one of: plan")
    assert result.hint == "Types are exact: lower case, no blanks around them."
    assert (result.code, result.retryable) == ("unknown_type", True)
    tools.call("memory", call | {"action": "save", "content": "ab"})
    result = tools.call("memory", call | {"action": "replace", "find": "c", "new_text": "d"})
    assert (result.text, result.code) == ("find matches 0 occurrences.", "anchor_not_found")
    assert (result.hint, result.retryable, result.ok) == (NOWHERE, True, False)


def test_a_fact_refused_in_other_words_has_ours_as_advice(tools: MemoryTools) -> None:
    """What the seed's words leave out is told beside them."""
    wish = "Remember that"
    given = {"type": "fact", "key": "k", "value": "x" * 1_001}
    result = tools.call("remember_memory", given, prompt=wish)
    assert (result.text, result.code) == (
        *("Memory text exceeds maximum length.", "openwp_memory_text_too_long"),
    )
    assert result.hint == (
        "content has 1,001 characters; the limit is 1,000 (1 too many). "
        "Split it into several memories."
    )
    result = tools.call("remember_memory", {"type": "fact", "value": "x"}, prompt=wish)
    assert (result.text, result.hint, result.retryable) == ("Memory key is required.", "", True)


def test_what_tools_there_are_is_told(store: MemoryStore, alice: Principal) -> None:
    """A tool or a form that does not exist is refused by name; one taken away is passed over."""
    tools = MemoryTools(store, acting_as=alice, operations={"memory": [], "forget_memory": ()})
    assert [it.name for it in tools.definitions()] == ["global_memory"]
    assert [it.name for it in tools.definitions(["forget_memory", "list_memory"])] == [
        "list_memory"
    ]
    with pytest.raises(InvalidInput) as caught:
        tools.definitions(["files"])
    assert (caught.value.message, caught.value.field) == ("There is no tool 'files'.", "tools")
    assert caught.value.suggestion == (
        "Choose from memory, global_memory, remember_memory, forget_memory, list_memory, "
        "clear_memory."
    )
    with pytest.raises(InvalidInput) as caught:
        tools.schemas(form="yaml")
    assert caught.value.field == "form"
    assert caught.value.message.startswith("form 'yaml' is not one of: plain, ")
    assert caught.value.suggestion == ""
    assert tools.schemas()[0].keys() == {"name", "description", "parameters"}
    assert tools.schemas(form="openai")[0]["type"] == "function"
    disabled = tools.call("forget_memory", {"type": "fact", "key": "k"})
    assert (disabled.ok, disabled.code) == (False, "disabled")
    assert disabled.text == "Operation 'forget_memory' is disabled for this agent."


def test_tools_say_whose_they_are(store: MemoryStore, alice: Principal) -> None:
    """A repr names the agent, however it was given, and who runs it."""
    writer = store.agents.create("writer", owner=alice)
    told = [repr(MemoryTools(store, acting_as=alice, agent=it)) for it in (writer, "writer", None)]
    assert told == [
        *["<MemoryTools of writer acting as user:alice>"] * 2,
        "<MemoryTools of None acting as user:alice>",
    ]


def test_a_shelf_of_tools_is_bound_as_they_are(
    store: MemoryStore, alice: Principal, bob: Principal, lab: Principal
) -> None:
    """Owner, agent, types, actor and source of a change come from the binding alone."""
    crew = store.agents.create("crew", owner=lab)
    tools = MemoryTools(store, acting_as=bob, agent=crew, source="run 7")
    for tool, agent, types in (
        ("memory", crew.id, DOCUMENTS.types),
        ("global_memory", None, DOCUMENTS.types),
        ("list_memory", None, FACTS.types),
    ):
        shelf = tools.shelf(tool)
        assert (shelf.caller, shelf.principal) == (bob, lab)
        assert (None if shelf.agent is None else shelf.agent.id) == agent
        assert tuple(it for each in shelf.vocabularies for it in each.types) == types
        shelf.create("n", types[0], "ab")
        (change,) = shelf.history()
        assert (change.actor, change.source) == ("agent:crew", "run 7")
    other = MemoryTools(store, acting_as=alice, principal=lab)
    assert other.shelf("global_memory").get("n", "plan").content == "ab"
    assert MemoryTools(store, acting_as=alice).shelf("global_memory").principal == alice
    with pytest.raises(MemoriesError) as caught:
        MemoryTools(store, acting_as=alice).shelf("memory")
    assert caught.value.code == "no_context"
    assert str(caught.value) == (
        "Cannot scope a memory: no agent was supplied. "
        "This is a plugin integration error, not a bad argument."
    )


def test_a_call_under_its_key_is_carried_out_once(tools: MemoryTools) -> None:
    """A host that repeats a call under its own key gets the same answer and one change."""
    call = {"action": "save", "name": "n", "type": "plan", "content": "ab"}
    texts = [tools.call("memory", call, operation="call-1").text for _ in range(2)]
    assert texts == ["Created memory [n] (type=plan) in agent scope."] * 2
    fact = {"type": "fact", "key": "k", "value": "ab"}
    said = [
        tools.call("remember_memory", fact, prompt="Remember that", operation="call-2")
        for _ in range(2)
    ]
    assert said[0].text == said[1].text
    assert len(tools.shelf("list_memory").history()) == 1
    delete = {"action": "delete", "name": "n", "type": "plan"}
    once = [tools.call("memory", delete, approved=True, operation="call-3").text for _ in range(2)]
    assert once == ["Deleted memory [n] (type=plan) from agent scope."] * 2


def test_a_person_who_is_asked_decides(store: MemoryStore, alice: Principal) -> None:
    """A yes carries out the call, anything else refuses it in words; both see what it is about."""
    shelf = store.scope(acting_as=alice)
    shelf.save("n", "plan", "ab")
    asked = []
    answers = iter([False, "yes", True])

    def ask(request: object) -> object:
        asked.append(request)
        return next(answers)

    tools = MemoryTools(store, acting_as=alice, ask=ask)
    call = {"action": "delete", "name": "n", "type": "plan"}
    for _ in range(2):
        result = tools.call("global_memory", call, prompt="tidy up")
        assert (result.ok, result.code, result.approval) == (False, "refused", asked[-1])
        assert result.text == "The user does not want this: Memory delete: n (plan)"
        assert store.approvals.list(acting_as=alice) == []
    assert shelf.list().total == 1
    result = tools.call("global_memory", call)
    assert (result.ok, result.text) == (True, "Deleted memory [n] (type=plan) from global scope.")
    assert [it.prompt for it in asked] == [""] * 3
    assert shelf.list().total == 0


def test_a_fact_that_needs_a_wish_carries_what_was_said(
    store: MemoryStore, alice: Principal
) -> None:
    """Who decides about a fact sees the words that the wish was read from."""
    everything = ApprovalPolicy({"remember_memory": ["remember"]})
    tools = MemoryTools(store, acting_as=alice, approval=everything)
    fact = {"type": "fact", "key": "k", "value": "ab"}
    result = tools.call("remember_memory", fact, prompt="Remember that")
    assert (result.code, result.approval.prompt) == ("approval_required", "Remember that")
    assert result.text == f"Waiting for approval: {result.approval.description}"
    assert tools.needs_approval("remember_memory", fact)
    assert tools.needs_approval("remember_memory", "not json")
    assert not tools.needs_approval("list_memory", {})
    assert tools.call("remember_memory", fact, prompt=7).code == "openwp_memory_explicit_required"


def test_a_fact_is_written_on_a_wish_alone(store: MemoryStore, alice: Principal) -> None:
    """Without a wish it is refused, a list needs none, and a policy may have a person asked."""
    tools = MemoryTools(store, acting_as=alice)
    fact = {"type": "fact", "key": "k", "value": "ab"}
    refused = tools.call("remember_memory", fact, prompt="What is the weather?")
    assert refused.ok is False
    assert (refused.code, bool(refused.text)) == ("openwp_memory_explicit_required", True)
    assert refused.text == FACT_TOOLS["remember_memory"].refusal
    assert tools.call("list_memory").text == "Memory listed."
    asking = MemoryTools(store, acting_as=alice, policy=APPROVAL)
    waiting = asking.call("remember_memory", fact, operation="one")
    assert (waiting.ok, waiting.code) == (False, "approval_required")
    assert waiting.approval.id is not None
    assert asking.needs_approval("remember_memory", fact)
    assert not asking.needs_approval("list_memory", {})
    for _ in range(2):
        granted = asking.call("remember_memory", fact, operation="one", approved=True)
        assert granted.ok is True
    assert len(asking.shelf("list_memory").history()) == 1
