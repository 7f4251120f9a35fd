"""Choosing who acts and which shelf is open."""

from __future__ import annotations

from memories_sdk.principals import Agent
from memories_sdk.widgets._bridge import verb
from memories_sdk.widgets._place import Placed


class PrincipalPicker(Placed):
    """One choice per principal the caller may act as, and the switch between Global and Agent.

    `principal_id` and `agent_id` tell what is chosen. Choosing another principal goes back to its
    global shelf when the open agent is not its own.
    """

    @verb("places")
    def _places(self) -> dict[str, object]:
        """Return whom the caller may act as, itself first, and the agents of the open one."""
        principals = self._store.principals.visible_to(self._caller)
        chosen = [each for each in principals if each.id == self.principal_id]
        return {
            "principals": [
                {
                    "id": each.id,
                    "kind": each.kind,
                    "name": each.name,
                    "own": each.id == self._caller.id,
                }
                for each in principals
            ],
            "agents": [
                {"id": agent.id, "name": agent.name}
                for principal in chosen
                for agent in self._agents(principal.id)
            ],
        }

    @verb("choose")
    def _choose(self, *, principal_id: int) -> None:
        """Act as that principal from now on."""
        agents = {agent.id for agent in self._agents(principal_id)}
        with self.hold_sync():
            if self.agent_id not in agents:
                self.agent_id = None
            self.principal_id = principal_id

    @verb("enter")
    def _enter(self, *, agent_id: int | None) -> None:
        """Open the agent's own shelf, or the principal's global one for None."""
        self._scope_of(self.principal_id, agent_id)
        self.agent_id = agent_id

    def _agents(self, principal_id: int) -> list[Agent]:
        return list(self._store.agents.owned_by(self._principal(principal_id)))
