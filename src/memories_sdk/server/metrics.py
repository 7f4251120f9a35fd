"""Figures for whoever watches the server, by OpenTelemetry: how many answers, and how long."""

from __future__ import annotations

from memories_sdk.errors import MissingExtra
from memories_sdk.server.frame import Watcher

try:
    from opentelemetry import metrics
except ImportError as error:
    raise MissingExtra("memories_sdk.server.metrics", "telemetry") from error


def meter(provider: metrics.MeterProvider | None = None) -> Watcher:
    """Return what counts answers: `create_app(store, watchers=[meter()])`.

    `http.server.request.duration` is a histogram of seconds, by method, route and status. Where
    no OpenTelemetry SDK is set up, it costs nothing and goes nowhere.

    Args:
        provider: Where figures go; the program's own when left out.
    """
    duration = metrics.get_meter("memories_sdk.server", meter_provider=provider).create_histogram(
        "http.server.request.duration", unit="s", description="Time to the end of an answer."
    )

    def watch(*, route: str, method: str, status: int, seconds: float) -> None:
        duration.record(
            seconds,
            {
                "http.request.method": method,
                "http.route": route,
                "http.response.status_code": status,
            },
        )

    return watch
