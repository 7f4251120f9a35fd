"""How a browser logs in and out, and how anybody asks who they are."""

from __future__ import annotations

from typing import Final

from memories_sdk.server import description as say
from memories_sdk.server.authentication import Caller, Gate
from memories_sdk.server.calls import Call
from memories_sdk.server.replies import Answer, data
from memories_sdk.server.routes import SPORA, Route
from memories_sdk.tokens import SESSION
from memories_sdk.wire import Json, agent_json, principal_json

PATH: Final = "/session"


class Sessions:
    """The routes around a login.

    Args:
        gate: Who lets in.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def logged_in(self, call: Call) -> Answer:
        """Log a browser in with a token: a cookie for it, and what each write must repeat."""
        secret, caller = self._gate.log_in(call.request, call.given.get("token"))
        cookie = self._gate.cookie(call.request, secret, int(SESSION.total_seconds()))
        return data(_whole(call, caller), 200, {"Set-Cookie": cookie})

    def shown(self, call: Call) -> Answer:
        """Say who is calling, as whom that may act, and with which agents."""
        return data(_whole(call, call.caller))

    def logged_out(self, call: Call) -> Answer:
        """End the session of a browser."""
        self._gate.log_out(call.request)
        return data({"deleted": True}, 200, {"Set-Cookie": self._gate.cookie(call.request, "", 0)})

    def routes(self) -> tuple[Route, ...]:
        """Return the three routes."""
        return (
            Route(
                *(SPORA, "POST", PATH, self.logged_in, "Log in with a token"),
                open=True,
                body=say.LOGIN,
                example={"data": say.SESSION},
                refuses=("CSRF_INVALID",),
            ),
            Route(
                *(SPORA, "GET", PATH, self.shown, "Show who is calling"),
                example={"data": say.SESSION},
            ),
            Route(
                *(SPORA, "DELETE", PATH, self.logged_out, "Log out"),
                example={"data": {"deleted": True}},
            ),
        )


def _whole(call: Call, caller: Caller) -> Json:
    store = call.store
    visible = store.principals.visible_to(caller.user)
    seen = [each for each in visible if caller.principal in {None, each}]
    return {
        "user": principal_json(caller.user),
        "principals": [principal_json(each) for each in seen],
        "agents": [agent_json(each) for owner in seen for each in store.agents.owned_by(owner)],
        "may_write": caller.may_write,
        "csrf_token": caller.csrf,
    }
