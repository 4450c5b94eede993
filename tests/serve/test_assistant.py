"""Tools for assistants, asked by the official client."""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eventlogs_support import REAL_LOG
from serve_support import AT, make_store, settings_of
from sparkcast.serve.mcp import TOOLS, run_mcp, server_of
from sparkcast.serve.settings import ServeSettings
from sparkcast.serve.state import ServiceState

mcp = pytest.importorskip("mcp")


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceState]:
    found = ServiceState(settings_of(make_store(tmp_path_factory.mktemp("team"))))
    yield found
    found.close()


def call(server: Any, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    async def ask() -> dict[str, Any]:
        async with mcp.Client(server) as client:
            answer = await client.call_tool(name, arguments)
            assert not answer.is_error, answer
            assert answer.structured_content is not None
            return dict(answer.structured_content)

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("tool", "arguments", "label", "told"),
    [
        ("what_is_known", {}, "measured", "train"),
        ("what_is_known", {"study": "train"}, "measured", "executors: 1, 2, 4, 8"),
        ("predict", {"study": "train", "settings": AT}, "measured", "90%"),
        ("predict", {"study": "train", "settings": {"executors": 3, "batch_size": 100}}, "predicted inside", "90%"),
        ("predict", {"study": "train", "settings": {"executors": 12, "batch_size": 64}}, "extrapolated", "90%"),
        ("predict", {"study": "train", "settings": {"executors": 4000, "batch_size": 64}}, "refused", "executors"),
        (
            "predict",
            {"study": "train", "settings": {"executors": 4000, "batch_size": 64}, "extrapolate": True},
            "extrapolated",
            "90%",
        ),
        ("predict", {"study": "trian", "settings": AT}, "refused", "did you mean"),
        ("recommend", {"study": "train", "within": "2m"}, "measured", "Use executors"),
        ("recommend", {"study": "train", "within": "1s"}, "refused", "elax the deadline"),
        ("check", {"study": "train", "settings": AT, "within": "300s"}, "measured", "admit"),
        (
            "check",
            {"study": "train", "settings": {"executors": 1, "batch_size": 64}, "within": "2m"},
            "measured",
            "Use",
        ),
        ("check", {"line": "spark-submit --name nobody x.py", "within": "2m"}, "refused", "no runs"),
        ("profile", {"log": str(REAL_LOG)}, "measured", "took"),
        ("profile", {"log": "/nowhere"}, "refused", "no log"),
        ("whatif", {"log": str(REAL_LOG), "executors": [1, 2]}, "replayed", "executors"),
        ("compare", {"study": "train", "a": AT, "b": {"executors": 1, "batch_size": 64}}, "measured", ">99%"),
        ("next_run_to_make", {"study": "train"}, "measured", "Every candidate"),
    ],
)
def test_each_answer_is_short_and_says_how_it_is_known(
    state: ServiceState, tool: str, arguments: dict[str, Any], label: str, told: str
) -> None:
    found = call(server_of(state, reads_files=True), tool, arguments)
    assert found["label"] == label, found
    assert told in found["answer"]
    assert len(found["answer"]) < 1500
    assert found["command"].startswith("sparkcast ")
    assert found["details"] == {}
    assert found["basis"] or label == "refused"


def test_there_are_eight_tools_that_only_read(state: ServiceState) -> None:
    async def listed() -> Any:
        async with mcp.Client(server_of(state, reads_files=True)) as client:
            return (await client.list_tools()).tools

    tools = asyncio.run(listed())
    assert {tool.name for tool in tools} == set(TOOLS)
    assert len(TOOLS) == 8
    for tool in tools:
        assert tool.description
        assert tool.annotations.read_only_hint


def test_details_are_the_document_of_the_command(state: ServiceState) -> None:
    asked = {"study": "train", "settings": AT, "details": True}
    found = call(server_of(state, reads_files=True), "predict", asked)
    assert found["details"]["schema"] == "sparkcast/predict/1"


def test_over_http_no_path_is_read(state: ServiceState) -> None:
    found = call(server_of(state, reads_files=False), "profile", {"log": str(REAL_LOG)})
    assert found["label"] == "refused"


def test_tools_are_not_served_to_other_machines() -> None:
    with pytest.raises(ValueError, match="this machine only"):
        run_mcp(ServeSettings(host="0.0.0.0"), over_http=True)


@pytest.mark.slow
def test_the_command_answers_on_stdio(tmp_path: Path) -> None:
    place = make_store(tmp_path)
    command = mcp.StdioServerParameters(
        command=sys.executable, args=["-m", "sparkcast", "mcp", "--store", place], env={**os.environ}
    )
    assert "train" in call(command, "what_is_known", {})["answer"]


@pytest.mark.slow
def test_the_command_answers_over_http(tmp_path: Path) -> None:
    import socket
    import subprocess
    from urllib.error import URLError
    from urllib.request import urlopen

    from serve_support import eventually

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    words = [sys.executable, "-m", "sparkcast", "mcp", "--http", "--port", str(port), "--store", make_store(tmp_path)]
    process = subprocess.Popen(words)

    def answers() -> bool:
        try:
            urlopen(f"http://127.0.0.1:{port}/", timeout=1)
        except URLError as error:
            return hasattr(error, "code")
        return True

    try:
        eventually(answers)
        assert "train" in call(f"http://127.0.0.1:{port}/mcp", "what_is_known", {})["answer"]
    finally:
        process.terminate()
        process.wait(timeout=20)
