"""The three graphs for LangGraph Studio and `langgraph dev`: without a saver, the server has one.

The model is the default of the environment and is loaded when it is first asked, so that the
graphs can be looked at without a key.
"""

from langchain_core.runnables import RunnableConfig

from planloop.tools import ToolPolicy, default_tools

from .planner import PlannerGraph, create_planner_graph
from .planning import PlanningGraph, create_planning_graph
from .react import ReactGraph, create_react_graph

react: ReactGraph = create_react_graph(None, default_tools(), policy=ToolPolicy.workspace())
planner: PlannerGraph = create_planner_graph()
planning: PlanningGraph = create_planning_graph(None, react, approve_plan=True)


def make_graph(config: RunnableConfig) -> PlanningGraph:
    """The planning graph as a factory, for servers that want one."""
    return planning


__all__ = ["make_graph", "planner", "planning", "react"]
