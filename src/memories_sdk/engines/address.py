"""The address of a database on a server: a URL, with what is meant for us taken out."""

from __future__ import annotations

from typing import Final, NamedTuple, Self
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from memories_sdk.errors import InvalidInput

POOL: Final = 16
PREPARE: Final = 5


class Address(NamedTuple):
    """Where a database is.

    Attributes:
        url: For the driver, with the password.
        shown: The same without it.
        options: What stands behind the question mark, for the driver.
        pool: Most connections at a time; `?pool=`.
        partitions: In how many parts new tables are made; 0 for whole ones; `?partitions=`.
        prepare: After how many times a statement is prepared on the server; None for never, as
            some poolers need it; `?prepare=`.
    """

    url: str
    shown: str
    options: dict[str, str]
    pool: int
    prepare: int | None
    partitions: int = 0

    @classmethod
    def parsed(cls, url: str) -> Self:
        """Return the parts of a URL.

        Raises:
            InvalidInput: An option of ours is no number.
        """
        parts = urlsplit(url)
        scheme = parts.scheme.partition("+")[0]
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        pool = _number(options.pop("pool", POOL), "pool")
        prepare = _number(options.pop("prepare", PREPARE), "prepare")
        partitions = _number(options.pop("partitions", 0), "partitions")
        query = urlencode(options, quote_via=quote)
        user, at, hosts = parts.netloc.rpartition("@")
        public = f"{user.partition(':')[0]}{at}{hosts}"
        return cls(
            urlunsplit((scheme, parts.netloc, parts.path, query, "")),
            f"{scheme}://{public}{parts.path}",
            options,
            max(pool, 1),
            prepare or None,
            partitions,
        )


def _number(value: str | int, name: str) -> int:
    if not str(value).isascii() or not str(value).isdigit():
        raise InvalidInput(
            f"{name}= in the URL must be a number.",
            field="location",
            suggestion="Leave it out for the default.",
        )
    return int(value)
