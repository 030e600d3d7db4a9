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
SAMPLE_DESCRIPTION = """\
Full name: Mara Lindholm
Email: mara.lindholm@example.org
Phone: +49 176 04069042
Age: 34
City: Leipzig
Occupation: landscape architect
Education: master's degree
Marital status: married
Children count: 2
Diet preference: vegetarian
Favourite cuisine: Italian
Coffee or tea: tea
Transport: bicycle
Fitness routine: running twice a week
Sleep chronotype: early
Likes: jazz, Harbour Tea, long train journeys
Dislikes: loud bars
Needs: a raincoat, rubber boots
Wants: a cargo bike
Desires: a house by a lake
"""
