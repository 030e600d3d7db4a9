"""The sentence forms in which `bench.profiles` writes of invented people: sets to develop with, one held out.

All sets but the first were held out at first; their figures of that time are in docs/agents.md. Once the rules have
been changed with a set known, it measures nothing unseen any more.
"""

from bench.profile_forms.eighth import EIGHTH
from bench.profile_forms.fifth import FIFTH
from bench.profile_forms.first import FIRST
from bench.profile_forms.form_set import FormSet
from bench.profile_forms.fourth import FOURTH
from bench.profile_forms.second import SECOND
from bench.profile_forms.seventh import SEVENTH
from bench.profile_forms.sixth import SIXTH
from bench.profile_forms.third import THIRD

FORMS: dict[str, FormSet] = {
    "first": FIRST,
    "second": SECOND,
    "third": THIRD,
    "fourth": FOURTH,
    "fifth": FIFTH,
    "sixth": SIXTH,
    "seventh": SEVENTH,
    "eighth": EIGHTH,
}
HELD_OUT = "eighth"
