"""Throws what its own description allows at the server, and more: `python -m bench.fuzz`.

Each answer must have a documented status and body, and none may be a server error. The store is
filled while it runs, so that there is something to hit.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress

import hypothesis
import hypothesis.errors
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from memories_sdk import MemoryStore
from memories_sdk.server import Limits, create_app

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
ENDLESS = Limits(rate=0, failures=10**9)
CASES = 20_000


def fuzz(cases: int, seed: int) -> Counter[int]:
    """Send at least so many requests, and return how often each status came.

    Raises:
        Exception: An answer broke one of the checks.
    """
    statuses: Counter[int] = Counter()
    with MemoryStore(":memory:") as store:
        alice = store.principals.user("alice")
        agent = store.agents.create("writer", owner=alice)
        shelf = store.scope(acting_as=alice)
        memory = shelf.create("n", "plan", "one two")
        hits = {"agent_id": str(agent.id), "id": str(memory.id)}
        secret = store.tokens.issue(alice, access="write").secret
        app = create_app(store, limits=ENDLESS)
        schema = schemathesis.openapi.from_asgi("/openapi.json", app)
        operations = [found.ok() for found in schema.get_all_operations()]
        modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        while (left := cases - statuses.total()) > 0:
            each = -(-left // (len(modes) * len(operations)))
            for mode in modes:
                for operation in operations:
                    # An operation without parameters has nothing that could be wrong.
                    with suppress(hypothesis.errors.Unsatisfiable):
                        _throw(operation, mode, each, secret, statuses, seed, hits)
            seed += 1
    return statuses


def _throw(
    operation: schemathesis.APIOperation,
    mode: GenerationMode,
    examples: int,
    secret: str,
    statuses: Counter[int],
    seed: int,
    hits: Mapping[str, str],
) -> None:
    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
    def throw(case: schemathesis.Case) -> None:
        if mode is GenerationMode.POSITIVE:  # else nearly all of it stops at the door
            case.query.pop("principal_id", None)
            case.path_parameters |= {name: hits[name] for name in case.path_parameters}
        answer = case.call(headers={"Authorization": f"Bearer {secret}"})
        statuses[answer.status_code] += 1
        case.validate_response(answer, checks=CHECKS)

    throw()


def main() -> None:
    """Fuzz, and print how often each status came."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    statuses = fuzz(given.cases, given.seed)
    print(f"{sum(statuses.values()):,} requests, no server error, no undocumented answer")
    for status, count in sorted(statuses.items()):
        print(f"{status} {count:>8,}")
    sys.exit(0)


if __name__ == "__main__":
    main()
