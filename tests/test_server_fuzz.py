"""No request makes the server stumble, and none gets an answer that is not described."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parent.parent / "bench" / "fuzz.py"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the tool's own making
def test_nothing_makes_it_stumble() -> None:
    """A short run of `make fuzzrest`: what the description allows, and what it does not."""
    spec = importlib.util.spec_from_file_location("bench_fuzz", PATH)
    assert spec is not None
    assert spec.loader is not None
    fuzz = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = fuzz
    spec.loader.exec_module(fuzz)
    statuses = fuzz.fuzz(300, seed=1)
    assert statuses.total() >= 300
    assert max(statuses) < 500
    assert {200, 404, 422} <= statuses.keys()
