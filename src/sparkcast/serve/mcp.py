"""The tools of `assistant` over the Model Context Protocol: on stdio, or over HTTP on this machine."""

from typing import Any

from sparkcast import __version__
from sparkcast.errors import StudyError
from sparkcast.serve.assistant import AssistantTools
from sparkcast.serve.settings import ServeSettings
from sparkcast.serve.state import ServiceState

TOOLS = ("what_is_known", "predict", "recommend", "check", "profile", "whatif", "compare", "next_run_to_make")
_INSTRUCTIONS = """How long, how accurate and how expensive jobs on Apache Spark will be. Start with what_is_known.
Every answer has a label: measured, predicted inside (the measured range), extrapolated, replayed or refused. Tell it to
your user with the number, and give the command. A refusal is an answer: do not guess in its place."""


def server_of(state: ServiceState, *, reads_files: bool) -> Any:
    """The server with its eight tools."""
    try:
        from mcp.server import MCPServer
        from mcp.types import ToolAnnotations
    except ImportError as error:
        raise StudyError("`mcp` needs the package mcp", hint="pip install 'sparkcast[serve,mcp]'") from error
    tools = AssistantTools(state, reads_files=reads_files)
    server = MCPServer("sparkcast", instructions=_INSTRUCTIONS, version=__version__, log_level="WARNING")
    only_reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for name in TOOLS:
        server.tool(name=name, annotations=only_reads)(getattr(tools, name))
    return server


def run_mcp(settings: ServeSettings, *, over_http: bool) -> None:
    """Answer until the assistant leaves, or an interrupt."""
    if over_http and not settings.is_local:
        raise StudyError(
            f"tools for assistants are served on this machine only, and {settings.host} is another address",
            hint="leave out --host; put a proxy that checks who asks in front of it",
        )
    state = ServiceState(settings)
    try:
        state.start()
        server = server_of(state, reads_files=not over_http)
        if over_http:
            server.run("streamable-http", host=settings.host, port=settings.port)
        else:
            server.run("stdio")
    finally:
        state.close()
