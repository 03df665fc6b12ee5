import os
import tracemalloc
from pathlib import Path

import pytest
from langchain_core.messages import ToolCall, ToolMessage

from planloop.tools import ToolRegistry, file_tools, traits_of


class Desk:
    """A workspace with its tools."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.registry = ToolRegistry(file_tools(root))

    def __call__(self, name: str, **args: str) -> str:
        message = self.registry.run(ToolCall(name=name, args=args, id="c1"))
        assert isinstance(message, ToolMessage)
        self.failed = message.status == "error"
        return str(message.content)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_what_is_written_is_read(desk: Desk) -> None:
    said = desk("write_file", path="notes/a.txt", content="Plan: 计划\r\n✓")
    assert said == "Wrote 11 characters (17 bytes) to notes/a.txt."
    assert (desk.root / "notes/a.txt").read_bytes() == "Plan: 计划\r\n✓".encode()
    assert desk("read_file", path="notes/a.txt") == "Plan: 计划\r\n✓"
    assert desk("list_files") == "notes/"


def test_files_are_replaced_whole_and_keep_their_permissions(desk: Desk) -> None:
    target = desk.root / "run.sh"
    target.write_text("a long old text")
    target.chmod(0o750)
    desk("write_file", path="run.sh", content="new")
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o750
    assert os.listdir(desk.root) == ["run.sh"]


def test_a_new_file_gets_the_usual_permissions(desk: Desk) -> None:
    desk("write_file", path="a", content="")
    (desk.root / "b").touch()
    assert (desk.root / "a").stat().st_mode == (desk.root / "b").stat().st_mode
    assert desk("read_file", path="a") == "a is empty."


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk.root / "a").write_text("old")

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert desk("write_file", path="a", content="new") == "a: No space left on device."
    assert desk.failed
    assert {p.name: p.read_text() for p in desk.root.iterdir()} == {"a": "old"}


def test_what_cannot_be_read_or_written_is_said(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk.root / "folder").mkdir()
    (desk.root / "file").touch()
    os.mkfifo(desk.root / "pipe")
    for name, args, said in [
        ("read_file", {"path": "absent.txt"}, "absent.txt: No such file or directory."),
        ("read_file", {"path": "folder"}, "folder: Is a directory."),
        ("read_file", {"path": "pipe"}, "pipe: this is not a regular file."),
        ("read_file", {"path": "a" * 300}, f"{'a' * 300}: File name too long."),
        ("write_file", {"path": "folder", "content": ""}, "folder: this is a folder."),
        ("write_file", {"path": "pipe", "content": ""}, "pipe: this is not a regular file."),
        ("write_file", {"path": "file/b", "content": ""}, "file/b: File exists."),
        ("list_files", {"path": "file"}, "file: Not a directory."),
        ("list_files", {"path": "absent"}, "absent: No such file or directory."),
    ]:
        assert (desk(name, **args), desk.failed) == (said, True)
    monkeypatch.setattr(os, "access", lambda path, mode: path != desk.root.resolve() / "file")
    assert desk("write_file", path="file", content="x") == "file: this file is read-only."


def test_a_link_put_in_place_meanwhile_is_not_followed(
    desk: Desk, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text("secret")
    (desk.root / "link").symlink_to(outside / "secret")
    (desk.root / "folder").symlink_to(outside)
    # As if the check had been made before the links appeared.
    monkeypatch.setattr(
        "planloop.tools.files.resolve_inside", lambda root, path: root.resolve() / path
    )
    assert "secret" not in desk("read_file", path="link")
    assert desk.failed
    assert "not a regular file" in desk("write_file", path="link", content="x")
    assert "has become a link" in desk("write_file", path="folder/new", content="x")
    assert {p.name: p.read_text() for p in outside.iterdir()} == {"secret": "secret"}


def test_a_file_that_is_no_text_is_answered_with_its_size(desk: Desk) -> None:
    (desk.root / "a.bin").write_bytes(bytes(range(256)) * 100)
    assert desk("read_file", path="a.bin") == (
        "a.bin is a binary file of 25,600 bytes; it is not shown."
    )
    (desk.root / "latin.txt").write_bytes("café".encode("latin-1"))
    assert desk("read_file", path="latin.txt") == "caf\N{REPLACEMENT CHARACTER}"


def test_content_that_utf8_cannot_hold_is_written_all_the_same(desk: Desk) -> None:
    desk("write_file", path="a", content="x\udc81")
    assert (desk.root / "a").read_bytes() == b"x?"


@pytest.mark.parametrize("filling", ["a", "计", "🤖"])
def test_a_file_of_a_few_pages_is_cut_by_its_characters(desk: Desk, filling: str) -> None:
    (desk.root / "a").write_text(f"BEGIN{filling * 7_990}END", encoding="utf-8")
    text = desk("read_file", path="a")
    assert text == f"BEGIN{filling * 7_990}END"
    (desk.root / "a").write_text(f"BEGIN{filling * 50_000}END", encoding="utf-8")
    text = desk("read_file", path="a")
    assert text.startswith(f"BEGIN{filling}") and text.endswith(f"{filling}END")
    assert 7_900 < len(text) <= 8_000 and "left out" in text
    assert "\N{REPLACEMENT CHARACTER}" not in text


def test_only_the_ends_of_a_huge_file_are_read(desk: Desk) -> None:
    with (desk.root / "huge").open("wb") as file:
        file.write(b"first" + b"." * 20_000)
        file.truncate(2**30)
        file.seek(2**30 - 20_000)
        file.write(b"." * 20_000 + b"last")
    tracemalloc.start()
    text = desk("read_file", path="huge")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert text.startswith("first") and text.endswith("last")
    assert "1,073,733," in text and "bytes left out" in text
    assert peak < 2_000_000


def test_a_listing_is_sorted_marked_and_bounded(desk: Desk) -> None:
    assert desk("list_files", path="") == "(empty folder)"
    for name in ("b.txt", "a.txt", ".hidden"):
        (desk.root / name).touch()
    (desk.root / "data").mkdir()
    (desk.root / "link").symlink_to("data")
    assert desk("list_files").split("\n") == [".hidden", "a.txt", "b.txt", "data/", "link (link)"]
    for number in range(600):
        (desk.root / "data" / f"{number:04}").touch()
    lines = desk("list_files", path="data").split("\n")
    assert lines[0] == "0000" and lines[499] == "0499"
    assert lines[500:] == ["[... 100 more left out ...]"]


def test_traits_and_hints() -> None:
    read, write, listing = file_tools()
    assert [traits_of(tool).effect for tool in (read, write, listing)] == ["read", "write", "read"]
    assert traits_of(write).on_replay == "repeat"
    assert write.args["content"]["maxLength"] == 4000


def test_the_hint_about_length_is_no_limit(desk: Desk) -> None:
    desk("write_file", path="a", content="x" * 9_000)
    assert not desk.failed
