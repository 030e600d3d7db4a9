"""Sealing and opening, in one place to import from: segments, exports, wrappers, keys and the request digest.

The formats are JOSE (RFC 7515 to 7518, 7638, 8037). Every function that opens takes what its caller expects and refuses
with `Refused`, whose text names the reason or the member that differs.
"""

from consent_bridge.errors import CannotOpen, KeyRefused, Refused
from consent_bridge.exports import (
    DIGEST_MEMBERS,
    LATER_MEMBERS,
    ExportContent,
    ExportHeader,
    Source,
    check_content,
    open_export,
    open_export_where,
    origin_of,
    pick,
    request_digest,
    seal_export,
    split_path,
)
from consent_bridge.jwe import MAX_JWE_CHARS, MAX_PLAINTEXT_BYTES, equal, equal_as_text
from consent_bridge.keys import (
    CURVES,
    check_connector_key,
    check_private_key,
    generate_connector_key,
    public_half,
    thumbprint,
)
from consent_bridge.segments import SegmentHeader, open_segment, open_segment_where, seal_segment
from consent_bridge.signing import (
    ApprovalRoot,
    generate_root,
    new_root,
    open_root,
    seal_root,
    signed_approval,
    signed_resumption,
    signed_rotation,
)
from consent_bridge.wrappers import (
    KINDS,
    VaultKey,
    generate_recovery_code,
    generate_vault_key,
    read_recovery_code,
    unwrap,
    wrap,
)

__all__ = [
    "CURVES",
    "DIGEST_MEMBERS",
    "KINDS",
    "LATER_MEMBERS",
    "MAX_JWE_CHARS",
    "MAX_PLAINTEXT_BYTES",
    "ApprovalRoot",
    "CannotOpen",
    "ExportContent",
    "ExportHeader",
    "KeyRefused",
    "Refused",
    "SegmentHeader",
    "Source",
    "VaultKey",
    "check_connector_key",
    "check_content",
    "check_private_key",
    "equal",
    "equal_as_text",
    "generate_connector_key",
    "generate_recovery_code",
    "generate_root",
    "generate_vault_key",
    "new_root",
    "open_export",
    "open_export_where",
    "open_root",
    "open_segment",
    "open_segment_where",
    "origin_of",
    "pick",
    "public_half",
    "read_recovery_code",
    "request_digest",
    "seal_export",
    "seal_root",
    "seal_segment",
    "signed_approval",
    "signed_resumption",
    "signed_rotation",
    "split_path",
    "thumbprint",
    "unwrap",
    "wrap",
]
