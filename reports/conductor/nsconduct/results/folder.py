# SPDX-License-Identifier: MIT
# The folder of results, written so that it is whole after any interruption: whole lines, and whole
# files by renaming.
import fcntl
import json
import os

from ..errors import EXIT_FAILED, EXIT_USAGE, ConductError
from . import checked

EXPERIMENT, TRIALS, STEPS, RESULTS = (
    "experiment.json",
    "trials.jsonl",
    "steps.jsonl",
    "results.json",
)
FORMAT = 1
_LINE_PROBLEMS = {TRIALS: checked.trial_problem, STEPS: checked.step_problem}


class ResultFolder:
    def __init__(self, path):
        self.path = path
        self._lock = None

    def file(self, name):
        return os.path.join(self.path, name)

    def has_results(self):
        return os.path.exists(self.file(EXPERIMENT))

    def create(self):
        """Also takes the folder for this process, until it ends."""
        try:
            os.makedirs(self.path, exist_ok=True)
            self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.listdir(self.path) and not self.has_results():
                raise ConductError(
                    EXIT_USAGE,
                    f"{self.path}: not empty, and no results of nsconduct (use another folder)",
                )
        except BlockingIOError as error:
            raise ConductError(
                EXIT_USAGE, f"{self.path}: another nsconduct writes here (wait for its end)"
            ) from error
        except OSError as error:
            raise ConductError(
                EXIT_USAGE, f"{self.path}: cannot create: {error.strerror}"
            ) from error

    def read_json(self, name):
        path = self.file(name)
        try:
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
        except OSError as error:
            raise ConductError(EXIT_USAGE, f"{path}: cannot open: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise ConductError(EXIT_USAGE, f"{path}: malformed: {error}") from error
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ConductError(EXIT_USAGE, f"{path}: no results of nsconduct of format {FORMAT}")
        problem = checked.experiment_problem(document) if name == EXPERIMENT else None
        if problem:
            raise ConductError(EXIT_USAGE, f"{path}: malformed: {problem}")
        return document

    def read_lines(self, name):
        """Whole lines only: the last may be partial after a crash."""
        path = self.file(name)
        try:
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")[:-1]
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise ConductError(EXIT_USAGE, f"{path}: cannot read: {error}") from error
        found = []
        for number, line in enumerate(lines, start=1):
            try:
                found.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise ConductError(EXIT_USAGE, f"{path}:{number}: malformed: {error}") from error
            problem = _LINE_PROBLEMS[name](found[-1])
            if problem:
                raise ConductError(EXIT_USAGE, f"{path}:{number}: malformed: {problem}")
        return found

    def write_json(self, name, document):
        self._replace(name, json.dumps(document, indent=1) + "\n")

    def write_lines(self, name, documents):
        self._replace(name, "".join(json.dumps(document) + "\n" for document in documents))

    def append(self, name, documents):
        """All of these lines, or none."""
        text = "".join(json.dumps(document) + "\n" for document in documents).encode()
        path, before = self.file(name), None
        try:
            with open(path, "ab") as file:
                before = file.seek(0, os.SEEK_END)
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            if before is not None:
                os.truncate(path, before)
            raise self._cannot_write(path, error) from error

    def _replace(self, name, text):
        path = self.file(name)
        partial = path + ".new"
        try:
            with open(partial, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path)
        except OSError as error:
            if os.path.exists(partial):
                os.remove(partial)
            raise self._cannot_write(path, error) from error

    @staticmethod
    def _cannot_write(path, error):
        return ConductError(
            EXIT_FAILED,
            f"{path}: cannot write: {error.strerror} (make room, then continue with --resume)",
        )
