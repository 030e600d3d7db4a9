"""The addresses that programs call with a token, of every room that has some, for config/program_addresses.py."""

from agents_proxy.urls import program as agents
from consent.program_urls import urlpatterns as consent

urlpatterns = [*consent, *agents]
