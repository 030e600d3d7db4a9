"""What a host is refused with: the codes of OAuth (RFC 6749, 5.2; RFC 7591, 3.2.2; RFC 8707, 2)."""

from common.problems import Kind, Problem

# fmt: off
InvalidClient = Kind("invalid_client", 401, "This client is not known",
    "No client of this `client_id` is known: it never registered, was forgotten, or its document does not name it.")
InvalidGrant = Kind("invalid_grant", 400, "This code or token gives nothing any more",
    "The code or refresh token is unknown, used, expired or revoked, or belongs to another client or address.")
UnsupportedGrantType = Kind("unsupported_grant_type", 400, "There is no such grant",
    "Tokens are given for an authorization code or a refresh token, for nothing else.")
InvalidClientMetadata = Kind("invalid_client_metadata", 400, "The client cannot be taken as it describes itself",
    "A client says something of itself that is not taken here.")
InvalidRedirectUri = Kind("invalid_redirect_uri", 400, "Nobody can be sent back to this address",
    "An address that people cannot be sent back to: not https, this device, or a scheme of the client's own.")
# fmt: on


class InvalidTarget(Problem):
    """`resource` is neither of the two addresses that tokens are made for, or not the one that was authorized."""

    code, title = "invalid_target", "There are no tokens for this resource"
