"""The neighbourhood: stand-ins for the programs that a deployment talks to, for trying everything on one machine.

An aggregator, a CRM that shows what arrived, a message gateway that shows what would have been sent, and a page that
lists everything with whether it answers now. All people, shops, banks and purchases in it are invented.
"""

# each on a port of its own, this far above the server's; without imports, so that `./run` can read it early
NAMES = ("overview", "agents", "aggregator", "crm", "gateway")
