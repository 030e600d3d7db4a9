"""What a host is refused with: the codes of OAuth (RFC 6749, 5.2; RFC 7591, 3.2.2; RFC 8707, 2)."""

from common.problems import Problem


class InvalidClient(Problem):
    """No client of this `client_id` is known: it never registered, was forgotten, or its document does not name it."""

    code, status, title = "invalid_client", 401, "This client is not known"


class InvalidGrant(Problem):
    """The code or refresh token is unknown, used, expired or revoked, or belongs to another client or address."""

    code, title = "invalid_grant", "This code or token gives nothing any more"


class UnsupportedGrantType(Problem):
    """Tokens are given for an authorization code or a refresh token, for nothing else."""

    code, title = "unsupported_grant_type", "There is no such grant"


class InvalidTarget(Problem):
    """`resource` is neither of the two addresses that tokens are made for, or not the one that was authorized."""

    code, title = "invalid_target", "There are no tokens for this resource"


class InvalidClientMetadata(Problem):
    """A client says something of itself that is not taken here."""

    code, title = "invalid_client_metadata", "The client cannot be taken as it describes itself"


class InvalidRedirectUri(Problem):
    """An address that people cannot be sent back to: not https, this device, or a scheme of the client's own."""

    code, title = "invalid_redirect_uri", "Nobody can be sent back to this address"
