"""Makes the packages of a release from one folder of executables and one of manual pages: a tar archive, a Debian package, a Python wheel, an
npm package, a list of contents (SBOM) and checksums. Only the standard library is used, and the same input gives the
same bytes.

    packages.py --programs DIR --man DIR --out DIR --arch x86_64|aarch64 [--quick]

`--quick` compresses less, to try the packages themselves.
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import subprocess
import tarfile
import time
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ["mw", "mw-engine", "mw-surfaces", "mw-supervisor"]
DOCUMENTS = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"]
SUMMARY = "Runs the long work of AI coding agents in the background"
LICENCE = "MIT OR Apache-2.0"
#: The name of a processor in each format.
ARCHITECTURES = {
    "x86_64": {"deb": "amd64", "npm": "x64"},
    "aarch64": {"deb": "arm64", "npm": "arm64"},
}


def version():
    with open(ROOT / "Cargo.toml", "rb") as file:
        return tomllib.load(file)["workspace"]["package"]["version"]


def moment():
    """The time of all files: that of the last commit, so that a second build gives the same bytes."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    asked = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    return int(asked.stdout) if asked.returncode == 0 else 0


class Release:
    """What goes into every package."""

    def __init__(self, programs, man, out, arch, level):
        self.programs, self.man, self.out, self.arch, self.level = programs, man, out, arch, level
        self.names = ARCHITECTURES[arch]
        self.version, self.moment = version(), moment()

    def program(self, name):
        return (self.programs / name).read_bytes()

    def pages(self):
        """The manual pages: (name, content)."""
        return [(path.name, path.read_bytes()) for path in sorted(self.man.glob("*.1"))]

    def write(self, name, content):
        (self.out / name).write_bytes(content)
        print(f"made {self.out / name} ({len(content) // 1024} KiB)")

    def tar(self, files):
        """Packs (path, content, mode) as a compressed tar archive."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for folder in folders_of(path for path, _, _ in files):
                archive.addfile(self.entry(folder, 0o755, tarfile.DIRTYPE))
            for path, content, mode in files:
                entry = self.entry(path, mode, tarfile.REGTYPE)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
        return gzip.compress(packed.getvalue(), self.level, mtime=0)

    def entry(self, path, mode, kind):
        entry = tarfile.TarInfo(path)
        entry.mode, entry.mtime, entry.type = mode, self.moment, kind
        return entry


def folders_of(paths):
    found = set()
    for path in paths:
        found.update(str(parent) for parent in pathlib.PurePosixPath(path).parents if str(parent) != ".")
    return sorted(found)


def archive(release):
    folder = f"meanwhile-{release.version}-{release.arch}-linux"
    files = [(f"{folder}/bin/{name}", release.program(name), 0o755) for name in PROGRAMS]
    files += [(f"{folder}/{name}", (ROOT / name).read_bytes(), 0o644) for name in DOCUMENTS]
    files += [(f"{folder}/share/man/man1/{name}", content, 0o644) for name, content in release.pages()]
    release.write(f"{folder}.tar.gz", release.tar(files))


def debian(release):
    files = [(f"./usr/bin/{name}", release.program(name), 0o755) for name in PROGRAMS]
    files += [(f"./usr/share/doc/meanwhile/{name}", (ROOT / name).read_bytes(), 0o644) for name in DOCUMENTS]
    # Debian wants them compressed.
    files += [
        (f"./usr/share/man/man1/{name}.gz", gzip.compress(content, 9, mtime=0), 0o644)
        for name, content in release.pages()
    ]
    size = sum(len(content) for _, content, _ in files) // 1024
    control = (
        f"Package: meanwhile\nVersion: {release.version}\nArchitecture: {release.names['deb']}\n"
        f"Maintainer: The meanwhile authors <meanwhile@localhost>\nInstalled-Size: {size}\nSection: utils\n"
        f"Priority: optional\nDescription: {SUMMARY}\n"
        " mw starts commands at once, keeps their output, kills whole process trees and\n"
        " reports each end exactly once. There is no daemon.\n"
    )
    sums = "".join(f"{hashlib.md5(content).hexdigest()}  {path[2:]}\n" for path, content, _ in files)
    about = [("./control", control.encode(), 0o644), ("./md5sums", sums.encode(), 0o644)]
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", release.tar(about)),
        ("data.tar.gz", release.tar(files)),
    ]
    packed = b"!<arch>\n"
    for name, content in members:
        packed += f"{name:<16}{release.moment:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode()
        packed += content + b"\n" * (len(content) % 2)
    release.write(f"meanwhile_{release.version}_{release.names['deb']}.deb", packed)


def wheel(release):
    # Static executables run with every C library.
    tag = f"py3-none-manylinux_2_17_{release.arch}.musllinux_1_1_{release.arch}"
    about = f"meanwhile-{release.version}.dist-info"
    readme = (ROOT / "README.md").read_text()
    metadata = (
        f"Metadata-Version: 2.4\nName: meanwhile\nVersion: {release.version}\nSummary: {SUMMARY}\n"
        f"License-Expression: {LICENCE}\nLicense-File: LICENSE-MIT\nLicense-File: LICENSE-APACHE\n"
        f"Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{readme}"
    )
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in tag.removeprefix("py3-none-").split("."))
    scripts = f"meanwhile-{release.version}.data/scripts"
    files = [(f"{scripts}/{name}", release.program(name), 0o755) for name in PROGRAMS]
    # `uvx meanwhile` runs the command that has the name of the package.
    files += [
        (f"{scripts}/meanwhile", release.program("mw"), 0o755),
        (f"{about}/METADATA", metadata.encode(), 0o644),
        (f"{about}/WHEEL", f"Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644),
    ]
    files += [
        (f"{about}/licenses/{name}", (ROOT / name).read_bytes(), 0o644) for name in DOCUMENTS if "LICENSE" in name
    ]
    record = ""
    for path, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    record += f"{about}/RECORD,,\n"
    files.append((f"{about}/RECORD", record.encode(), 0o644))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=release.level) as archive:
        for path, content, mode in files:
            # The format begins in 1980.
            entry = zipfile.ZipInfo(path, time.gmtime(max(release.moment, 315_532_800))[:6])
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=release.level)
    release.write(f"meanwhile-{release.version}-{tag}.whl", packed.getvalue())


def npm(release):
    manifest = {
        "name": "meanwhile",
        "version": release.version,
        "description": SUMMARY,
        "license": LICENCE,
        "bin": {"mw": "bin/mw", "meanwhile": "bin/mw"},
        "files": ["bin", "LICENSE-MIT", "LICENSE-APACHE"],
        "os": ["linux"],
        "cpu": [release.names["npm"]],
    }
    files = [("package/package.json", (json.dumps(manifest, indent=2) + "\n").encode(), 0o644)]
    files += [(f"package/bin/{name}", release.program(name), 0o755) for name in PROGRAMS]
    files += [(f"package/{name}", (ROOT / name).read_bytes(), 0o644) for name in DOCUMENTS]
    release.write(f"meanwhile-{release.version}-npm-{release.names['npm']}.tgz", release.tar(files))


def contents(release):
    """The crates that are linked, in the format CycloneDX."""
    asked = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform"]
    data = subprocess.run(
        [*asked, f"{release.arch}-unknown-linux-musl"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    data = json.loads(data)
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    linked, due = set(), [package["id"] for package in data["packages"] if package["name"] == "mw-cli"]
    while due:
        this = due.pop()
        if this not in linked:
            linked.add(this)
            uses = (dep for dep in nodes[this]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"]))
            due.extend(dep["pkg"] for dep in uses)
    components = [
        {
            "type": "library",
            "name": package["name"],
            "version": package["version"],
            "purl": f"pkg:cargo/{package['name']}@{package['version']}",
            "licenses": [{"expression": package["license"].replace("/", " OR ")}] if package["license"] else [],
        }
        for package in sorted(data["packages"], key=lambda package: (package["name"], package["version"]))
        if package["id"] in linked and package["source"]
    ]
    listed = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "meanwhile", "version": release.version}},
        "components": components,
    }
    release.write(f"meanwhile-{release.version}.cdx.json", (json.dumps(listed, indent=1) + "\n").encode())


def checksums(release):
    names = sorted(path.name for path in release.out.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256((release.out / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    release.write("SHA256SUMS", "".join(lines).encode())


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--programs", type=pathlib.Path, required=True)
    arguments.add_argument("--man", type=pathlib.Path, required=True)
    arguments.add_argument("--out", type=pathlib.Path, required=True)
    arguments.add_argument("--arch", choices=ARCHITECTURES, required=True)
    arguments.add_argument("--quick", action="store_true")
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for old in given.out.iterdir():
        old.unlink()
    release = Release(given.programs, given.man, given.out, given.arch, 1 if given.quick else 9)
    for make in (archive, debian, wheel, npm, contents, checksums):
        make(release)


if __name__ == "__main__":
    main()
