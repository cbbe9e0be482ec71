# SPDX-License-Identifier: MIT
# Names of modules -> files of a kernel's package in load order; and modules built for it.
import fcntl
import hashlib
import lzma
import os
import pathlib
import re
import shutil
import subprocess

# Modules that a module requests at run time, which are not in its list of dependencies.
SOFT = {"libcrc32c": ["crc32c_generic"]}
COMPILERS = {"arm64": ["ARCH=arm64", "CROSS_COMPILE=aarch64-linux-gnu-"]}


class ModuleFile:
    """name: uncompressed, as required by insmod."""

    def __init__(self, path):
        self.path = path
        self.name = re.sub(r"\.xz$", "", path.name)

    def read(self):
        return (
            lzma.decompress(self.path.read_bytes())
            if self.path.suffix == ".xz"
            else self.path.read_bytes()
        )


def _depends_of(content):
    found = re.search(rb"\0depends=([^\0]*)\0", content)
    return [name for name in found.group(1).decode().split(",") if name] if found else []


def depends(path):
    """Names in a module's own list of dependencies."""
    return _depends_of(pathlib.Path(path).read_bytes())


def _find(kernel, name):
    pattern = re.compile(re.escape(name).replace("_", "[_-]") + r"\.ko(\.xz)?$")
    found = [path for path in (kernel / "modules/").rglob("*.ko*") if pattern.match(path.name)]
    return ModuleFile(found[0]) if found else None


def needed(kernel, name):
    """The module with all its dependencies, dependencies first.  A name without a file is built
    into the kernel."""
    one = _find(kernel, name)
    if not one:
        return []
    before = []
    for other in SOFT.get(name, []) + _depends_of(one.read()):
        before += needed(kernel, other)
    return before + [one]


def build(source, kernel, architecture, folder, *options):
    """Builds the modules of a source folder in `folder`, without changing the source -> their
    files, output of the build."""
    place = pathlib.Path(folder) / pathlib.Path(source).name
    shutil.copytree(source, place)
    return make(place, kernel, architecture, *options)


def make(place, kernel, architecture, *options):
    """Builds the modules of a folder in that folder."""
    made = subprocess.run(
        [
            "make",
            "-C",
            kernel / "headers",
            f"M={place}",
            "-j",
            str(os.cpu_count()),
            "CONFIG_DEBUG_INFO_BTF_MODULES=",
            *COMPILERS.get(architecture, []),
            *options,
            "modules",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if made.returncode:
        raise RuntimeError(f"make failed with exit code {made.returncode}:\n{made.stdout[-4000:]}")
    return {path.name: path for path in place.glob("*.ko")}, made.stdout


def checks():
    """Options for build() and make(): warnings of W=1 and, if it is installed, of sparse."""
    return ["W=1"] + (["C=1"] if shutil.which("sparse") else [])


def refuse_warnings(said):
    """Any warning in the output of make() is an error."""
    complaints = [line for line in said.splitlines() if re.search(r"\b(warning|error):", line)]
    if complaints:
        raise RuntimeError("\n".join(complaints))


def build_checked(source, kernel, architecture, folder):
    """Like build(), but fails on warnings -> {file name: path}."""
    files, said = build(source, kernel, architecture, folder, *checks())
    refuse_warnings(said)
    return files


def _digest(source):
    """Digest of all files of a folder."""
    sums = hashlib.sha256()
    for path in sorted(path for path in pathlib.Path(source).rglob("*") if path.is_file()):
        sums.update(
            f"{path.relative_to(source)}\0{path.stat().st_size}\0".encode() + path.read_bytes()
        )
    return sums.hexdigest()[:16]


def _place(kernel, build):
    """Where a build's modules are kept: in its folder, or next to the kernel's headers if kbuild
    cannot handle the path."""
    folder = pathlib.Path(build).resolve() / "tests/vm/modules"
    if not re.search(r"[\s=:#$%]", str(folder)):
        return folder
    return kernel.parents[1] / "modules" / hashlib.sha256(str(folder).encode()).hexdigest()[:16]


def build_once(source, kernel, architecture, build, parts):
    """
    Like build_checked(), with the modules of the source's subfolders `parts`.  The result is kept
    in the build folder; later calls for the same source, also from other processes, use it.
    """
    built = int((kernel / "vmlinuz").stat().st_mtime)
    made_for = f"{architecture}-{kernel.name}-{built}-{len(checks())}-checks"
    place = _place(kernel, build) / f"{made_for}-{_digest(source)}"
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tree = place / pathlib.Path(source).name
        for part in (".", *parts):
            # marks a completed build; missing if the build was killed
            is_built = place / f"built-{part}"
            if is_built.exists():
                continue
            if part == ".":
                shutil.rmtree(tree, ignore_errors=True)
                build_checked(source, kernel, architecture, place)
            else:
                shutil.rmtree(tree / part)
                shutil.copytree(pathlib.Path(source) / part, tree / part)
                refuse_warnings(make(tree / part, kernel, architecture, *checks())[1])
            is_built.touch()
    return {
        path.name: path
        for folder in (tree, *(tree / part for part in parts))
        for path in folder.glob("*.ko")
    }
