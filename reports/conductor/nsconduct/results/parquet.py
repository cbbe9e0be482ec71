# SPDX-License-Identifier: MIT
# Trials -> results.parquet, if pyarrow can be imported.
import os

from . import rows

NAME = "results.parquet"
MISSING = (
    "results.parquet: not written, because the Python package pyarrow is missing (./run python "
    "installs it, for PYTHONPATH=build/python/lib/python3.11/site-packages)"
)


def write(folder, trials):
    """None, or a text that says why there is no file.  Raises OSError."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return MISSING
    schema = pyarrow.schema(
        [
            pyarrow.field("round", pyarrow.int32(), nullable=False),
            pyarrow.field("variant", pyarrow.string(), nullable=False),
            pyarrow.field("warmup", pyarrow.bool_(), nullable=False),
            pyarrow.field("player", pyarrow.string()),
            pyarrow.field("name", pyarrow.string(), nullable=False),
            pyarrow.field("unit", pyarrow.string(), nullable=False),
            pyarrow.field("value", pyarrow.float64(), nullable=False),
        ]
    )
    columns = list(zip(*rows.rows(trials))) or [()] * len(rows.COLUMNS)
    arrays = [pyarrow.array(column, field.type) for column, field in zip(columns, schema)]
    partial = os.path.join(folder, f"{NAME}.new")
    try:
        parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), partial)
        os.replace(partial, os.path.join(folder, NAME))
    finally:
        if os.path.exists(partial):
            os.remove(partial)
    return None
