# SPDX-License-Identifier: MIT
# nsreport papers: options -> measured parts, page and exit code.
import contextlib
import fcntl
import os

from .. import errors, folder as report_folder, signals
from ..messages import progress, say, tell
from . import earlier, kept, measure, page
from .arguments import parse

MARKER = ".nsreport-papers"
_PAGE = "index.html"


def main(arguments, program, share, version):
    options = parse(arguments, version)
    try:
        with signals.installed(), _opened(options.output) as folder:
            return _made(options, folder, program, share, version)
    except errors.Interrupted as error:  # before anything was measured
        return errors.EXIT_SIGNAL + error.signal_number
    except errors.ReportError as error:
        progress(options.quiet, "")
        tell(f"nsreport papers: {error}")
        return error.code
    except OSError as error:
        tell(f"nsreport papers: {report_folder.output_error(options.output, error)}")
        return errors.EXIT_OUTPUT
    except Exception as error:  # any bug: the user gets a message and scripts an exit code
        tell(f"nsreport papers: {errors.bug(error)} (please report this)")
        return errors.EXIT_INTERNAL


@contextlib.contextmanager
def _opened(path):
    """The output folder, which no other run uses; any other folder with files is refused."""
    marker = os.path.join(path, MARKER)
    if os.path.isdir(path) and os.listdir(path) and not os.path.exists(marker):
        raise errors.ReportError(
            errors.EXIT_OUTPUT,
            f"{errors.shown(path)}: has files of others (choose another folder with -o)",
        )
    os.makedirs(os.path.join(path, earlier.PARTS_FOLDER), exist_ok=True)
    with open(marker, "a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise errors.ReportError(
                errors.EXIT_OUTPUT,
                f"{errors.shown(path)}: another nsreport papers uses it (wait until it has ended)",
            ) from error
        yield os.path.realpath(path)


def _made(options, folder, program, share, version):
    holder = kept.Kept(os.path.join(folder, earlier.PARTS_FOLDER))
    interrupted = None
    if options.results:
        earlier.take(options.results, holder)
    else:
        context = measure.Context(
            *(program, share, version, options.form, holder),
            say=lambda line, is_error=False: say(options.quiet and not is_error, line),
            progress=lambda line: progress(options.quiet, line),
        )
        holder.forget_partial()
        try:
            measure.measure_all(context, measure.chosen(context, options.only, options.again))
        except errors.Interrupted as error:
            interrupted = error
    progress(options.quiet, "")
    with signals.held():
        notices = ["The measurement was interrupted; the page has what was complete."]
        absent = page.write(folder, share, version, holder, notices if interrupted else [])
    if interrupted:
        tell("nsreport papers: interrupted; the page has what was complete")
    for one in absent:
        say(options.quiet, f"nsreport papers: no results of {one}")
    say(options.quiet, f"nsreport papers: {os.path.join(options.output, _PAGE)}")
    if interrupted:
        return errors.EXIT_SIGNAL + interrupted.signal_number
    return errors.EXIT_INCOMPLETE if absent else errors.EXIT_OK
