"""How long `import planloop` takes, against `import langgraph.graph` alone.

CPU milliseconds of a fresh interpreter (its own start included, and reported as `nothing`), the
minimum over interleaved rounds. `ratio` is against `import langgraph.graph`; the goal for
`import planloop` is below 1.3. `heavy` lists the optional or slow packages that got imported.

    python benchmarks/import_time.py [rounds]
"""

import json
import os
import resource
import subprocess
import sys

CASES = {
    "nothing": "pass",
    "langgraph.graph": "import langgraph.graph",
    "planloop": "import planloop",
    "planloop + create_planning_graph": (
        "import planloop; from planloop import create_planning_graph"
    ),
    "langgraph.graph + sqlite saver": ("import langgraph.graph, langgraph.checkpoint.sqlite"),
    "planloop + create_planning_graph + open_saver": (
        "import planloop; from planloop import create_planning_graph, open_saver"
    ),
}
HEAVY = ("langchain_openai", "openai", "typer", "rich", "xllamacpp", "huggingface_hub")
REPORT = "; import json, sys; print(json.dumps([sorted(sys.modules)]))"
BASE = "langgraph.graph"


def cpu_ms(code: str) -> float:
    """CPU time of one interpreter that runs `code`, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, env=clean_env())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
    return spent * 1000


def modules(code: str) -> list[str]:
    """Names of the modules that are there after `code`."""
    command = [sys.executable, "-c", code + REPORT]
    found = subprocess.run(command, check=True, env=clean_env(), capture_output=True, text=True)
    names: list[str] = json.loads(found.stdout)[0]
    return names


def clean_env() -> dict[str, str]:
    """The environment without keys and settings that change what is imported."""
    drop = ("OPENAI", "LANGCHAIN", "LANGSMITH", "LANGGRAPH", "PLANLOOP", "PYTHON")
    return {key: value for key, value in os.environ.items() if not key.startswith(drop)}


def measure(rounds: int) -> dict[str, object]:
    """All cases, one after the other in each round."""
    for code in CASES.values():
        cpu_ms(code)  # once to write the .pyc files
    times: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(rounds):
        for name, code in CASES.items():
            times[name].append(cpu_ms(code))
    best = {name: min(found) for name, found in times.items()}
    result: dict[str, object] = {"rounds": rounds, "unit": "CPU ms, minimum"}
    for name, code in CASES.items():
        names = modules(code)
        result[name] = {
            "cpu_ms": round(best[name], 1),
            "ratio": round(best[name] / best[BASE], 3),
            "modules": len(names),
            "heavy": [heavy for heavy in HEAVY if heavy in names],
        }
    return result


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 7), indent=2))
