"""Every check and build of the repository; `nox -l` lists them, bare `nox` runs what CI runs."""

import shutil
import tomllib
import zipfile
from pathlib import Path

import nox
from packaging.requirements import Requirement

nox.needs_version = ">=2026.8"
nox.options.default_venv_backend = "virtualenv"  # pip: uv resolves the CUDA torch
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "layers", "types", "tests", "wheels", "docs"]

ROOT = Path(__file__).parent
DIST = ROOT / "dist"
# bytecode is compiled when it is imported: most of torch never is
PIP = ("--no-compile", "--constraint", "constraints.txt")

# lowest layer first
PACKAGES = [
    "deg-schema",
    "deg-kernels",
    "deg-client",
    "deg-model",
    "deg-runtime",
    "deg-train",
    "deg-serve",
]
each_package = nox.parametrize("package", [nox.param(name, id=name) for name in PACKAGES])


def folder(package: str) -> str:
    """Return where *package* lies, as pip and the tools take it."""
    return f"./packages/{package}"


def with_siblings(package: str) -> list[str]:
    """Return *package* after the siblings it declares, lowest layer first."""
    project = tomllib.loads((ROOT / folder(package) / "pyproject.toml").read_text())["project"]
    declared = {Requirement(line).name for line in project.get("dependencies", [])}
    below = [name for dep in PACKAGES if dep in declared for name in with_siblings(dep)]
    return [*dict.fromkeys(below), package]


def install_group(session: nox.Session, *groups: str) -> None:
    """Install dependency groups at the versions that we pin."""
    session.install(*PIP, *(arg for group in groups for arg in ("--group", group)))


def install_editable(session: nox.Session, *packages: str, dependencies: bool = True) -> None:
    """Install *packages* from their folders, so that an edit needs no reinstall."""
    editables = [arg for name in packages for arg in ("--editable", folder(name))]
    flags = ["--no-build-isolation"] if dependencies else ["--no-build-isolation", "--no-deps"]
    session.install(*PIP, *flags, *editables)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting."""
    install_group(session, "lint")
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check")


@nox.session
def layers(session: nox.Session) -> None:
    """Check that imports run downward and that every import is declared."""
    install_group(session, "backend", "layers")
    # both tools read the source, so what the packages depend on need not be there
    install_editable(session, *PACKAGES, dependencies=False)
    session.run("lint-imports", "--no-logo")
    for package in PACKAGES:
        with session.chdir(folder(package)):
            session.run("deptry", "src")


@nox.session
def types(session: nox.Session) -> None:
    """Check types, strictly."""
    install_group(session, "backend", "types")
    install_editable(session, *PACKAGES)
    session.run("mypy", *(f"packages/{package}/src" for package in PACKAGES))


@nox.session
@each_package
def tests(session: nox.Session, package: str) -> None:
    """Run one package's tests beside only what it declares."""
    install_group(session, "backend", f"packages/{package}/pyproject.toml:test")
    install_editable(session, *with_siblings(package))
    # one thread: on few cores the threads of small operators only wait for each other
    session.run(
        "pytest", f"packages/{package}/tests", *session.posargs, env={"OMP_NUM_THREADS": "1"}
    )


@nox.session
def ray(session: nox.Session) -> None:
    """Run a batch job on a local Ray with two workers."""
    install_group(session, "backend", "packages/deg-runtime/pyproject.toml:test")
    install_editable(session, *with_siblings("deg-runtime")[:-1], "deg-runtime[ray]")
    session.run(
        "pytest",
        "packages/deg-runtime/tests/test_batch_ray.py",
        *session.posargs,
        env={"OMP_NUM_THREADS": "1"},
    )


def check_contents(session: nox.Session, package: str) -> None:
    """Check that the wheel holds every file of the source, checkpoints and templates too."""
    source = ROOT / folder(package) / "src"
    files = (path for path in source.rglob("*") if path.is_file())
    expected = {
        str(path.relative_to(source)) for path in files if path.parent.name != "__pycache__"
    }
    (wheel,) = DIST.glob(f"{package.replace('-', '_')}-*.whl")
    missing = expected - set(zipfile.ZipFile(wheel).namelist())
    if missing:
        session.error(f"{wheel.name} lacks {', '.join(sorted(missing))}")


@nox.session
def wheels(session: nox.Session) -> None:
    """Build every distribution and import each wheel from a clean environment."""
    install_group(session, "dist")
    shutil.rmtree(DIST, ignore_errors=True)
    for package in PACKAGES:
        build = ("python", "-m", "build", "--no-isolation", "--outdir", str(DIST))
        session.run(*build, folder(package), silent=True)
        check_contents(session, package)
    session.run("twine", "check", "--strict", *map(str, DIST.iterdir()))
    # the version stays while the content changes: pip would keep what it has
    built = map(str, DIST.glob("*.whl"))
    session.run("python", "-m", "pip", "uninstall", "--quiet", "--yes", *PACKAGES)
    session.install(*PIP, *built)
    for package in PACKAGES:
        session.run("python", "-I", "-c", f"import {package.replace('-', '_')}")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation site."""
    install_group(session, "docs")
    session.run("zensical", "build", "--clean", "--strict")
