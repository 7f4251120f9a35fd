"""Archive: the verbs of a shelf that go back in its past, or take one in from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from uuid6 import UUID

from memories_sdk import adoption, timeline
from memories_sdk.bound import parsed_id, unknown_id
from memories_sdk.errors import EditConflict, InvalidInput, WriteRefused
from memories_sdk.fields import checked_time, checked_type, checked_version
from memories_sdk.history import History
from memories_sdk.memory import Memory
from memories_sdk.once import Once, writes
from memories_sdk.past import Adopted, Past, Policy, checked_policy
from memories_sdk.precondition import expect
from memories_sdk.visit import persistent


class Archive(Once):
    """What a shelf remembers. Part of every `Scope`."""

    @writes
    def restore(
        self,
        id: UUID | str,
        *,
        version: int | None = None,
        expected_version: int | None = None,
    ) -> Memory:
        """Bring back a deleted memory under its id, or an earlier version of one that is there.

        The place in the list stays what it is, or is among the same neighbours again. The result
        is a new version.

        Args:
            id: The memory, deleted or not.
            version: Which one; None for the last before the delete.
            expected_version: See the class; a deleted memory has none that is current.

        Raises:
            NotFound: It was never on this shelf, or the history does not reach that far.
            InvalidInput: It is not deleted and no version was named.
            NameTaken: Another memory has its name and type now.
            EditConflict: `expected_version` is stale.
        """
        target = checked_version(version)
        expected = checked_version(expected_version)
        memory_id = parsed_id(id)
        with self._writing(taken="Another memory has its name and type now.") as shelf:
            if expected is not None:
                if (stored := shelf.find_id(memory_id)) is None:
                    raise EditConflict(expected, None)
                expect(shelf, stored, expected)
            restored = timeline.restore(shelf, memory_id, target)
            if restored.type not in self._types(None):
                raise unknown_id()
            return restored

    @persistent
    def adopt(
        self, pasts: Sequence[Past], *, conflict: Policy = "skip", dry_run: bool = False
    ) -> list[Adopted]:
        """Take in memories that were kept elsewhere, with their pasts, as one change.

        A memory that is here already, in the same state, is left alone: to adopt the same again
        changes nothing. Each gets a new id. What a guard refuses does not stop the rest.

        Args:
            pasts: Made by `past.single` or `past.version_of`; a few hundred at a time.
            conflict: What to do where another memory has the name and type: leave it, overwrite
                it (its history stays), take another name, or raise.
            dry_run: Tell what would become of each, and write nothing.

        Returns:
            What became of each, in the given order.

        Raises:
            NameTaken: There is a conflict and it shall fail; nothing of the call was written.
        """
        policy = checked_policy(conflict)
        refused = dict(self._refusals(pasts))
        done = []
        with self._reading() if dry_run else self._writing() as shelf:
            for number, past in enumerate(pasts):
                if number in refused:
                    done.append(Adopted("refused", past.name, past.type, error=refused[number]))
                    continue
                vocabulary = checked_type(past.type, self.vocabularies)
                what = adoption.plan(shelf, past, policy, vocabulary)
                if dry_run:
                    done.append(Adopted(what.fate, what.name, past.type))
                else:
                    done.append(adoption.carry_out(shelf, past, what, self._setting.new_id))
        return done

    def _refusals(self, pasts: Sequence[Past]) -> Iterator[tuple[int, WriteRefused]]:
        for number, past in enumerate(pasts):
            for version in past.versions:
                try:
                    if version.draft is not None:
                        self._admit(past.type, version.draft.texts())
                except WriteRefused as error:
                    yield number, error
                    break

    @writes
    def undo(self, *, seq: int | None = None) -> History:
        """Take back the last change of this shelf, whoever made it, with all of its parts.

        A clear, a bulk delete and a reorder are one change each. Called again, it takes back the
        change before. What is taken back leaves revisions of its own.

        Args:
            seq: The change you mean to take back; None for the last, whichever it is.

        Returns:
            The revisions that were taken back, newest first.

        Raises:
            NotFound: There is nothing to take back.
            Conflict: Something else came after `seq`.
            NameTaken: Another memory has the name that would come back.
        """
        with self._writing(taken="Another memory has the name that would come back.") as shelf:
            undone = timeline.undo(shelf, seq, lambda key: shelf.beside(self._other(key)))
            if any(part.type not in (None, *self._types(None)) for part in undone):
                raise unknown_id()
            return History(undone)

    @writes
    def redact(self, text: str) -> int:
        """Blot out a text, such as a leaked secret, in this shelf and in all of its history.

        Bodies, summaries and tags are searched, letter by letter as it is written; names are not.
        A mark stands in its place, a revision says that it happened, and the file keeps no copy.
        Where the log beside the file cannot be emptied at once, it is done all the same, and
        `OldPagesRemain` warns that old pages may lie there until it can.

        Returns:
            In how many memories and revisions it stood.

        Raises:
            InvalidInput: The text is empty.
        """
        if not text:
            raise InvalidInput("text cannot be empty.", field="text", suggestion="Name the secret.")
        with self._writing(erasing=True) as shelf:
            return timeline.redact(shelf, text)

    @writes
    def prune(self, *, keep: int | None = None, before: datetime | None = None) -> int:
        """Forget what old revisions overwrote, to save room; that they were stays on record.

        Nothing is ever pruned by itself.

        Args:
            keep: Revisions beyond the newest so many of each memory are emptied; at least 1.
            before: Revisions before this moment are emptied.

        Returns:
            How many revisions were emptied.

        Raises:
            InvalidInput: Neither was given, or one is out of range.
        """
        if keep is None and before is None:
            raise InvalidInput("prune needs keep= or before=.", suggestion="For example keep=20.")
        if keep is not None and keep < 1:
            raise InvalidInput("keep must be at least 1.", field="keep", suggestion="keep=20")
        moment = checked_time(before)
        with self._writing(erasing=True) as shelf:
            return timeline.prune(shelf, keep=keep, before=moment)
