"""What an app may ask, whoever the person is: within the scope, and within the template that it names."""

from collections.abc import Iterator

import pkm.scopes
from common.problems import FieldError, InvalidRequest
from consent.requests.draft import answers_named, requested_attributes
from consent.requests.models import ScopeTemplate
from consent.schemas import RequestConsentBody
from pkm.registry.copy import Entry
from pkm.registry.derived import is_timed


def check_terms(*, body: RequestConsentBody, entry: Entry) -> None:
    """Raises `InvalidRequest` that names all members which go beyond the scope, or beyond the template."""
    errors: list[FieldError] = []
    if body.access_duration > entry.max_access_duration:
        longest = f"this scope allows at most {entry.max_access_duration} seconds"
        errors.append(_error("access_duration", "less_than_equal", longest))
    required, optional = body.required_attributes or [], body.optional_attributes or []
    for field, paths in (("required_attributes", required), ("optional_attributes", optional)):
        known = {*entry.attributes, *filter(entry.parsed.covers, entry.answers)}
        if outside := [path for path in paths if path not in known]:
            errors.append(_error(field, "outside_scope", f"not in this scope: {', '.join(outside[:5])}"))
    if set(required) & set(optional):
        errors.append(_error("optional_attributes", "repeated", "an attribute is either required or optional"))
    if not required and not optional:  # a list that is given and empty asks for nothing, which nobody can approve
        given = {"required_attributes": body.required_attributes, "optional_attributes": body.optional_attributes}
        reason = "name at least one attribute, or leave it out"
        errors.extend(_error(field, "too_short", reason) for field, paths in given.items() if paths is not None)
    errors.extend(_unfit_answers(body, entry))
    if body.refresh_policy == "continuous" and any(map(is_timed, answers_named(body, entry).values())):
        errors.append(
            _error(
                "refresh_policy",
                "snapshot_only",
                "an answer about an age is given once: a later one would tell the birthday",
            )
        )
    if body.template_id is not None:
        errors.extend(_beyond_template(body))
    if errors:
        raise InvalidRequest("These members do not fit the scope.", errors=errors)


def _unfit_answers(body: RequestConsentBody, entry: Entry) -> Iterator[FieldError]:
    """What of `accepts` is of no value that is asked for, is none of its answers, or is asked for itself."""
    named = requested_attributes(body, entry)
    for source, paths in (body.accepts or {}).items():
        if source not in named:
            yield _error("accepts", "outside_scope", f"not asked for: {source[:200]}")
        elif others := [path for path in paths if entry.answers.get(path, {}).get("from") != source]:
            yield _error("accepts", "no_answer", f"no answer in place of {source}: {', '.join(others[:5])}")
        elif twice := [path for path in paths if path in named]:
            yield _error("accepts", "repeated", f"asked for already: {', '.join(twice[:5])}")


def _beyond_template(body: RequestConsentBody) -> list[FieldError]:
    """Where the request exceeds the template that it names: its scope, wording, duration or number of reads."""
    template = ScopeTemplate.objects.filter(template_id=body.template_id, active=True).first()
    if template is None:
        return [_error("template_id", "unknown", "there is no such active template")]
    allowed, wanted = pkm.scopes.parse(template.scope), pkm.scopes.parse(body.scope)
    errors = []
    if allowed is None or wanted is None or not allowed.covers_scope(wanted):
        errors.append(_error("scope", "beyond_template", f"the template covers {template.scope}"))
    if body.purpose != template.purpose:
        errors.append(_error("purpose", "beyond_template", "use the template's own words"))
    if body.required_because is not None:
        errors.append(_error("required_because", "beyond_template", "the template has no such words"))
    if body.access_duration > template.max_access_duration:
        longest = f"the template allows at most {template.max_access_duration} seconds"
        errors.append(_error("access_duration", "beyond_template", longest))
    most = template.max_reads
    if most is not None and (body.max_reads is None or body.max_reads > most):
        errors.append(_error("max_reads", "beyond_template", f"the template allows at most {most} reads"))
    return errors


def _error(field: str, code: str, message: str) -> FieldError:
    return {"field": field, "code": code, "message": message}
