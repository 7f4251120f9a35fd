"""A plugin: recipes as a type of memory, a cook in every store, and routes for recipes.

Installed beside memories-sdk (`pip install ./examples/plugin`), every store has it: the entry point
in pyproject.toml names this module. On a server its routes stand below `/plugins/recipes`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from fastapi import FastAPI
from pydantic import BaseModel
from starlette.requests import Request

from memories_sdk import AccessDenied, MemoryStore, Scope, Vocabulary
from memories_sdk.hooks import hookimpl
from memories_sdk.server import Caller

RECIPES = Vocabulary("recipes", {"recipe": "Recipes"})


class Recipe(BaseModel):
    """What a caller sends to have a recipe kept."""

    name: str
    text: str


@hookimpl
def register_types() -> list[Vocabulary]:
    """Let shelves take recipes."""
    return [RECIPES]


@hookimpl
def store_opening(store: MemoryStore) -> None:
    """See to it that there is a cook, whoever opens the store."""
    with suppress(AccessDenied):  # a store behind a server: the server's own has its cook
        store.principals.user("cook")


@hookimpl
def routes_registering(
    app: FastAPI, store: MemoryStore, caller: Callable[[Request], Caller]
) -> None:
    """Add two routes. Nobody reaches them unproved, and nobody who may only read reaches `keep`."""

    def shelf(request: Request) -> Scope:
        who = caller(request)
        return store.scope(
            acting_as=who.user, principal=who.principal, vocabularies=[RECIPES], source="recipes"
        )

    def count(request: Request) -> dict[str, int]:
        """Return how many recipes the caller has."""
        return shelf(request).counts()

    def keep(request: Request, recipe: Recipe) -> dict[str, int]:
        """Keep a recipe, and return its version."""
        return {"version": shelf(request).save(recipe.name, "recipe", recipe.text).memory.version}

    app.add_api_route("/count", count, summary="Count recipes")
    app.add_api_route("/", keep, methods=["POST"], status_code=201, summary="Keep a recipe")
