# SPDX-License-Identifier: MIT
# The reports with measurements of their own -> their raw values, new or of an earlier run.
import json
import os
from types import SimpleNamespace

from .budget import (
    page as budget_page,
    plan as budget_plan,
    run as budget_run,
    stored as budget_stored,
)
from .csv_file import write_csv
from .ktime import page as ktime_page, plan as ktime_plan, run as ktime_run, stored as ktime_stored
from .load import page as load_page, plan as load_plan, run as load_run
from .placement import page as placement_page, plan as placement_plan, run as placement_run
from .qos import page as qos_page, plan as qos_plan, run as qos_run
from .sids import page as sids_page, plan as sids_plan, run as sids_run
from .traffic import checked, stored

REPORTS = {
    "--load": SimpleNamespace(run=load_run, page=load_page, plan=load_plan, stored=stored),
    "--placement": SimpleNamespace(
        run=placement_run, page=placement_page, plan=placement_plan, stored=stored
    ),
    "--ktime": SimpleNamespace(
        run=ktime_run, page=ktime_page, plan=ktime_plan, stored=ktime_stored
    ),
    "--sids": SimpleNamespace(run=sids_run, page=sids_page, plan=sids_plan, stored=checked),
    "--budget": SimpleNamespace(
        run=budget_run, page=budget_page, plan=budget_plan, stored=budget_stored
    ),
    "--qos": SimpleNamespace(run=qos_run, page=qos_page, plan=qos_plan, stored=checked),
}


def document(report, program, options, progress):
    if not options.results:
        return report.run.measured(program, options, progress)
    document = report.stored.read(options.results, report.plan)
    return getattr(report.stored, "shown_for", lambda stored, _: stored)(document, options)


def keep(work, report, document):
    """Keeps the raw values, from which the page can be made again, and the figures of tables."""
    folder = os.path.join(work, "data")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "results.json"), "w", encoding="utf-8") as file:
        file.write(report.stored.as_text(document))
    for name, (header, rows) in getattr(report.stored, "lists", lambda _: {})(document).items():
        write_csv(os.path.join(folder, f"{name}.csv"), header, rows)
    for name, (header, rows) in report.page.figures(document).items():
        write_csv(os.path.join(folder, f"{name}.csv"), header, rows)
        with open(os.path.join(folder, f"{name}.json"), "w", encoding="utf-8") as file:
            json.dump([dict(zip(header, row)) for row in rows], file, indent=1)
            file.write("\n")
