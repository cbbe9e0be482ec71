# SPDX-License-Identifier: MIT
# bench_table: figures with a `row` -> one table, cheapest first, followed by what could not be
# measured and why.
import shutil
import textwrap

GAP = "  "
LEAST_LAST = 24


def _text(cell):
    """Three significant digits for fractions, all digits for counts."""
    if isinstance(cell, bool) or not isinstance(cell, (int, float)):
        return str(cell)
    if isinstance(cell, int):
        return f"{cell:,}"
    return (
        f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}" if abs(cell) >= 10 else f"{cell:.2f}"
    )


def _cells(figure):
    """The row with the figure's value after its first column, under its unit."""
    row = list(figure["row"].items())
    return dict(row[:1] + [(figure["unit"], figure["value"])] + row[1:])


def table(figures, width=None):
    """Lines of the table, with the last column wrapped to the terminal's width."""
    measured = sorted(
        (figure for figure in figures if "row" in figure and figure["verdict"] != "failed"),
        key=lambda figure: figure["value"],
    )
    rest = [figure for figure in figures if figure not in measured]
    rows = [_cells(figure) for figure in measured]
    lines = _grid(rows, width or shutil.get_terminal_size((120, 24)).columns) if rows else []
    if rest:
        lines += [""] * bool(lines) + ["not measured:"]
        longest = max(len(figure["figure"]) for figure in rest)
        lines += [
            (
                f"{GAP}{figure['figure']:<{longest}}{GAP}{figure['verdict']}: "
                f"{figure[figure['verdict']]}"
            )
            for figure in rest
        ]
    return lines


def _grid(rows, width):
    heads = list(dict.fromkeys(head for row in rows for head in row))
    texts = [[_text(row.get(head, "-")) for head in heads] for row in rows]
    wide = [max(len(text) for text in column) for column in zip(heads, *texts)]
    is_number = [any(isinstance(row.get(head), (int, float)) for row in rows) for head in heads]
    wide[-1] = max(LEAST_LAST, min(wide[-1], width - sum(wide[:-1]) - len(GAP) * (len(wide) - 1)))
    lines = [_line(heads, wide, is_number), "-" * (sum(wide) + len(GAP) * (len(wide) - 1))]
    for row in texts:
        parts = textwrap.wrap(row[-1], wide[-1]) or [""]
        lines.append(_line(row[:-1] + parts[:1], wide, is_number))
        lines += [_line([""] * (len(row) - 1) + [part], wide, is_number) for part in parts[1:]]
    return lines


def _line(cells, wide, is_number):
    padded = [
        cell.rjust(size) if number else cell.ljust(size)
        for cell, size, number in zip(cells, wide, is_number)
    ]
    return GAP.join(padded).rstrip()
