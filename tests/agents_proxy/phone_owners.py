"""Messages as the tests send them."""

from accounts.models import User
from agents_proxy.messaging import phone_numbers
from agents_proxy.processing_consent import actions as consents
from agents_proxy.states import Purpose
from common.clock import database_now

TO, OTHER = "+4915112345678", "+4915112345679"
ADDRESS = "/api/a2a/messaging"
CALL = {"to": TO, "text": "Your table is ready.", "sessionId": "session-7", "id": "task-table"}


def verified(user: User, number: str = TO) -> User:
    """`user` with a number of their own and a consent to messages."""
    consents.give(by=user, purposes=[Purpose.MESSAGING])
    phone_numbers.PhoneNumber.objects.create(
        user=user, number="sealed", digest=phone_numbers.digest("number", number), verified_at=database_now()
    )
    return user
