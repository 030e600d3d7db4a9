"""`python -m bench NAME …`: one bench by the name of its module, which has a `main`."""

import sys
from importlib import import_module

if __name__ == "__main__":
    name = sys.argv.pop(1)
    sys.exit(import_module(f"bench.{name}").main())
