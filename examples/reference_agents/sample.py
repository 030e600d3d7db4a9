"""The sample person: invented, in the synthetic registers, and with a phone number that is reserved for fiction.

It imports nothing, so that anything may read it. `SAMPLE` is the input of an analysis; `SAMPLE_DESCRIPTION` is the text
from which the agent `core-profile` makes and keeps the person's profile.
"""

SAMPLE = {
    "email": "mara.lindholm@example.org",
    "fullName": "Mara Lindholm",
    "countryCode": "+49",
    "phoneNumber": "17604069042",
}
SAMPLE_DESCRIPTION = (
    "Mara Lindholm is 34 years old and lives in Leipzig. "
    "Her e-mail address is mara.lindholm@example.org and her phone number is +49 176 04069042. "
    "She works as a landscape architect and has a master's degree. "
    "She is married and has 2 children. "
    "She is vegetarian, and her favourite cuisine is Italian. "
    "She prefers tea and usually travels by bicycle. "
    "She goes running twice a week and is an early bird. "
    "She likes jazz, Harbour Tea and long train journeys, and dislikes loud bars. "
    "She needs a raincoat and rubber boots. "
    "She wants a cargo bike, and she dreams of a house by a lake."
)
