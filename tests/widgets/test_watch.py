"""The thread that looks for changes of others: it tells all, and ends when nobody listens."""

from __future__ import annotations

import gc
import logging
import threading

import pytest

from memories_sdk.widgets import _watch

LONG = 30.0  # seconds a busy machine may take; no test waits that long by itself


class Looked:
    """A widget that counts looks."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault
        self.twice = threading.Event()
        self.looks = 0

    def look(self) -> None:
        """Count, and fail if that is what it is for."""
        self.looks += 1
        if self.looks > 1 or self.fault:
            self.twice.set()
        if self.fault:
            raise self.fault


def ended(watch: _watch.Watch) -> bool:
    """Wait for the end of the thread."""
    thread = watch._thread
    if thread is not None:
        thread.join(LONG)
    return watch._thread is None


def test_it_looks_again_and_again_until_it_is_told_to_stop() -> None:
    """A widget that is dropped is left alone, and the thread ends with the last one."""
    watch = _watch.Watch(pause=0.001)
    widget = Looked()
    assert watch.extend(widget)
    assert widget.twice.wait(LONG)
    watch.drop(widget)
    assert ended(watch)


def test_a_page_that_is_not_heard_of_counts_as_gone() -> None:
    """Without a new lease the thread ends by itself, and the next page starts another."""
    watch = _watch.Watch(pause=0.001, lease=0.02)
    first, second = Looked(), Looked()
    watch.extend(first)
    assert ended(watch)
    watch.extend(second)
    assert ended(watch)
    assert second.looks > 0


def test_a_widget_that_is_let_go_is_not_kept_alive() -> None:
    """The thread holds no widget that nobody else holds."""
    watch = _watch.Watch(pause=0.001)
    widget = Looked()
    watch.extend(widget)
    assert widget.twice.wait(LONG)
    del widget
    gc.collect()
    assert ended(watch)


def test_one_that_fails_is_dropped_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    """A fault is logged once, not every second."""
    watch = _watch.Watch(pause=0.001)
    broken, sound = Looked(OSError("a fault")), Looked()
    with caplog.at_level(logging.ERROR, "memories_sdk.widgets"):
        watch.extend(broken)
        watch.extend(sound)
        assert broken.twice.wait(LONG)
        assert sound.twice.wait(LONG)
        watch.drop(sound)
        assert ended(watch)
    assert broken.looks == 1
    assert caplog.text.count("a fault") == 1


def test_where_there_are_no_threads_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page then asks by itself."""

    def refuse(_self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert not _watch.Watch().extend(Looked())
