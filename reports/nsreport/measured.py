# SPDX-License-Identifier: MIT
# The reports that measure captured traffic -> their raw values, new or of an earlier run.
import os
from types import SimpleNamespace

from .load import page as load_page, plan as load_plan, run as load_run
from .placement import page as placement_page, plan as placement_plan, run as placement_run
from .traffic import stored

REPORTS = {
    "--load": SimpleNamespace(run=load_run, page=load_page, schema=load_plan.SCHEMA),
    "--placement": SimpleNamespace(
        run=placement_run, page=placement_page, schema=placement_plan.SCHEMA
    ),
}


def document(report, program, options, progress):
    if options.results:
        return stored.read(options.results, report.schema)
    return report.run.measured(program, options, progress)


def keep(work, document):
    """Keeps the raw values, from which the page can be made again."""
    os.makedirs(os.path.join(work, "data"), exist_ok=True)
    path = os.path.join(work, "data/results.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(stored.as_text(document))
