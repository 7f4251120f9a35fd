"""Stores on a server: what is said of them that is not said of every store."""

from __future__ import annotations

import os

import pytest


@pytest.mark.parametrize(
    ("server", "variable"),
    [("postgresql", "MEMORIES_TEST_POSTGRES"), ("mariadb", "MEMORIES_TEST_MYSQL")],
)
def test_every_store_test_runs_on_a_server_too(request, server, variable):
    """A server that is not there is seen in the summary, once, with what to set."""
    if not os.environ.get(variable):
        pytest.skip(f"no tests on {server}: set {variable} to the URL of a database on a server")
    ran = {
        item.callspec.params.get("engine")
        for item in request.session.items
        if hasattr(item, "callspec")
    }
    assert ran <= {None, "sqlite-file", "sqlite-memory", "postgresql", "mariadb"}
