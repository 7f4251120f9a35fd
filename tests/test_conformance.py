"""The behaviour taken over from the seed system, case by case."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from string import ascii_lowercase
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "conformance"
SUPERSEDED_BY_DESIGN = {"spora.summary.03": "Heading item", "spora.summary.04": "Fish & chips"}
"""What a derived summary says where the case asks for the raw markdown.

The design derives it from the plain text of the body, in one line; the cases want the marks and
the entities as the seed left them.
"""
TOKEN = "ghp_" + ascii_lowercase + "0123456789"
NO_SECRET = {"openwp.secret.16", "openwp.secret.17", "openwp.secret.18"}
"""Cases that refuse the word "password" in a text, a key and a tag.

A word is no secret: see decision 0006. That nothing of the three is left unchecked is tested with
a credential in the place of the word.
"""

Case = dict[str, Any]


def module(name: str) -> ModuleType:
    """Import a file of the conformance folder, which is no package."""
    spec = importlib.util.spec_from_file_location(f"conformance_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


adapter = module("adapter")
run_cases = module("run_cases")
ALL: list[Case] = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))["cases"]
CASES = {case["id"]: case for case in ALL if case["stance"] != "superseded"}


OTHERWISE = SUPERSEDED_BY_DESIGN.keys() | NO_SECRET


@pytest.mark.parametrize("case_id", sorted(CASES.keys() - OTHERWISE))
def test_behaves_as_the_case_says(case_id: str) -> None:
    """Agents and hosts made for the seed find the same phrases and effects here."""
    assert run_cases.judge(CASES[case_id], adapter.factory) == []


@pytest.mark.parametrize("case_id", sorted(SUPERSEDED_BY_DESIGN))
def test_derives_a_summary_from_the_plain_text(case_id: str) -> None:
    """A derived summary is one line of plain text: no marks, no entities, no line breaks."""
    (then,) = CASES[case_id]["then"]
    expected = then | {"expect": {"summary": SUPERSEDED_BY_DESIGN[case_id]}}
    assert run_cases.judge(CASES[case_id] | {"then": [expected]}, adapter.factory) == []


def with_token(value: Any) -> Any:
    """Return a step with a credential where it says "password"."""
    return json.loads(json.dumps(value).replace("password", TOKEN))


@pytest.mark.parametrize("case_id", sorted(NO_SECRET))
def test_a_word_is_stored_and_a_credential_is_not(case_id: str) -> None:
    """Text, key and tags are all looked at, for credentials and not for words about them."""
    (case,) = (case for case in ALL if case["id"] == case_id)
    look = {"op": "action", "action": "list_memory", "prompt": "", "params": {}}
    refused = {"ok": False, "code": "openwp_memory_secret_blocked"}
    for when, expect, total in (
        (case["when"], {"ok": True}, 1),
        (with_token(case["when"]), refused, 0),
    ):
        then = [{"do": look, "expect": {"data": {"total": total}}}]
        tried = case | {"when": when, "expect": expect, "then": then}
        del tried["stance"]
        tried.pop("preferred", None)
        assert run_cases.judge(tried, adapter.factory) == []


def test_no_case_is_lost() -> None:
    """Whoever changes the file or the filters decides so: a case cannot fall out unseen."""
    assert len(ALL) == 334
    systems = Counter(case["system"] for case in CASES.values())
    assert systems == {"spora": 218, "openwp": 107}
    assert CASES.keys() >= SUPERSEDED_BY_DESIGN.keys()
    assert {case["id"] for case in ALL} >= NO_SECRET


def test_a_wrong_answer_fails_its_case() -> None:
    """The runner compares: a case with another expectation does not pass."""
    case = CASES["spora.save.01"] | {"expect": {"ok": False}}
    assert run_cases.judge(case, adapter.factory) == ["$.ok: True != False"]
