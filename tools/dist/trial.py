"""Installs every package of a release into a clean place of its own and runs a first task there.

    trial.py OUT

Each trial prints one line. One whose installer is missing is skipped, and the command then ends with status 3.
"""

import gzip
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

OUT = pathlib.Path(sys.argv[1]).resolve()
INSTALLER = pathlib.Path(__file__).with_name("install.sh")


class Skipped(Exception):
    pass


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


def need(program):
    if shutil.which(program) is None:
        raise Skipped(f"{program} is missing")


def package(pattern):
    found = sorted(OUT.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"{OUT} has {len(found)} files {pattern}")
    return found[0]


def check_page(path):
    """A manual page names its command and shows an example."""
    text = gzip.open(path, "rt").read() if path.suffix == ".gz" else path.read_text()
    if "mw\\-start" not in text or "cargo build" not in text:
        raise SystemExit(f"{path} is not the page of mw start:\n{text[:400]}")


def tar(place):
    run(["sh", INSTALLER, OUT, "--to", place], env={**os.environ, "HOME": str(place)})
    check_page(place / "share/man/man1/mw-start.1")
    return [place / "bin/mw"]


def tampered(place):
    """An archive that does not match its checksum installs nothing."""
    copied = place / "release"
    copied.mkdir()
    name = package("*-linux.tar.gz").name
    shutil.copy(OUT / "SHA256SUMS", copied)
    (copied / name).write_bytes((OUT / name).read_bytes() + b"x")
    done = subprocess.run(["sh", INSTALLER, copied, "--to", place], capture_output=True, text=True)
    if done.returncode == 0 or "checksum" not in done.stderr or (place / "bin").exists():
        raise SystemExit(f"a changed archive was installed:\n{done.stdout}{done.stderr}")
    return []


def debian(place):
    need("dpkg")
    # A root of its own, with a data base of its own.
    for folder in ("var/lib/dpkg/updates", "var/lib/dpkg/info"):
        (place / folder).mkdir(parents=True)
    for file in ("var/lib/dpkg/status", "var/lib/dpkg/available"):
        (place / file).touch()
    log = place / "dpkg.log"
    run(["dpkg", f"--root={place}", f"--log={log}", "--force-not-root", "--install", package("*.deb")])
    listed = run(["dpkg", f"--root={place}", "--listfiles", "meanwhile"])
    if "/usr/bin/mw-supervisor" not in listed.splitlines():
        raise SystemExit(f"dpkg lists other files:\n{listed}")
    check_page(place / "usr/share/man/man1/mw-start.1.gz")
    return [place / "usr/bin/mw"]


def wheel(place):
    try:
        run(["python3", "-c", "import ensurepip, venv"])
    except SystemExit:
        raise Skipped("python3 with venv is missing") from None
    run(["python3", "-m", "venv", place / "venv"])
    run([place / "venv/bin/python3", "-m", "pip", "install", "--quiet", "--no-index", package("*.whl")])
    return [place / "venv/bin/mw", place / "venv/bin/meanwhile"]


def npm(place):
    need("npm")
    run(["npm", "install", "--prefix", place, "--offline", "--no-audit", "--no-fund", package("*-npm-*.tgz")])
    return [place / "node_modules/.bin/mw", place / "node_modules/.bin/meanwhile"]


def use(mw, place):
    """Runs a first task and the doctor, as the README does, with nothing else of this machine's meanwhile on PATH."""
    home = place / "home"
    home.mkdir(exist_ok=True)
    environment = {
        "PATH": f"{mw.parent}:/usr/local/bin:/usr/bin:/bin:{os.environ['PATH']}",
        "HOME": str(home),
        "MEANWHILE_HOME": str(home / "state"),
    }
    started = json.loads(run([mw, "start", "--json", "echo step 1; exit 3"], env=environment, cwd=home))
    waited = subprocess.run([mw, "wait", started["id"]], env=environment, cwd=home, capture_output=True, text=True)
    output = run([mw, "output", started["id"]], env=environment, cwd=home)
    if waited.returncode != 3 or output != "step 1\n":
        raise SystemExit(f"{mw}: the first task ended with {waited.returncode} and printed {output!r}")
    checks = json.loads(run([mw, "doctor", "--json"], env=environment, cwd=home))
    if checks["verdict"] == "problem":
        raise SystemExit(f"{mw} doctor: {checks}")


def main():
    skipped = 0
    for trial in (tar, tampered, debian, wheel, npm):
        with tempfile.TemporaryDirectory() as place:
            place = pathlib.Path(place)
            try:
                for mw in trial(place):
                    use(mw, place)
                print(f"{trial.__name__}: ok ({platform.machine()})")
            except Skipped as reason:
                skipped += 1
                print(f"{trial.__name__}: skipped, {reason}")
    sys.exit(3 if skipped else 0)


if __name__ == "__main__":
    main()
