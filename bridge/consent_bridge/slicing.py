"""From opened segments to the slice that leaves: exactly the approved attributes, sealed to the app's own key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from consent_bridge.derived import Given, is_timed, repeated_answers, with_answers
from consent_bridge.errors import Refused
from consent_bridge.exports import ExportContent, ExportHeader, Source, origin_of, pick, seal_export, split_path
from consent_bridge.review import Review
from consent_bridge.vault import Segment

Segments = Mapping[tuple[str, str], Segment]


def values_at(segments: Segments, paths: Iterable[str]) -> dict[str, Any]:
    """Of these attribute paths those that exist, with their values."""
    result = {}
    for path in paths:
        domain, segment_id, attribute = split_path(path)
        segment = segments.get((domain, segment_id))
        if segment is not None and attribute in segment.values:
            result[path] = segment.values[attribute]
    return result


def chosen_paths(review: Review, segments: Segments, chosen: Iterable[str] | None) -> list[str]:
    """The paths to approve: those chosen, or all that are asked for and exist; Refused where one cannot be."""
    if chosen is None:
        approved = list(values_at(segments, review.attributes))
        if not approved:
            raise Refused("the vault holds none of the attributes that are asked for")
        return approved
    approved = list(dict.fromkeys(chosen))
    if not approved:
        raise Refused("no attribute was chosen")
    for path in approved:
        review.require_requested(path)
    if missing := [path for path in approved if path not in values_at(segments, approved)]:
        raise Refused(f"the vault does not hold {missing[0]}")
    return approved


def _export_header(review: Review, revision: int) -> ExportHeader:
    return ExportHeader(
        kid=review.connector_key_id,
        iss=origin_of(review.issuer),
        sub=review.user_id,
        aud=review.app_id,
        request_id=review.request_id,
        scope=review.scope,
        revision=revision,
        request_digest=review.request_digest,
    )


def answered(
    review: Review, segments: Segments, repeated: Mapping[str, Any] = MappingProxyType({})
) -> dict[tuple[str, str], Segment]:
    """The segments with the answers that are asked for, as of now but for those that are `repeated`."""
    derived, at = review.request.get("derived") or {}, now()
    return {
        place: replace(one, values=with_answers(one.values, place, derived, at, repeated))
        for place, one in segments.items()
    }


def repeated(review: Review, attributes: Iterable[str], given: Given | None) -> dict[str, Any]:
    """Of these attributes the answers that were given this month: they are made anew once a month alone, since the
    time of a change would tell of the value behind them. Refused where one changes by itself."""
    derived = {path: made for path, made in (review.request.get("derived") or {}).items() if path in attributes}
    if any(map(is_timed, derived.values())):
        raise Refused("an answer that changes by itself is given once; it has no newer revisions", member="derived")
    return repeated_answers(given, review.app_id, derived, now())


def now() -> str:
    """The time as an export has it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def slice_of(review: Review, approved: list[str], segments: Segments) -> ExportContent:
    """The content of an export; its sources are the segments that hold an approved attribute."""
    places = {split_path(path)[:2] for path in values_at(segments, approved)}
    sources = tuple(Source(*place, segments[place].content_revision) for place in segments if place in places)
    return ExportContent(
        scope=review.scope,
        approved_attributes=tuple(approved),
        data=pick({place: segment.values for place, segment in segments.items()}, approved),
        sources=sources,
        sealed_at=now(),
        derived={path: made for path, made in (review.request.get("derived") or {}).items() if path in approved},
    )


def sealed_slice(review: Review, content: ExportContent, revision: int) -> dict[str, Any]:
    """`sources` and `jwe` of a decision, or of a newer revision."""
    return {
        "sources": [asdict(source) for source in content.sources],
        "jwe": seal_export(content, review.connector_public_key, _export_header(review, revision)),
    }


def export_members(review: Review, revision: int) -> dict[str, Any]:
    """The protected members of an export, which its approval repeats."""
    return asdict(_export_header(review, revision))
