"""A Django app with one command, `manage.py sample_data`: people to try the service with.

It stands outside the server's packages because it plays a client: with the bridge it seals the sample owner's vault as
their browser would. config/settings.py installs it only where the bridge is installed.
"""
