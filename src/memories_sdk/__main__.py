"""Runs the command line: `python -m memories_sdk`."""

from memories_sdk.cli import main

if __name__ == "__main__":
    main()
