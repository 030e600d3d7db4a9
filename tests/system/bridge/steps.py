"""What the tests against the real application do and look at again and again."""

import pytest

from common import limits
from consent.discovery import counts
from consent_bridge.errors import Problem
from tests.factories import invitation_of

PASSPHRASE = "correct horse battery staple"
SCOPE = "attr.lifestyle.food.*"
PURPOSE = "Suggest restaurants that you would like"
FOOD = {"diet_preference": "vegetarian", "favorite_cuisine": "Thai", "coffee_or_tea": "tea"}
CUISINE, DIET = "lifestyle.food.favorite_cuisine", "lifestyle.food.diet_preference"


def ask(caller, person, key, **terms):
    return caller.request_consent(invitation_of(person), SCOPE, purpose=PURPOSE, key=key, **terms)


def refusal(call, *arguments, **named):
    """The code and status that the service says no with."""
    with pytest.raises(Problem) as caught:
        call(*arguments, **named)
    return caught.value.code, caught.value.status


def forget_what_the_process_remembers():
    """Paces and discoveries, which are kept for a while, do not cross from test to test."""
    limits._paces.clear()
    counts._counts._counts.clear()
