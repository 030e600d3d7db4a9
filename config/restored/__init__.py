"""Whether a database that was restored from a backup may be opened to people again: `manage.py verify_restore`."""
