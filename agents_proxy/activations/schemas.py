"""The bodies of sendings."""

from typing import Annotated

from pydantic import Field

from common.admission.shapes import Strict


class ActivationBody(Strict):
    """`POST /api/a2a/analyses/{analysisId}/activations`."""

    destinationId: Annotated[str, Field(pattern=r"^des_[a-z2-7]{1,60}\Z")]  # noqa: N815  # the contract's spelling
    sending: Annotated[
        int,
        Field(
            ge=0,
            lt=100,
            description="Which sending of this analysis to this destination it is. One that comes again is answered "
            "with what became of it, and nothing is sent a second time; to send again, take the next number.",
        ),
    ] = 0
