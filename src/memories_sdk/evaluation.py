"""Measures search and recall of a shelf on questions whose evidence is known, without a judge."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from statistics import fmean, median
from typing import Final, NamedTuple

from memories_sdk.errors import InvalidInput
from memories_sdk.memory import MemoryHead
from memories_sdk.reader import ScopeReader

DEPTH: Final = 10
"""Hits that nDCG looks at."""

SHOWN_LINES: Final = 10
"""Wrong lines of a file that are named."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the memories that answer it.

    Attributes:
        evidence: Each an id, a name, or `type/name`.
    """

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How well a shelf answered, as means over the questions.

    Attributes:
        questions: How many there were.
        recall_at_1: Share of the evidence among the first hit; so are the next two.
        ndcg: Of the first ten hits: 1 when all evidence stands first.
        budgeted: Share of the evidence that entered the prompt.
        precision: Share of what entered the prompt that is evidence.
        overruns: Prompts that were longer than the budget. Always 0.
        search_ms: Median CPU time of a search, in milliseconds; so is `prompt_ms` of a recall.
    """

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

    @property
    def table(self) -> str:
        """The figures for reading, one in a line, with what each means."""
        rows = (
            ("recall@1", f"{self.recall_at_1:.3f}", "share of the evidence in the first hit"),
            ("recall@5", f"{self.recall_at_5:.3f}", "in the first five"),
            ("recall@10", f"{self.recall_at_10:.3f}", "in the first ten"),
            ("nDCG@10", f"{self.ndcg:.3f}", "1 when all evidence stands first"),
            ("budgeted recall", f"{self.budgeted:.3f}", "share that entered the prompt"),
            ("precision", f"{self.precision:.3f}", "evidence in what entered"),
            ("overruns", str(self.overruns), "prompts longer than the budget"),
            ("search", f"{self.search_ms:.1f} ms", "median CPU time"),
            ("prompt", f"{self.prompt_ms:.1f} ms", "the same of a recall"),
        )
        lines = (f"{name:<15}  {figure:>8}  {meaning}" for name, figure, meaning in rows)
        return "\n".join((f"{self.questions} question{'' if self.questions == 1 else 's'}", *lines))

    def __str__(self) -> str:
        return (
            f"{self.questions} questions: recall@1 {self.recall_at_1:.3f}, @5"
            f" {self.recall_at_5:.3f}, @10 {self.recall_at_10:.3f}, nDCG@10 {self.ndcg:.3f},"
            f" budgeted recall {self.budgeted:.3f}, precision {self.precision:.3f}, overruns"
            f" {self.overruns}, search {self.search_ms:.1f} ms, prompt {self.prompt_ms:.1f} ms"
        )


def read_questions(path: Path) -> list[Question]:
    """Read questions from a file of JSON lines, each with `question` and a list `evidence`.

    Raises:
        InvalidInput: Some lines have another form; says which.
    """
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    read = {number: _question(line) for number, line in lines if line.strip()}
    if wrong := [number for number, question in read.items() if question is None]:
        raise InvalidInput(
            f"{_numbered(wrong)} of {path.name}: no question with evidence.",
            suggestion='For example {"question": "Which pump?", "evidence": ["pump notes"]}.',
        )
    return [question for question in read.values() if question is not None]


def _question(line: str) -> Question | None:
    try:
        row = json.loads(line)
        text, evidence = row["question"], row["evidence"]
    except (ValueError, TypeError, KeyError):
        return None
    if not isinstance(text, str) or not isinstance(evidence, list) or not evidence:
        return None
    return Question(text, frozenset(map(str, evidence)))


def _numbered(lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, lines[:SHOWN_LINES]))
    more = f" and {len(lines) - SHOWN_LINES} more" if len(lines) > SHOWN_LINES else ""
    return f"{'Line' if len(lines) == 1 else 'Lines'} {shown}{more}"


def evaluate(
    shelf: ScopeReader, questions: Sequence[Question], *, limit: int = 8, max_chars: int = 1200
) -> Evaluation:
    """Ask a shelf all questions and return how well it answered.

    Args:
        shelf: What is asked.
        questions: At least one.
        limit: Most memories in a prompt.
        max_chars: Most characters of a prompt.

    Raises:
        InvalidInput: There is no question.
    """
    if not questions:
        raise InvalidInput("There is no question to ask.", suggestion="Write some first.")
    asked = [_ask(shelf, question, limit, max_chars) for question in questions]
    return Evaluation(
        questions=len(asked),
        recall_at_1=fmean(answer.recall_at_1 for answer in asked),
        recall_at_5=fmean(answer.recall_at_5 for answer in asked),
        recall_at_10=fmean(answer.recall_at_10 for answer in asked),
        ndcg=fmean(answer.ndcg for answer in asked),
        budgeted=fmean(answer.budgeted for answer in asked),
        precision=fmean(answer.precision for answer in asked),
        overruns=sum(answer.overran for answer in asked),
        search_ms=median(answer.search_ms for answer in asked),
        prompt_ms=median(answer.prompt_ms for answer in asked),
    )


class _Answer(NamedTuple):
    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    ndcg: float
    budgeted: float
    precision: float
    overran: bool
    search_ms: float
    prompt_ms: float


def _ask(shelf: ScopeReader, question: Question, limit: int, max_chars: int) -> _Answer:
    start = time.thread_time()
    hits = [hit.memory for hit in shelf.search(question.text, limit=DEPTH)]
    searched = time.thread_time()
    recall = shelf.relevant_for_prompt(question.text, limit, max_chars)
    recalled = time.thread_time()
    chosen = [item.memory for item in recall.items]
    entered = _found(chosen, question.evidence)
    return _Answer(
        recall_at_1=_share(hits[:1], question.evidence),
        recall_at_5=_share(hits[:5], question.evidence),
        recall_at_10=_share(hits, question.evidence),
        ndcg=_ndcg(hits, question.evidence),
        budgeted=_share(chosen, question.evidence),
        precision=sum(entered) / len(entered) if entered else 0.0,
        overran=len(recall.as_context()) > max_chars,
        search_ms=(searched - start) * 1e3,
        prompt_ms=(recalled - searched) * 1e3,
    )


def _labels(memory: MemoryHead) -> frozenset[str]:
    return frozenset((str(memory.id), memory.name, f"{memory.type}/{memory.name}"))


def _found(memories: Iterable[MemoryHead], evidence: frozenset[str]) -> list[bool]:
    return [not evidence.isdisjoint(_labels(memory)) for memory in memories]


def _share(memories: Iterable[MemoryHead], evidence: frozenset[str]) -> float:
    met = {label for memory in memories for label in _labels(memory)} & evidence
    return len(met) / len(evidence)


def _ndcg(memories: Iterable[MemoryHead], evidence: frozenset[str]) -> float:
    gain = sum(1 / log2(rank + 2) for rank, hit in enumerate(_found(memories, evidence)) if hit)
    best = sum(1 / log2(rank + 2) for rank in range(min(DEPTH, len(evidence))))
    return gain / best
