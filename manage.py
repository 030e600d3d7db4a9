#!/usr/bin/env python3
"""Django's command line for this project."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:2] == ["make_keys"]:
        # it makes the secrets, so it alone runs where there are none
        os.environ.setdefault("SECRET_KEY", "none yet")
        os.environ.setdefault("RECEIPT_KEYS", "[]")
        os.environ.setdefault("LOG_KEYS", "[]")
        os.environ.setdefault("DATA_ENCRYPTION_KEYS", f"{'A' * 43}=")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
