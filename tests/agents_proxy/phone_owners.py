"""Messages as the tests send them."""

from accounts.models import User
from agents_proxy.processing_consent import actions as consents
from agents_proxy.states import Purpose
from tests.agents_proxy.proxy_calls import owning

TO, OTHER = "+4915112345678", "+4915112345679"
ADDRESS = "/api/a2a/messaging"
CALL = {"to": TO, "text": "Your table is ready.", "sessionId": "session-7", "id": "task-table"}


def verified(user: User, number: str = TO) -> User:
    """`user` with a number of their own and a consent to messages."""
    owning(user, number)
    consents.give(by=user, purposes=[Purpose.MESSAGING])
    return user
