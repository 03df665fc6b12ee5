"""What gets installed: the six folders under one name, with their data, and nothing else."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("planloop", "graphs", "models", "nodes", "state", "tools")
# Said by pip where the registry with the build tool cannot be reached.
UNREACHABLE = ("No matching distribution found for setuptools", "NewConnectionError")


def settings() -> dict[str, Any]:
    """The part of pyproject.toml that setuptools reads."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    packages: dict[str, Any] = found["tool"]["setuptools"]
    return packages


def folders_with_code() -> list[Path]:
    """Every folder of ours that holds Python files, relative to the root."""
    found = {p.parent.relative_to(ROOT) for top in FOLDERS for p in (ROOT / top).rglob("*.py")}
    return sorted(found, key=import_name)


def import_name(folder: Path) -> str:
    """What a folder is imported as: `graphs` is `planloop.graphs`."""
    parts = folder.parts if folder.parts[0] == "planloop" else ("planloop", *folder.parts)
    return ".".join(parts)


def expected_files() -> set[str]:
    """What a wheel must hold: every module, the marker for type checkers, every prompt."""
    files = {"planloop/py.typed"}
    for folder in folders_with_code():
        place = import_name(folder).replace(".", "/")
        files |= {f"{place}/{path.name}" for path in (ROOT / folder).glob("*.py")}
        data = (ROOT / folder).rglob("*.md")
        files |= {f"{place}/{path.relative_to(ROOT / folder).as_posix()}" for path in data}
    return files


def test_every_folder_with_code_is_listed() -> None:
    assert settings()["packages"] == [import_name(folder) for folder in folders_with_code()]


def test_every_listed_folder_is_found_where_it_is_said_to_be() -> None:
    places = settings()["package-dir"]
    for folder in folders_with_code():
        if len(folder.parts) == 1 and folder.name != "planloop":
            assert places[import_name(folder)] == folder.name
        assert (ROOT / folder / "__init__.py").is_file()


def test_every_folder_has_a_stub_that_tells_editors_where_it_is() -> None:
    for folder in FOLDERS[1:]:
        stub = (ROOT / "planloop" / f"{folder}.pyi").read_text("utf-8")
        assert f"from {folder} import *" in stub


def test_the_version_is_the_same_everywhere() -> None:
    import planloop

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert planloop.__version__ == project["version"] == importlib.metadata.version("planloop")


def test_nothing_of_the_server_is_a_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    for extra, lines in {"": project["dependencies"], **extras}.items():
        for line in lines:
            name = line.split("[")[0].split(">")[0].split("=")[0].strip()
            assert name not in ("langgraph-api", "langgraph-runtime-inmem")
            # tests show that its agents are executors of ours
            assert name != "langchain" or extra == "dev"


def build_wheel(folder: Path) -> Path:
    """Build a wheel from a copy of the tree, so that nothing is left behind in it."""
    source = folder / "source"
    source.mkdir()
    for top in FOLDERS:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / top, source / top, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(folder), str(source)]
    if has_build_tool():
        command.insert(4, "--no-build-isolation")
    env = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_RETRIES": "0"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=env)
    if done.returncode and any(text in done.stderr for text in UNREACHABLE):
        pytest.skip("No registry to get setuptools from; install setuptools>=77 to run this.")
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def has_build_tool() -> bool:
    """Whether the setuptools at hand can build this project."""
    try:
        return int(importlib.metadata.version("setuptools").split(".")[0]) >= 77
    except importlib.metadata.PackageNotFoundError:
        return False


PROBE = """
import importlib.util, json, sys
import planloop.graphs
from planloop.nodes import prompt

bare = ("graphs", "models", "nodes", "state", "tools")
print(json.dumps({
    "home": planloop.__file__,
    "bare": [name for name in bare if importlib.util.find_spec(name)],
    "prompt": len(prompt("agent")),
}))
"""


def test_a_wheel_holds_one_package_with_its_data_and_works(tmp_path: Path) -> None:
    with zipfile.ZipFile(build_wheel(tmp_path)) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        wheel.extractall(tmp_path / "installed")
    assert names == expected_files()

    env = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    command = [sys.executable, "-c", PROBE]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert Path(found["home"]).is_relative_to(tmp_path / "installed")
    assert found["bare"] == []
    assert found["prompt"] > 0
