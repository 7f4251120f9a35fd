"""How search and recall are measured."""

import pytest

from memories_sdk import InvalidInput
from memories_sdk.evaluation import Question, evaluate, read_questions


def test_perfect_answers_measure_one(store, alice):
    """When all evidence stands first and nothing else enters, every figure is 1."""
    shelf = store.scope(acting_as=alice)
    shelf.save("pump", "context", "the pump stands in the cellar")
    wanted = shelf.save("gauge", "context", "the gauge reads seven").memory
    questions = [
        Question("where is the pump", frozenset({"pump"})),
        Question("gauge", frozenset({str(wanted.id)})),
        Question("pump cellar", frozenset({"context/pump"})),
    ]
    found = evaluate(shelf, questions)
    assert (found.recall_at_1, found.ndcg, found.budgeted, found.precision) == (1, 1, 1, 1)
    assert (found.questions, found.overruns) == (3, 0)
    assert str(found).startswith("3 questions: recall@1 1.000")


def test_table_says_what_its_figures_mean(store, alice):
    """Every figure of an evaluation stands in a line of its own, with its name."""
    shelf = store.scope(acting_as=alice)
    shelf.save("pump", "context", "the pump stands in the cellar")
    lines = evaluate(shelf, [Question("pump", frozenset({"pump"}))]).table.splitlines()
    assert lines[0] == "1 question"
    assert lines[4] == "nDCG@10             1.000  1 when all evidence stands first"
    named = ("recall@1", "recall@5", "recall@10", "nDCG", "budgeted", "precision", "overruns")
    assert [line for line, name in zip(lines[1:], named, strict=False) if name not in line] == []
    assert all("ms" in line for line in lines[-2:])


def test_missed_evidence_counts(store, alice):
    """Half of the evidence is half of the recall, and a late hit is a smaller gain."""
    shelf = store.scope(acting_as=alice)
    shelf.save("a", "context", "roses and lilies")
    shelf.save("b", "context", "roses")
    found = evaluate(shelf, [Question("roses lilies", frozenset({"b", "absent"}))])
    assert (found.recall_at_1, found.recall_at_5) == (0, 0.5)
    assert 0 < found.ndcg < 0.5
    assert found.precision == 0.5


def test_nothing_found_measures_zero(store, alice):
    """An empty shelf answers nothing, and that is no error."""
    found = evaluate(store.scope(acting_as=alice), [Question("roses", frozenset({"a"}))])
    assert (found.recall_at_10, found.ndcg, found.budgeted, found.precision) == (0, 0, 0, 0)


def test_questions_are_read_from_lines(tmp_path):
    """Each line is a question with its evidence; blank lines are passed over."""
    file = tmp_path / "questions.jsonl"
    file.write_text('{"question": "Which pump?", "evidence": ["a", "b"]}\n\n', encoding="utf-8")
    assert read_questions(file) == [Question("Which pump?", frozenset({"a", "b"}))]


@pytest.mark.parametrize(
    "line", ["x", "[]", '{"question": "a"}', '{"question": 1, "evidence": []}']
)
def test_other_lines_are_refused(tmp_path, line):
    """A line of another form is named, not skipped."""
    file = tmp_path / "questions.jsonl"
    file.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="Line 2"):
        read_questions(file)


def test_all_wrong_lines_are_named_at_once(tmp_path):
    """A file is mended in one go: every wrong line is named, the first ten by number."""
    file = tmp_path / "questions.jsonl"
    good = '{"question": "Which pump?", "evidence": ["a"]}'
    file.write_text("\n".join(["x", good, "{}", "", *["[]"] * 10]), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"Lines 1, 3, 5, 6, .*, 12 and 2 more of questions"):
        read_questions(file)


def test_no_question_is_refused(store, alice):
    """A mean over nothing is refused."""
    with pytest.raises(InvalidInput):
        evaluate(store.scope(acting_as=alice), [])
