"""For a process under libfaketime: Python sleeps until a moment of the monotonic clock, which libfaketime refuses."""

import threading
import time


def _sleep(seconds: float) -> None:
    threading.Event().wait(seconds)


time.sleep = _sleep
