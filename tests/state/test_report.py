"""The report: what it says of a plan, of plans within it, as text and as a Markdown page."""

import re

from planloop import Plan, PlanReport, PlanStep
from planloop.state import Usage, build_report, make_outcome, no_usage, report_markdown, report_text

SPENT: Usage = {
    **no_usage(),
    "steps": 2,
    "input_tokens": 1_200,
    "output_tokens": 34,
    "seconds": 1.5,
    "models": {"m|x": {"calls": 2, "input_tokens": 1_200, "output_tokens": 34, "modes": ["tools"]}},
}
INNER = Plan(
    id="inner",
    title="Inner",
    steps=[
        PlanStep(id="s1", name="dig", status="completed", result="a hole", usage=SPENT),
        PlanStep(id="s2", name="fill", status="blocked", notes="no sand", usage=SPENT),
    ],
)
PLAN = Plan(
    id="p1",
    title="Garden",
    request="make a garden",
    steps=[
        PlanStep(
            id="s1",
            name="measure",
            status="completed",
            verified=True,
            result="4 m",
            routed_to="web",
            routing="`maps` is unknown",
            attempts=2,
            started=10.0,
            ended=12.0,
            usage=SPENT,
            outcome=make_outcome("final_answer", "it answered"),
            verdicts=[{"criterion": "has a number", "verdict": "met", "evidence": "4 m"}],
        ),
        PlanStep(id="s2", name="plant", status="blocked", notes="frost", sub_plan=INNER),
    ],
)


def report_of(plan: Plan) -> PlanReport:
    """Its report, nothing spent."""
    return build_report(plan, usage=no_usage())


def step_of(**fields: object) -> Plan:
    """A plan of one completed step."""
    step = {"id": "s1", "name": "a", "status": "completed", "verified": True, **fields}
    return Plan.model_validate({"id": "p", "title": "T", "steps": [step]})


def test_a_step_reports_how_when_and_with_what_it_was_done() -> None:
    step, open_step = report_of(PLAN)["steps"]
    assert step["routing"] == "`maps` is unknown"
    assert step["verdicts"][0]["evidence"] == "4 m"
    assert (step["started"], step["ended"], step["usage"]) == (10.0, 12.0, SPENT)
    assert (open_step["started"], open_step["ended"], open_step["usage"]) == (None, None, None)
    assert "sub_plan" not in step


def inner_of(report: PlanReport, place: int = 1) -> PlanReport:
    inner = report["steps"][place].get("sub_plan")
    assert inner is not None
    return inner


def test_a_plan_within_a_step_has_its_own_report_with_the_usage_of_its_steps() -> None:
    inner = inner_of(report_of(PLAN))
    assert inner["outcome"] == "partial"
    assert inner["counts"]["blocked"] == 1
    assert inner["usage"]["input_tokens"] == 2_400
    assert inner["warnings"] == ["Not verified: s1."]
    assert [step["name"] for step in inner["steps"]] == ["dig", "fill"]


def test_replans_of_an_inner_plan_are_counted_from_its_history() -> None:
    reasons = ("replanned: no net", "edited by a person", "replanned: no disk")
    history = [{"version": n, "reason": r, "steps": []} for n, r in enumerate(reasons, 1)]
    outer = step_of(sub_plan={"id": "q", "steps": ["x"], "history": history})
    assert inner_of(report_of(outer), 0)["replans"] == 2


def test_plans_nested_without_end_are_reported_to_a_depth() -> None:
    plan = step_of()
    for _ in range(40):
        plan = step_of(sub_plan=plan)
    depth, report = 0, report_of(plan)
    while "sub_plan" in report["steps"][0]:
        depth, report = depth + 1, report["steps"][0]["sub_plan"]
    assert depth == 8


def test_facts_and_root_causes_are_there_only_if_there_are_any() -> None:
    bare = build_report(PLAN, usage=no_usage(), facts={"given": []}, root_causes=[])
    assert "facts" not in bare and "root_causes" not in bare
    facts = {"given": ["a plot"], "found": []}
    full = build_report(PLAN, usage=no_usage(), facts=facts, root_causes=["frost"])
    assert full.get("facts") == {"given": ["a plot"]}
    assert full.get("root_causes") == ["frost"]


def test_cancelled_is_said_whatever_is_done() -> None:
    report = build_report(PLAN, usage=no_usage(), cancelled=True, warnings=["a", "a"])
    assert report["outcome"] == "cancelled"
    assert report["warnings"] == ["a"]


def test_the_text_shows_results_of_completed_steps_only() -> None:
    half = PLAN.model_copy(
        update={"steps": [PlanStep(id="s1", name="dig", status="blocked", result="a small hole")]}
    )
    assert "a small hole" not in report_text(half, report_of(half))


