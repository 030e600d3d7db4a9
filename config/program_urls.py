"""The addresses that programs call with a token, of every room that has some, for config/program_addresses.py."""

from agents_proxy.destinations.urls import management as destinations
from agents_proxy.urls import program as assertions
from consent.program_urls import urlpatterns as consent

urlpatterns = [*consent, *destinations, *assertions]
