"""Save and list a memory, then meet the missing extra: run by bare.py in a bare environment.

Usage: bare_smoke.py DATABASE
"""

import sys

from memories_sdk import MemoryStore
from memories_sdk.errors import MissingExtra

with MemoryStore(sys.argv[1]) as store:
    alice = store.principals.user("alice")
    shelf = store.scope(acting_as=alice)
    shelf.save("user_preferences", "context", "Always answer in British English")
    names = [head.name for head in shelf.list()]
if names != ["user_preferences"]:
    sys.exit(f"The bare install lists {names}, not the one memory it saved.")

try:
    # The import itself is the question.
    import memories_sdk.widgets  # noqa: F401
except MissingExtra as error:
    if 'pip install "memories-sdk[widgets]"' not in str(error):
        sys.exit(f"The missing extra does not say how to install it: {error}")
    print(f"Bare install: saved and listed {names}; widgets answer: {error}")
else:
    sys.exit("memories_sdk.widgets imports without its extra: this environment is not bare.")
