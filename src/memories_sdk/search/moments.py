"""What a prompt says about time: dates it names, and whether it asks when something was. Pure.

English, and dates in digits. A date is compared with the day a memory was made.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import date
from typing import Final, NamedTuple

_MONTHS: Final = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_NAMES: Final = "|".join(_MONTHS)
_MONTH_NAMES: Final = frozenset(_MONTHS)
_CENTURIES: Final = frozenset({"19", "20"})
_ASKING: Final = frozenset({"when", "how", "what", "which"})
_DAY: Final = r"(?:st|nd|rd|th)?\b"
_NAMED: Final = re.compile(
    rf"(?:\b(?P<before>[0-9]{{1,2}}){_DAY}(?: of)? )?"
    rf"(?P<in>\b(?:in|of|since|until|by|during|last|this|early|late|mid)[ -])?"
    rf"\b(?P<month>{_NAMES})\b"
    rf"(?: (?P<after>[0-9]{{1,2}}){_DAY}(?! ?[:0-9]))?(?:,? (?P<year>(?:19|20)[0-9]{{2}})\b)?",
    re.IGNORECASE,
)
_DIGITS: Final = re.compile(
    r"\b(?P<year>(?:19|20)[0-9]{2})(?:[-/.年](?P<month>[0-9]{1,2})(?:[-/.月](?P<day>[0-9]{1,2}))?)?"
    r"(?![0-9])"
)
_ASKS_WHEN: Final = re.compile(
    r"(?:^|[.!?\n] *)"
    r"(?:when|how long|(?:on )?(?:what|which) (?:date|day|month|year|time))\b",
    re.IGNORECASE,
)
_TELLS_TIME: Final = re.compile(
    rf" (?:yesterday|today|tonight|tomorrow|ago|last|next|weeks?|weekends?|months?|years?|recently"
    rf"|since|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|{_NAMES}|(?:19|20)[0-9]{{2}}"
    r"|[0-9]{1,2}(?:st|nd|rd|th)) "
)
_WEEK: Final = 7
_YEAR: Final = 12
_MOST: Final = 8
"""Dates of a prompt that count."""


class Span(NamedTuple):
    """A date as far as it was named: a day, a month, or a year."""

    year: int | None
    month: int | None
    day: int | None

    def closeness(self, made: date) -> float:
        """Return how well a day fits: 1 inside the span, less soon after it, else 0.

        What happens on a day is often written down in the week after.
        """
        if self.year is not None and self.year != made.year:
            return 0.0
        if self.month is None:
            return 0.3
        if self.day is None:
            if self.month == made.month:
                return 1.0
            return 0.3 if made.month == self.month % _YEAR + 1 and made.day <= _WEEK else 0.0
        try:
            days = (made - date(made.year, self.month, self.day)).days
        except ValueError:
            return 0.0
        return 1.0 if days == 0 else 0.5 if 0 < days <= _WEEK else 0.0


def named_dates(text: str, words: Collection[str]) -> tuple[Span, ...]:
    """Return the dates that a text with these folded words names, at most eight.

    "May" and "march" count as months only with a day, a year or a word such as "in" beside them.
    """
    if _MONTH_NAMES.isdisjoint(words) and not any(word[:2] in _CENTURIES for word in words):
        return ()  # looking for the forms of a date would take most of the time of a query
    spans: list[Span] = []
    rest = text
    for match in _NAMED.finditer(text):
        month = match["month"].lower()
        day = match["before"] or match["after"]
        if month in {"may", "march"} and not (day or match["in"] or match["year"]):
            continue
        spans.append(Span(_number(match["year"]), _MONTHS.index(month) + 1, _number(day)))
        rest = rest[: match.start()] + " " * len(match[0]) + rest[match.end() :]
    spans += (
        Span(*(_number(match[part]) for part in ("year", "month", "day")))
        for match in _DIGITS.finditer(rest)
    )
    return tuple(span for span in spans[:_MOST] if span.month is None or 1 <= span.month <= _YEAR)


def asks_when(text: str, words: Collection[str]) -> bool:
    """Whether a sentence of a text with these folded words asks for a time."""
    return not _ASKING.isdisjoint(words) and _ASKS_WHEN.search(text) is not None


def tells_time(words: str) -> bool:
    """Whether folded words, with blanks around each, say when something is."""
    return _TELLS_TIME.search(words) is not None


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None