def test_the_text_begins_with_the_counts_and_shows_an_inner_plan_indented() -> None:
    text = report_text(PLAN, report_of(PLAN))
    assert text.startswith("Plan partly completed: 1 of 2 steps completed, 1 blocked.\n\nPlan: ")
    assert "\ns1 measure:\n4 m\n" in text
    within = text.index("Within s2: Plan partly completed: 1 of 2 steps completed, 1 blocked.")
    assert text[within:].splitlines()[1:3] == [
        "  s1 dig (not verified): a hole",
        "  s2 fill (blocked): no sand",
    ]


def test_the_page_has_counts_first_and_a_row_for_each_step_of_each_plan() -> None:
    page = report_markdown(PLAN, report_of(PLAN))
    head, counts = page.split("\n\n")[:2]
    assert head == "# Garden"
    assert counts == "Plan partly completed: 1 of 2 steps completed, 1 blocked."
    assert [row for row in page.splitlines() if row.startswith(r"| \[")] == [
        r"| \[✓\] | s1 | measure | web | 2 | yes | 1.5 | 1,234 |",
        r"| \[\!\] | s2 | plant |  | 0 | no |  |  |",
        r"| \[✓\] | s2/s1 | dig |  | 0 | no | 1.5 | 1,234 |",
        r"| \[\!\] | s2/s2 | fill |  | 0 | no | 1.5 | 1,234 |",
    ]


def test_the_page_says_of_each_step_why_and_by_what_evidence() -> None:
    page = report_markdown(PLAN, report_of(PLAN))
    first = page[page.index("### s1 measure") : page.index("### s2 plant")]
    assert "* Status: completed; its latest attempt ended with final_answer" in first
    assert r"* Executor: \`maps\` is unknown" in first
    assert "* met: has a number: 4 m" in first
    assert "```text\n4 m\n```" in first
    assert "* Notes: no sand" in page[page.index("### s2/s2 fill") :]
    assert "* Status: completed, not verified" in page[page.index("### s2/s1 dig") :]


def test_the_page_has_replaced_steps_warnings_facts_and_usage_by_model() -> None:
    former = PlanStep(id="s9", name="dream", status="blocked", notes="no time")
    history = [{"version": 1, "reason": "replanned", "steps": [former.model_dump(mode="json")]}]
    plan = Plan.model_validate({**step_of().model_dump(), "history": history})
    report = build_report(
        plan,
        usage={**SPENT, "cost": 0.25},
        warnings=["it rained"],
        facts={"to_find_out": ["the soil"]},
        root_causes=["frost"],
    )
    page = report_markdown(plan, report)
    assert "### s9 dream\n\n* Status: blocked, replaced\n* Notes: no time" in page
    assert "## Warnings\n\n* it rained" in page
    assert "## Root causes of failures\n\n* frost" in page
    assert "## Facts: to find out\n\n* the soil" in page
    assert "1,200 tokens read and 34 written, 1.5 seconds, cost 0.25." in page
    assert r"| m\|x | 2 | 1,200 | 34 | tools |" in page


def test_the_models_words_stand_behind_the_counts_as_a_quotation() -> None:
    page = report_markdown(PLAN, report_of(PLAN), "# Done\n\n- all\n1. fine\n| a |")
    assert page.index("1 of 2 steps") < page.index("## Summary by the model")
    assert "> \\# Done\n> \n> \\- all\n> 1\\. fine\n> \\| a \\|\n" in page


def test_what_strangers_wrote_is_no_markup_of_the_page() -> None:
    evil = "# x | y\n## z `code` <b> [a](b) ![i](j) \x1b[31m"
    plan = step_of(
        name=evil,
        notes=evil,
        routed_to=evil,
        result=f"{evil}\n````\n## heading\n```",
        verdicts=[{"criterion": evil, "verdict": "met", "evidence": evil}],
    ).model_copy(update={"title": evil, "request": evil})
    report = build_report(plan, usage=no_usage(), warnings=[evil], root_causes=[evil])
    page = report_markdown(plan, report)
    assert "\x1b" not in page
    outside, inside = re.subn(r"(?ms)^(`{3,})text\n.*?^\1$", "", page)
    assert inside == 1
    lines = outside.splitlines()
    assert {line.split(" ")[0] for line in lines if line.startswith("#")} == {"#", "##", "###"}
    assert sum(line.startswith("## z") for line in lines) == 0
    rows = [line for line in lines if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {9}
    for mark in "`<![":
        assert not re.search(rf"(?<!\\){re.escape(mark)}", outside), mark


def test_long_texts_of_strangers_are_cut() -> None:
    long = "word " * 100_000
    plan = step_of(
        name=long,
        notes=long,
        result=long,
        verdicts=[{"criterion": long, "verdict": "met", "evidence": long}],
    ).model_copy(update={"title": long, "request": long})
    page = report_markdown(plan, report_of(plan), long)
    assert len(page) < 15_000
    assert "characters left out" in page
