"""Reference agents: a program of its own that answers from the prompt and from public numbering plans, without network.

It shows what an agent behind the proxy has to answer, and stands in for agents that a deployment does not have.
"""

# under /<name> each; without imports, so that `./run` can read it before anything is installed
NAMES = ("public", "second", "core-profile", "core-profile-update", "core", "brand")
