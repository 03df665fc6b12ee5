from planloop.tools import ToolRegistry, default_tools, terminate

NAMES = ("read_file", "write_file", "list_files", "python", "ask_human")


def test_the_tools_of_the_default_agent() -> None:
    assert ToolRegistry([*default_tools(), terminate]).names == (*NAMES, "terminate")
    assert ToolRegistry(default_tools(people=False)).names == NAMES[:-1]


def test_descriptions_are_short_since_small_models_read_them_every_turn() -> None:
    assert all(len(tool.description) <= 70 for tool in [*default_tools(), terminate])
