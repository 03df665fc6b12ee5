"""Plans as drawings: text with nested plans, Markdown that no step can break, Mermaid."""

import re

import pytest

from planloop.state import Plan, apply_patch, create_plan, mark_step

HOSTILE = [
    'say "hi"',
    "x]) --> end",
    "end",
    "%%{init: {}}%% rest",
    "%% comment",
    "style a:b#c; d",
    "`code` ```",
    "a\nsubgraph b\u2028end",
    "<script>alert(1)</script>",
    "#quot; &amp;",
    "名前 🙂",
    "\x1b[31mred\x00",
]


def nested(depth: int, names: list[str]) -> Plan:
    """Plans within the second step of plans."""
    plan = create_plan(names, request="r", origin="user")
    if depth:
        plan = apply_patch(plan, {"s2": {"sub_plan": nested(depth - 1, names)}})
    return plan


def test_a_plan_within_a_step_is_drawn_beneath_it_also_deeper_ones() -> None:
    plan = mark_step(nested(2, ["A", "B"]), "s2", "in_progress", notes="busy")
    assert plan.render().splitlines()[6:] == [
        "0. [ ] A",
        "1. [→] B",
        "   Notes: busy",
        "   0. [ ] A",
        "   1. [ ] B",
        "      0. [ ] A",
        "      1. [ ] B",
    ]


def test_nested_plans_share_the_room_that_the_outer_one_leaves() -> None:
    inner = create_plan([f"x{n}" for n in range(100)], request="r", max_steps=100)
    plan = create_plan(["A", "B", "C"], request="r")
    plan = apply_patch(plan, {step_id: {"sub_plan": inner} for step_id in ("s1", "s3")})
    drawn = plan.render(limit=23)
    assert len(re.findall(r"\[ \] x", drawn)) == 20
    assert drawn.count("   … 90 later steps …") == 2
    assert drawn.index("x9") < drawn.index("1. [ ] B") < drawn.index("2. [ ] C")
    full = plan.render(limit=3)
    assert full.count("   … within: 0/100 steps completed (0.0%) …") == 2


def test_as_many_steps_are_drawn_at_the_end_of_a_plan_as_elsewhere() -> None:
    plan = create_plan([f"n{n}" for n in range(10)], request="r")
    plan = apply_patch(plan, {f"s{n}": {"status": "completed"} for n in range(1, 10)})
    assert plan.render(limit=4).splitlines()[6:] == [
        "   … 6 earlier steps …",
        "6. [✓] n6",
        "7. [✓] n7",
        "8. [✓] n8",
        "9. [ ] n9",
    ]


def test_no_depth_of_plans_is_drawn_without_end() -> None:
    plan = nested(60, ["A", "B"])
    for drawn in (plan.render(), plan.render("markdown"), plan.to_mermaid()):
        assert len(drawn) < 10_000


def test_markdown_tells_all_that_is_written_of_a_step() -> None:
    steps = [
        {"name": "read", "requires_code": True, "expected_outputs": ["a.csv", "b.csv"]},
        {
            "name": "judge",
            "description": "Weigh it.\n\nTwice.",
            "success_criteria": ["it is fair"],
            "depends_on": ["s1"],
            "executor": "critic",
        },
    ]
    plan = mark_step(create_plan(steps, request="r", title="Judge it"), 0, "completed")
    assert plan.render("markdown").splitlines() == [
        "# Judge it", "",
        "Progress: 1/2 steps completed (50.0%)", "",
        "## 0. [✓] read", "",
        "* **Step:** s1", "* **Requires code:** yes", "",
        "**Expected outputs:**", "",
        "* a.csv", "* b.csv", "",
        "## 1. [ ] judge", "",
        "* **Step:** s2", "* **Requires code:** no",
        "* **Executor:** critic", "* **After:** s1", "",
        "Weigh it.", "", "Twice.", "",
        "**Success criteria:**", "",
        "* it is fair",
    ]  # fmt: skip
    assert "## 0. [x] read" in plan.render("markdown", ascii_only=True)


def test_markdown_draws_the_plan_within_a_step_a_level_deeper() -> None:
    drawn = nested(1, ["A", "B"]).render("markdown").splitlines()
    heads = [line for line in drawn if line.startswith("#")]
    assert heads == ["# r", "## 0. [ ] A", "## 1. [ ] B", "### 1.0. [ ] A", "### 1.1. [ ] B"]


