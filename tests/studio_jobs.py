"""What the tests of the studio's long work share."""

from __future__ import annotations

import time
from typing import Any


def ended(client: Any, started: Any) -> dict[str, Any]:
    """A job that a request started, once it is over."""
    assert started.status_code == 202, started.text
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        job: dict[str, Any] = client.get(f"/api/jobs/{started.json()['id']}").json()
        if job["state"] in ("done", "failed", "cancelled"):
            return job
        time.sleep(0.05)
    raise AssertionError("the job did not end")
