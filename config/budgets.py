"""What may be asked for in an hour: of one person, and under tokens of one app for all people; 0 is off."""

from config import env

# another try of a step counts as an analysis; activations are sendings to destinations
A2A_BUDGETS = {
    "ANALYSES_PER_PERSON_PER_HOUR": env.number("ANALYSES_PER_PERSON_PER_HOUR", 60),
    "ANALYSES_PER_APP_PER_HOUR": env.number("ANALYSES_PER_APP_PER_HOUR", 3000),
    "ACTIVATIONS_PER_PERSON_PER_HOUR": env.number("ACTIVATIONS_PER_PERSON_PER_HOUR", 60),
    "ACTIVATIONS_PER_APP_PER_HOUR": env.number("ACTIVATIONS_PER_APP_PER_HOUR", 3000),
}