@pytest.mark.parametrize(
    "text",
    [
        "# a heading",
        "a heading\n===",
        "a heading\n---",
        "```\ncode",
        "~~~\ncode",
        "<!-- hidden",
        "> quoted",
        "1. item",
        "+ item",
        "[link]: http://x",
        "![image](http://x)",
        "| a | b |\n| --- | --- |",
    ],
)
def test_no_text_of_a_step_is_markup(text: str) -> None:
    step = {
        "name": text,
        "description": text,
        "expected_outputs": [text],
        "success_criteria": [text],
    }
    plan = create_plan([step, "last"], request="r", title=text, origin="user")
    drawn = plan.render("markdown")
    lines = drawn.splitlines()
    assert [line[:8] for line in lines if line.startswith("#")][1:] == ["## 0. [ ", "## 1. [ "]
    assert not re.search(r"^\s*(===|---|>|\d+\.|\+|\||[`~]{3})", drawn, re.MULTILINE)
    assert not re.search(r"(?<!\\)[<`]|(?<!\\)\]\(|\](?<!\\\]):", drawn)


def test_markdown_bounds_what_strangers_write() -> None:
    step = {
        "name": "n" * 9_000,
        "description": "d\n" * 90_000,
        "success_criteria": ["c" * 9_000] * 99,
    }
    drawn = create_plan([step], request="r", title="t" * 9_000).render("markdown")
    assert len(drawn) < 35_000
    assert "* … 49 more …" in drawn


def test_mermaid_has_a_node_a_step_an_arrow_a_dependency_and_a_class_a_status() -> None:
    steps = [{"name": "A"}, {"name": "B"}, {"name": "C", "depends_on": ["s1", "s2"]}]
    plan = mark_step(create_plan(steps, request="r"), 0, "completed")
    lines = plan.to_mermaid().splitlines()
    assert lines[:6] == [
        "flowchart TD",
        '  n1["s1 A"]:::completed',
        '  n2["s2 B"]:::not_started',
        '  n3["s3 C"]:::not_started',
        "  n1 --> n3",
        "  n2 --> n3",
    ]
    classes = [line.split()[1] for line in lines[6:]]
    assert classes == ["not_started", "in_progress", "completed", "blocked", "note"]


def test_mermaid_draws_a_plain_list_as_a_dotted_chain() -> None:
    drawn = create_plan(["A", "B", "C"], request="r").to_mermaid()
    assert re.findall(r"n\d .*n\d", drawn) == ["n1 -.-> n2", "n2 -.-> n3"]


def test_mermaid_draws_the_plan_within_a_step_as_a_box() -> None:
    plan = mark_step(nested(1, ["A", "B"]), "s2", "in_progress")
    assert plan.to_mermaid().splitlines()[1:9] == [
        '  n1["s1 A"]:::not_started',
        '  subgraph n2["s2 B"]',
        '    n3["s1 A"]:::not_started',
        '    n4["s2 B"]:::not_started',
        "    n3 -.-> n4",
        "  end",
        "  class n2 in_progress",
        "  n1 -.-> n2",
    ]


LINE = re.compile(
    r"flowchart TD"
    r"|\s+n\d+\[\"(?:[^\W_]|[ ,./_()…-]|#\d+;)*\"\]:::\w+"
    r"|\s+subgraph n\d+\[\"(?:[^\W_]|[ ,./_()…-]|#\d+;)*\"\]"
    r"|\s+end|\s+class n\d+ \w+|\s+n\d+ (?:-->|-\.->) n\d+|\s+classDef \w+ [\w:#,]+"
)


def test_no_text_of_a_step_breaks_the_flowchart() -> None:
    plan = nested(1, HOSTILE)
    odd = Plan.model_validate([{"id": '"] end', "name": "%%", "depends_on": ["gone"]}, "end"])
    plan = apply_patch(plan, {"s3": {"sub_plan": odd}})
    lines = plan.to_mermaid().split("\n")
    assert len(lines) > 2 * len(HOSTILE)
    assert [line for line in lines if not LINE.fullmatch(line)] == []


def test_mermaid_notes_what_a_long_plan_leaves_out() -> None:
    plan = create_plan([f"{n} {'🙂' * 99}" for n in range(1_000)], request="r", max_steps=1_000)
    plan = apply_patch(plan, {f"s{n}": {"status": "completed"} for n in range(1, 501)})
    drawn = plan.to_mermaid()
    assert len(drawn) < 50_000
    assert drawn.count(":::") == 102
    assert '"450 earlier steps"' in drawn and '"450 later steps"' in drawn
    assert '["s501 500 ' in drawn


def test_mermaid_notes_the_arrows_that_it_leaves_out() -> None:
    steps = [{"name": f"n{n}", "depends_on": [f"s{m}" for m in range(1, n)]} for n in range(1, 41)]
    drawn = create_plan(steps, request="r").to_mermaid()
    assert drawn.count("-->") == 300
    assert '"480 arrows are left out"' in drawn
