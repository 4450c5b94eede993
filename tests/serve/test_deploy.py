"""What is in deploy/ fits the service: no container is started here, but the commands it names are run."""

import configparser
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import yaml
from typer.testing import CliRunner

import sparkcast
from serve_support import AT, free_port, make_store, process_of
from sparkcast.cli import app
from sparkcast.client import Client, ServiceFailed
from sparkcast.serve.v1.prometheus import _HELP
from sparkcast.store.service import ServiceRows, service_url

ROOT = Path(sparkcast.__file__).parents[2]
DEPLOY = ROOT / "deploy"
pytestmark = pytest.mark.skipif(not DEPLOY.is_dir(), reason="a checkout has deploy/, an installed package has not")


def options_of(command: str) -> str:
    answer = CliRunner().invoke(app, [command, "--help"])
    assert answer.exit_code == 0
    return answer.output


def require_known(words: list[str]) -> None:
    told = options_of("serve")
    for word in words:
        if word.startswith("--"):
            assert word in told, word


def test_the_image_starts_the_service_as_a_user_without_rights() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    [entry] = re.findall(r"^ENTRYPOINT (.*)$", text, re.M)
    words = json.loads(entry)
    assert words[:2] == ["sparkcast", "serve"]
    require_known(words[2:])
    assert re.search(r"^USER 10001$", text, re.M)
    for sources in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.M):
        for source in sources.split():
            assert (ROOT / source).exists(), source
    assert "password" not in text.lower().replace("its password is in the file", "")


@pytest.mark.slow
def test_the_commands_of_the_image_start_a_service_that_is_healthy_and_scraped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    port, place = free_port(), make_store(tmp_path)
    [entry] = re.findall(r"^ENTRYPOINT (.*)$", text, re.M)
    [probe] = re.findall(r"^  CMD (\[.*\])$", text, re.M)
    words = json.loads(entry.replace("8080", str(port)))
    monkeypatch.setenv("SPARKCAST_STORE", place)
    refused = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    made = re.search("sparkcast (serve token add .*)", refused.stderr)
    assert made is not None, refused.stderr
    rows = ServiceRows(service_url(place))
    token = rows.add_token("prometheus", "read")
    rows.close()
    client = Client(f"http://127.0.0.1:{port}", token, timeout_s=120)
    with process_of(words[2:], client):
        healthy = json.loads(probe.replace("8080", str(port)))
        assert subprocess.run([sys.executable, *healthy[1:]], check=False).returncode == 0
        assert client.studies()[0]["name"] == "train"
        client.predict("train", AT)
        scrape = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"][0]
        assert scrape["authorization"]["type"] == "Bearer"
        asked = Request(f"http://127.0.0.1:{port}/metrics", headers={"Authorization": f"Bearer {token}"})
        with urlopen(asked) as answer:
            assert b'sparkcast_model_runs{study="train"}' in answer.read()
        with pytest.raises(ServiceFailed, match="token"):
            Client(f"http://127.0.0.1:{port}", "sct_wrong").studies()
    assert subprocess.run([sys.executable, *healthy[1:]], capture_output=True, check=False).returncode == 1


def test_the_unit_of_systemd_runs_a_command_that_exists() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string((DEPLOY / "sparkcast.service").read_text())
    words = shlex.split(unit["Service"]["ExecStart"])
    assert Path(words[0]).name == "sparkcast"
    require_known(words[2:])
    assert unit["Service"]["NoNewPrivileges"] == "yes"


def test_compose_starts_the_service_its_store_and_prometheus() -> None:
    told = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert told["services"].keys() == {"service", "database", "prometheus"}
    service = told["services"]["service"]
    assert (DEPLOY / service["build"]["context"]).resolve() == ROOT
    assert "password" not in service["environment"]["SPARKCAST_STORE"]
    assert all(port.startswith("127.0.0.1:") for one in told["services"].values() for port in one.get("ports", []))
    used = {
        s if isinstance(s, str) else s["source"] for one in told["services"].values() for s in one.get("secrets", [])
    }
    assert used <= told["secrets"].keys()
    scraped = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"][0]
    assert scraped["static_configs"][0]["targets"] == ["service:8080"]


def test_kubernetes_probes_paths_that_the_service_has() -> None:
    parts: list[dict[str, Any]] = [*yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())]
    assert [part["kind"] for part in parts] == ["Deployment", "Service", "PodDisruptionBudget"]
    pod = parts[0]["spec"]["template"]
    [container] = pod["spec"]["containers"]
    assert container["readinessProbe"]["httpGet"]["path"] == "/ready"
    assert container["livenessProbe"]["httpGet"]["path"] == "/health"
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert pod["spec"]["securityContext"]["runAsNonRoot"]
    labels = pod["metadata"]["labels"]
    assert parts[0]["spec"]["selector"]["matchLabels"] == labels == parts[1]["spec"]["selector"]
    volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes


def test_the_dashboard_asks_for_metrics_that_the_service_has() -> None:
    told = json.loads((DEPLOY / "grafana.json").read_text())
    asked = " ".join(target["expr"] for panel in told["panels"] for target in panel["targets"])
    names = {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"sparkcast_\w+", asked)}
    assert names <= _HELP.keys()
    assert len(told["panels"]) >= 6
