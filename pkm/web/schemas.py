"""The bodies and queries of the vault's addresses, strict: wrong types and unknown members are refused."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from common.admission.schemas import Strict, unique
from common.text import is_plain
from pkm import scopes


def _plain_text(text: str) -> str:
    if not is_plain(text):
        raise PydanticCustomError("plain_text", "must be one line of plain text without invisible characters")
    return text.strip()


def _scope(text: str) -> str:
    if scopes.parse(text) is None:
        raise PydanticCustomError("scope", "must be a scope such as attr.lifestyle.food.*")
    return text


EXAMPLE_JWE = "eyJhbGciOiJBMjU2S1cifQ.a2V5.bm9uY2U.c2VhbGVk.dGFn"
EXAMPLE_KEY_ID = "vk_4f8sZk2mQ1x7Yp0c"

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}\Z")]
Names = Annotated[list[Name], AfterValidator(unique)]
KeyId = Annotated[str, Field(pattern=r"^vk_[A-Za-z0-9._~-]{16,125}\Z", examples=[EXAMPLE_KEY_ID])]
Revision = Annotated[int, Field(ge=0, le=2**31 - 2)]
Possession = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{43}\Z")]  # pkm.vault.checks
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}\Z")]
Label = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_plain_text)]


class WrapperBody(Strict):
    """One way into the vault; a passkey names its credential, and nothing else does."""

    kind: Literal["passphrase", "recovery", "passkey"]
    label: Annotated[Label, Field(examples=["Passphrase"])]
    jwe: Annotated[str, Field(min_length=1, max_length=4096, examples=[EXAMPLE_JWE])]
    credential_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,1400}\Z")] | None = None

    @model_validator(mode="after")
    def _credential_is_passkeys(self) -> "WrapperBody":
        if (self.kind == "passkey") == (self.credential_id is None):
            raise PydanticCustomError("credential_id", "credential_id goes with a passkey, and only with one")
        return self


_ROOT = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
PublicKey = Annotated[dict[str, Any], Field(max_length=8)]
SealedRoot = Annotated[str, Field(min_length=1, max_length=4096)]
SealedNotes = Annotated[str, Field(min_length=1, max_length=256 * 1024)]


class KeysBody(Strict):
    """`POST /vault/keys`. The approval root is given whole or not at all."""

    key_id: KeyId
    wrappers: Annotated[list[WrapperBody], Field(min_length=1, max_length=20)]
    possession_sha256: Digest | None = None
    signing_public_key: Annotated[PublicKey | None, Field(examples=[_ROOT])] = None
    signing_jwe: Annotated[SealedRoot | None, Field(examples=[EXAMPLE_JWE])] = None
    notes: Annotated[
        SealedNotes | None, Field(description="The vault's own notes at revision 1, made with it or not at all.")
    ] = None

    @model_validator(mode="after")
    def _root_is_whole(self) -> "KeysBody":
        if (self.signing_public_key is None) != (self.signing_jwe is None):
            raise PydanticCustomError("signing_jwe", "signing_public_key and signing_jwe go together")
        return self


class SigningKeyBody(Strict):
    """`PUT /vault/signing-key`: `rotation` has a JWS that both keys signed for the root, then one for each app."""

    signing_public_key: Annotated[PublicKey, Field(examples=[_ROOT])]
    signing_jwe: Annotated[SealedRoot, Field(examples=[EXAMPLE_JWE])]
    rotation: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=1000)] | None = None


class NotesBody(Strict):
    """`PUT /vault/notes`."""

    jwe: SealedNotes
    base_revision: Revision


class ResealedNotesBody(Strict):
    """`PUT /vault/rotation/notes`: the revision that stands, under the key to come."""

    jwe: SealedNotes
    revision: Annotated[int, Field(ge=1, le=2**31 - 1)]


class UnlockedBody(Strict):
    """`POST /vault/unlocked`."""

    wrapper_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,64}\Z")]
    tried: bool = False  # to see whether it is still good, not to unlock


class WithNotesBody(Strict):
    """What a change of the vault may carry: an address that takes nothing else needs no body."""

    notes: Annotated[
        NotesBody | None,
        Field(
            description="The vault's own sealed notes, which tell of this, kept in the same transaction or not at all; "
            "where somebody wrote them meanwhile the answer is `stale_revision` with `member` `notes`."
        ),
    ] = None


class SegmentBody(WithNotesBody):
    """`PUT /vault/segments/{domain}/{segment_id}`."""

    jwe: Annotated[str, Field(min_length=1, examples=[EXAMPLE_JWE])]
    base_content_revision: Revision
    attributes: Annotated[Names, Field(examples=[["favorite_cuisine"]])]


class SegmentsQuery(Strict):
    """`GET /vault/segments`: by `scope`, by `domain`, or all."""

    scope: Annotated[str, AfterValidator(_scope)] | None = None
    domain: Name | None = None

    @model_validator(mode="after")
    def _one_way_of_naming(self) -> "SegmentsQuery":
        if self.scope is not None and self.domain is not None:
            raise PydanticCustomError("naming", "give scope or domain, not both")
        return self


class DeleteQuery(Strict):
    """`DELETE /vault/segments/{domain}/{segment_id}`."""

    base_content_revision: Annotated[Revision, Field(description="The revision that you know.")]


class RotationBody(Strict):
    """`POST /vault/rotation`; `signing_jwe` is the approval root under the key to come, null where there is none."""

    key_id: KeyId
    wrappers: Annotated[list[WrapperBody], Field(min_length=1, max_length=20)]
    possession: Possession | None = None  # of the present key
    possession_sha256: Digest | None = None  # of the key to come
    signing_jwe: SealedRoot | None = None


class ResealedBody(Strict):
    """`PUT /vault/rotation/segments/{domain}/{segment_id}`: the revision that stands, under the key to come."""

    jwe: Annotated[str, Field(min_length=1)]
    content_revision: Annotated[int, Field(ge=1, le=2**31 - 1)]


class FinishBody(Strict):
    """`POST /vault/rotation/finish`. `read_back` holds the end to what was read back, see `read_back_mark`."""

    read_back: Digest | None = None
