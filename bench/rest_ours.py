"""The server of `bench.rest`: this package's, as it comes."""

from __future__ import annotations

import os

import uvicorn

from memories_sdk import MemoryStore
from memories_sdk.server import create_app

if __name__ == "__main__":
    with MemoryStore(os.environ["BENCH_PLACE"]) as store:
        port = int(os.environ["BENCH_PORT"])
        uvicorn.run(create_app(store), port=port, access_log=False, lifespan="off")
