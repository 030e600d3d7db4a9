"""`python -m consent_bridge` is the same as the installed `consent-bridge`."""

import sys

from consent_bridge.cli import main

sys.exit(main())
