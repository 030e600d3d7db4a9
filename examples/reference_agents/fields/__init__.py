"""The one table of what is read out of text: field → labels, sentence patterns, form of the value (pure).

A pattern that ends in a value has one group; one with a fixed value has none. What a normaliser does not know is None
and is left out.
"""

from examples.reference_agents.fields.field import Field
from examples.reference_agents.fields.leisure import LEISURE
from examples.reference_agents.fields.living import LIVING
from examples.reference_agents.fields.person import PERSON
from examples.reference_agents.fields.wishes import WISHES

FIELDS: dict[str, Field] = {**PERSON, **LIVING, **LEISURE, **WISHES}
LISTS = ("needs", "wants", "desires", "likes", "dislikes", "brand_affinities")
