# SPDX-License-Identifier: MIT
# nsdump export --format parquet: what nsdump runs, with the package netslice beside this file.
import sys

EXIT_OUTPUT, EXIT_INTERRUPTED = 4, 130


def main():
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        print(
            f"nsdump: --format parquet needs the Python package pyarrow: {error} (install it, for "
            "example in a virtual environment: python3 -m venv V && V/bin/pip install pyarrow, and "
            "name its interpreter: NETSLICE_PYTHON=V/bin/python)",
            file=sys.stderr,
        )
        return EXIT_OUTPUT
    from netslice import parquet

    return parquet.main()


try:
    sys.exit(main())
except KeyboardInterrupt:  # before parquet.main() catches signals
    sys.exit(EXIT_INTERRUPTED)
