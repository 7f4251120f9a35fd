"""Claude keeps notes with Anthropic's own memory tool. Runs offline, with a scripted model.

    python examples/anthropic_memory.py

With a real key, leave `base_url` and `http_client` out.
"""

from __future__ import annotations

import anthropic
import httpx2

from memories_sdk import MemoryStore, MemoryTools
from memories_sdk.integrations.anthropic import MemoryTool

SCRIPT = [
    {"command": "view", "path": "/memories"},
    {
        "command": "create",
        "path": "/memories/global/context/reader.md",
        "file_text": "Reads on the train.\n",
    },
    {
        "command": "str_replace",
        "path": "/memories/global/context/reader.md",
        "old_str": "train",
        "new_str": "tram",
    },
]


turns = enumerate(SCRIPT)


def scripted(_: httpx2.Request) -> httpx2.Response:
    """Answer as the model would: one command after the other, then a closing word."""
    turn, command = next(turns, (len(SCRIPT), None))
    if command is not None:
        block = {"type": "tool_use", "id": f"toolu_{turn}", "name": "memory", "input": command}
    else:
        block = {"type": "text", "text": "Noted."}
    return httpx2.Response(
        200,
        json={
            "id": f"msg_{turn}",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    )


def main() -> None:
    """Let the model work, and show what it kept."""
    store = MemoryStore(":memory:")
    alice = store.principals.user("alice")
    store.agents.create("writer", owner=alice)
    client = anthropic.Anthropic(
        api_key="scripted",
        base_url="http://model.invalid",
        http_client=httpx2.Client(transport=httpx2.MockTransport(scripted)),
    )
    runner = client.beta.messages.tool_runner(
        model="scripted",
        max_tokens=1024,
        messages=[{"role": "user", "content": "I read on the tram."}],
        tools=[MemoryTool(MemoryTools(store, acting_as=alice, agent="writer"))],
    )
    answer = runner.until_done()
    print(answer.content[0].text)
    print(store.scope(acting_as=alice).get("reader", "context").content)


if __name__ == "__main__":
    main()
