"""Traces for OpenTelemetry's collector, where OTEL_EXPORTER_OTLP_ENDPOINT names one; off, and not loaded, else.

A caller's `traceparent` (W3C Trace Context) is gone on with, and agents, webhooks and tasks get one. A span says which
route, statement or task took how long and whether it failed: what else the instrumentations note, such as addresses,
statements and words of exceptions, may hold what somebody wrote, and stays here.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.instrumentation.urllib3 import URLLib3Instrumentor
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from common.request_notes import ROUTE

_EXPORTED = frozenset((
    "http.request.method", "http.route", "http.response.status_code", "http.method", "http.status_code", "db.system",
    "celery.action", "celery.state", "celery.task_name",
))  # fmt: skip
_tracer = trace.get_tracer(__name__)


class _Exporter(OTLPSpanExporter):
    """Sends of each span the attributes in _EXPORTED, and no statement outside of any request and task."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return super().export([_reduced(span) for span in spans if span.parent or span.kind is not SpanKind.CLIENT])


def _reduced(span: ReadableSpan) -> ReadableSpan:
    return ReadableSpan(
        span.name,
        span.context,
        span.parent,
        span.resource,
        attributes={name: value for name, value in (span.attributes or {}).items() if name in _EXPORTED},
        links=span.links,
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


@cache
def start(service: str) -> None:
    """Trace what this process does from now on; to be called before it connects to anything."""
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: service}))
    provider.add_span_processor(BatchSpanProcessor(_Exporter()))
    trace.set_tracer_provider(provider)
    propagate.set_global_textmap(TraceContextTextMapPropagator())  # no baggage: it is a stranger's, and would go on
    for part in (PsycopgInstrumentor, CeleryInstrumentor, URLLib3Instrumentor):
        part().instrument()
    logging.setLogRecordFactory(partial(_record, logging.getLogRecordFactory()))


def _record(make: Callable[..., logging.LogRecord], *args: Any, **kwargs: Any) -> logging.LogRecord:
    record = make(*args, **kwargs)
    if (context := trace.get_current_span().get_span_context()).is_valid:
        record.trace = trace.format_trace_id(context.trace_id)
    return record


class Traced:
    """A WSGI application with a span for each request until its answer begins.

    The instrumentation for Django would ask for the host before anything refuses a wrong one, and name spans by paths.
    """

    def __init__(self, application: Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        with _tracer.start_as_current_span("request", _of_caller(environ), SpanKind.SERVER) as span:
            answer = self._application(environ, start_response)
            if ROUTE in environ:  # not of a static file
                _describe(span, *environ[ROUTE])
            return answer


def _of_caller(environ: dict[str, Any]) -> Context:
    return propagate.extract({name: environ.get(f"HTTP_{name.upper()}", "") for name in ("traceparent", "tracestate")})


def _describe(span: Span, method: str, route: str, status: int) -> None:
    span.update_name(f"{method} {route}")
    span.set_attributes({"http.request.method": method, "http.route": route, "http.response.status_code": status})
    if status >= 500:
        span.set_status(StatusCode.ERROR)
