"""EdDSA by its usual name, without joserfc's word against it."""

import warnings

import pytest
from joserfc import jws
from joserfc.errors import UnsupportedAlgorithmError
from joserfc.jwk import OctKey

from common.jose import EDDSA
from consent.ledger import receipts


def test_signing_and_checking_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        token = receipts.sign({"a": 1}, "consent-receipt+jwt")
        assert receipts.verified(token) == {"a": 1}


def test_no_other_algorithm_is_taken() -> None:
    key = OctKey.generate_key()
    forged = jws.serialize_compact({"alg": "HS256"}, b"{}", key)

    with pytest.raises(UnsupportedAlgorithmError):
        jws.deserialize_compact(forged, key, registry=EDDSA)
