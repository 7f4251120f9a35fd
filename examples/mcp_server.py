"""A client of the Model Context Protocol uses an agent's memory. Runs offline, in one process.

python examples/mcp_server.py
"""

from __future__ import annotations

import asyncio

from mcp import Client

from memories_sdk import MemoryStore, MemoryTools
from memories_sdk.integrations.mcp import server


async def main() -> None:
    """Save a memory by a tool, and read it as a resource."""
    store = MemoryStore(":memory:")
    alice = store.principals.user("alice")
    writer = store.agents.create("writer", owner=alice)
    async with Client(server(MemoryTools(store, acting_as=alice, agent=writer))) as client:
        call = {"action": "save", "name": "tone", "type": "context", "content": "Plain words."}
        print((await client.call_tool("global_memory", call)).content[0].text)
        print((await client.read_resource("memory://global/context/tone")).contents[0].text)


if __name__ == "__main__":
    asyncio.run(main())
