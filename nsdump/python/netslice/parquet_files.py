# SPDX-License-Identifier: MIT
# netslice: batches of one table -> one Parquet file, or hive folders by CPU and time.
import collections
import os

import pyarrow
from pyarrow import parquet

from .folder import FolderError

GROUP_BATCHES = 4  # a row group is in memory until it is complete
HELD_ROWS = 1 << 18  # of all parts of a table together
OPEN_FILES = 8
MOST_PARTS = 100_000
FEW_VALUES = {"cpu", "thread", "depth", "kernel"}  # worth a dictionary
SMALL_STEPS = {"unit_number", "unit_id"}  # from row to row
# In each row group nearly all of their values occur, so that readers could skip none by a range.
WITHOUT_RANGE = FEW_VALUES | {"name", "unit", "class", "words"}


def new_writer(path, schema, compression):
    """Times are written as they are: dictionaries of them would be tried in vain."""
    few = [
        field.name
        for field in schema
        if pyarrow.types.is_dictionary(field.type) or field.name in FEW_VALUES
    ]
    return parquet.ParquetWriter(
        path,
        schema,
        compression=compression,
        use_dictionary=few,
        column_encoding={
            name: "DELTA_BINARY_PACKED" for name in schema.names if name in SMALL_STEPS
        }
        or None,
        write_statistics=[name for name in schema.names if name not in WITHOUT_RANGE],
    )


class OneFile:
    def __init__(self, path, schema, compression):
        self.writer = new_writer(path, schema, compression)
        self.batches = []

    def write(self, batch):
        self.batches.append(batch)
        if len(self.batches) == GROUP_BATCHES:
            self.write_group()

    def write_group(self):
        if self.batches:
            self.writer.write_table(pyarrow.Table.from_batches(self.batches))
        self.batches = []

    def close(self):
        self.write_group()
        self.writer.close()


class Part:
    """The rows of one CPU and time window that are not yet written, and how many files it has."""

    def __init__(self):
        self.batches = []
        self.rows = 0
        self.files = 0


class Parts:
    """A folder key=value/key=value/N.parquet for each part.  Rows are collected by part, and the
    largest parts are written as a row group each when there are many; of many files, those not
    used for long are closed, and later rows of a part are in a further file."""

    def __init__(self, folder, schema, compression, by_cpu, window_ns):
        from pyarrow import compute  # 25 ms, which few need

        self.compute = compute
        self.folder, self.compression = folder, compression
        self.by_cpu, self.window_ns = by_cpu, window_ns
        if by_cpu:  # a reader takes it from the folder's name
            schema = schema.remove(schema.get_field_index("cpu"))
        self.schema = schema
        self.parts = collections.defaultdict(Part)
        self.writers = collections.OrderedDict()  # by part, the one used last at the end
        self.rows = 0

    def keys(self, batch):
        """The columns that decide the part of a row."""
        keys = {}
        if self.by_cpu:
            keys["cpu"] = batch.column("cpu")
        if self.window_ns:
            start_ns = batch.column("start_ns")
            if start_ns.null_count:
                raise FolderError(
                    "--partition time: the trace does not have the clock's rate, so its times are "
                    "unknown (use --partition cpu)"
                )
            # towards zero, so times before the session's start are in the first window
            since_start = self.compute.max_element_wise(start_ns, 0)
            window = self.compute.divide(since_start, self.window_ns)
            keys["time_ns"] = self.compute.multiply(window, self.window_ns)
        return keys

    def write(self, batch):
        keys = self.keys(batch)
        table = pyarrow.table(keys)
        for row in table.group_by(list(keys)).aggregate([]).to_pylist():
            mask = None
            for name, value in row.items():
                is_in = self.compute.equal(keys[name], value)
                mask = is_in if mask is None else self.compute.and_(mask, is_in)
            self.hold(tuple(row.items()), batch.select(self.schema.names).filter(mask))

    def hold(self, key, batch):
        part = self.parts[key]
        if len(self.parts) > MOST_PARTS:
            raise FolderError(
                f"--partition: the trace has more than {MOST_PARTS} combinations of CPU and time "
                "window (choose a longer time)"
            )
        part.batches.append(batch)
        part.rows += batch.num_rows
        self.rows += batch.num_rows
        if self.rows > HELD_ROWS:
            self.write_largest(HELD_ROWS // 2)

    def write_largest(self, rows_to_keep):
        for key, _part in sorted(self.parts.items(), key=lambda item: -item[1].rows):
            if self.rows <= rows_to_keep:
                break
            self.write_part(key)

    def write_part(self, key):
        part = self.parts[key]
        if not part.rows:
            return
        rows = pyarrow.Table.from_batches(part.batches).combine_chunks()
        self.rows -= part.rows
        part.batches, part.rows = [], 0
        self.writer(key).write_table(rows.cast(self.schema))

    def writer(self, key):
        if key not in self.writers:
            if len(self.writers) == OPEN_FILES:
                self.writers.popitem(last=False)[1].close()
            folder = os.path.join(self.folder, *(f"{name}={value}" for name, value in key))
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, f"{self.parts[key].files}.parquet")
            self.parts[key].files += 1
            self.writers[key] = new_writer(path, self.schema, self.compression)
        self.writers.move_to_end(key)
        return self.writers[key]

    def close(self):
        for key in list(self.parts):
            self.write_part(key)
        for writer in self.writers.values():
            writer.close()
        os.makedirs(self.folder, exist_ok=True)


class TableFiles:
    """The file or the folder of a table; losses are few, and always one file."""

    def __init__(self, folder, table, schema, compression, by_cpu, window_ns):
        path = os.path.join(folder, table)
        is_one = table in ("losses", "events") or not (by_cpu or window_ns)
        self.files = (
            OneFile(f"{path}.parquet", schema, compression)
            if is_one
            else Parts(path, schema, compression, by_cpu, window_ns)
        )

    def write(self, batch):
        self.files.write(batch)

    def close(self):
        self.files.close()
