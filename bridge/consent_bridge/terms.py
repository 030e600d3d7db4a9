"""What may be said of a request, each member with its rules as JSON Schema.

Made by `./run types` from the OpenAPI document; not to be edited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict


class Terms(TypedDict, total=False):
    """The contract's optional members of a request; None leaves one out. Durations in seconds."""

    access_duration: Annotated[
        int | None,
        {
            "description": "Seconds to read for. The person may choose less.",
            "maximum": 31536000,
            "minimum": 300,
            "type": "integer",
        },
    ]
    requested_expiry: Annotated[
        int | None,
        {
            "description": "Seconds that the request waits for a decision.",
            "maximum": 2592000,
            "minimum": 300,
            "type": "integer",
        },
    ]
    required_attributes: Annotated[
        Sequence[str] | None,
        {
            "description": "Paths inside the scope without which you cannot do it. The person cannot untick them.",
            "items": {
                "maxLength": 200,
                "pattern": "^[a-z][a-z0-9_]{0,63}(\\.[a-z][a-z0-9_]{0,63}){2}$",
                "type": "string",
            },
            "maxItems": 500,
            "type": "array",
        },
    ]
    optional_attributes: Annotated[
        Sequence[str] | None,
        {
            "description": "Paths that would help. With neither list, all of the scope is optional.",
            "items": {
                "maxLength": 200,
                "pattern": "^[a-z][a-z0-9_]{0,63}(\\.[a-z][a-z0-9_]{0,63}){2}$",
                "type": "string",
            },
            "maxItems": 500,
            "type": "array",
        },
    ]
    max_reads: Annotated[
        int | None,
        {
            "description": "After so many reads the approval is used up.",
            "maximum": 100000,
            "minimum": 1,
            "type": "integer",
        },
    ]
    refresh_policy: Annotated[
        Literal["snapshot", "continuous"] | None,
        {
            "description": "`snapshot`: the data as it is at approval. `continuous`: kept up to date by the person.",
            "enum": ["snapshot", "continuous"],
            "type": "string",
        },
    ]
    binding_message: Annotated[
        str | None,
        {"description": "Up to 64 characters that both sides show.", "maxLength": 64, "minLength": 1, "type": "string"},
    ]
    template_id: Annotated[
        str | None,
        {
            "description": "An approved template to keep within.",
            "maxLength": 64,
            "minLength": 1,
            "pattern": "^[!-~]+$",
            "type": "string",
        },
    ]
    invitation_sha256: Annotated[
        str | None,
        {
            "description": "Base64url SHA-256 of the sharing ID in `user_id`, which vaults compare. Clients add it.",
            "x-in-digest": True,
            "pattern": "^[A-Za-z0-9_-]{43}$",
            "type": "string",
        },
    ]
    required_because: Annotated[
        str | None,
        {
            "description": "What fails without the required ones: up to 140 characters, shown beside them.",
            "x-in-digest": True,
            "maxLength": 140,
            "minLength": 1,
            "type": "string",
        },
    ]
    return_url: Annotated[
        str | None,
        {
            "description": "Where the person goes after deciding, under an origin of yours.",
            "x-in-digest": True,
            "maxLength": 2000,
            "minLength": 8,
            "type": "string",
        },
    ]
    accepts: Annotated[
        Mapping[str, Any] | None,
        {
            "description": "Of a value that you ask for, the answers that would do; the person may share one instead.",
            "x-in-digest": True,
            "additionalProperties": {
                "items": {
                    "maxLength": 200,
                    "pattern": "^[a-z][a-z0-9_]{0,63}(\\.[a-z][a-z0-9_]{0,63}){2}$",
                    "type": "string",
                },
                "maxItems": 20,
                "minItems": 1,
                "type": "array",
            },
            "maxProperties": 50,
            "minProperties": 1,
            "type": "object",
        },
    ]
