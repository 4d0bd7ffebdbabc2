"""Long work of the page that is no run: a few at once, each in a thread, asked about until it is done, stopped between
its steps. What it found is kept for a while; nothing survives a restart."""

from __future__ import annotations

import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from backend.errors import NotFound, StudioError, WrongState
from backend.text import Text
from ui.wire import FAULT

log = logging.getLogger(__name__)
KEPT = 16  # ended jobs whose answers can still be asked for
Progress = Callable[[int, int, Text], None]
Work = Callable[[Progress], Any]


class Stopped(Exception):
    """The person asked for it; raised inside the work at its next step."""


@dataclass(slots=True)
class Job:
    id: str
    done: int = 0
    total: int = 0
    what: Text | None = None
    state: str = "running"  # running, done, failed, stopped
    answer: Any = None
    error: Text | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    def to_json(self) -> dict[str, Any]:
        return {
            "job": self.id,
            "state": self.state,
            "done": self.done,
            "total": self.total,
            "what": self.what.to_json() if self.what else None,
            "answer": self.answer,
            "error": self.error.to_json() if self.error else None,
        }


class Jobs:
    """Thread-safe. `most` run at once; one more is refused with WrongState, in the words given."""

    def __init__(self, most: int, busy: Text) -> None:
        self.busy = busy
        self._places = threading.BoundedSemaphore(most)
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, work: Work) -> dict[str, Any]:
        """Begin `work(progress)`; the job as JSON."""
        if not self._places.acquire(blocking=False):
            raise WrongState(self.busy)
        job = Job(secrets.token_hex(8))
        with self._lock:
            self._jobs[job.id] = job
            ended = [each.id for each in self._jobs.values() if each.state != "running"]
            for old in ended[: max(0, len(ended) - KEPT)]:
                del self._jobs[old]
        threading.Thread(target=self._run, args=(job, work), name=f"job-{job.id}", daemon=True).start()
        return job.to_json()

    def get(self, job_id: str) -> dict[str, Any]:
        return self._find(job_id).to_json()

    def stop(self, job_id: str) -> dict[str, Any]:
        """Ask it to end at its next step; it is told here whether it has."""
        job = self._find(job_id)
        job.stop.set()
        return job.to_json()

    def _find(self, job_id: str) -> Job:
        with self._lock:
            job = self._jobs.get(job_id)
        if job is None:
            raise NotFound(
                Text(
                    en="This is not known here any more: the server was started again. Run it anew.",
                    ko="서버가 다시 시작되어 더 이상 알 수 없는 작업입니다. 다시 실행하세요.",
                )
            )
        return job

    def _run(self, job: Job, work: Work) -> None:
        def progress(done: int, total: int, what: Text) -> None:
            if job.stop.is_set():
                raise Stopped
            job.done, job.total, job.what = done, total, what

        try:
            job.answer = work(progress)
            job.state = "done"
        except Stopped:
            job.state = "stopped"
        except StudioError as error:
            job.error, job.state = error.text, "failed"
        except Exception:
            log.exception("job %s", job.id)
            job.error, job.state = FAULT, "failed"
        finally:
            self._places.release()
