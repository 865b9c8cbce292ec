"""The commands as a user meets them: output, exit codes, hints."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from envscaler import __version__
from envscaler.cli import exits
from envscaler.cli.app import app

TILL = Path(__file__).parents[1] / "replay" / "till.yaml"


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(w) for w in words])


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = Path("till.yaml")
    file.write_text(TILL.read_text(encoding="utf-8"), encoding="utf-8")
    return file


def broken(spec: Path, old: str = "coin.value", new: str = "coin.valu") -> Path:
    spec.write_text(spec.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    return spec


# -- check


def test_check_a_good_spec(spec: Path) -> None:
    done = run("check", spec)
    assert (done.exit_code, done.output) == (exits.OK, "1 spec checked: 0 errors, 0 warnings\n")


def test_check_points_at_the_line(spec: Path) -> None:
    done = run("check", broken(spec))
    line = (
        spec.read_text(encoding="utf-8")
        .splitlines()
        .index(next(x for x in spec.read_text(encoding="utf-8").splitlines() if "coin.valu," in x))
        + 1
    )
    assert done.exit_code == exits.SPEC
    assert done.output.startswith(f"till.yaml:{line}:")
    assert "value" in done.output
    assert done.output.endswith("1 spec checked: 1 error, 0 warnings\n")


def test_check_a_folder_one_bad_file_stops_nothing(spec: Path) -> None:
    Path("sub/.hidden").mkdir(parents=True)
    Path("sub/bad.yml").write_text("envscaler: 1\nname: [\n", encoding="utf-8")
    Path("sub/binary.yaml").write_bytes(b"envscaler: 1\n\xff\xfe\x00")
    Path("sub/.hidden/x.yaml").write_text("envscaler: 1\n", encoding="utf-8")
    Path("sub/data.yaml").write_text("a: 1\n", encoding="utf-8")
    done = run("check", ".")
    assert done.exit_code == exits.SPEC
    assert "sub/bad.yml:" in done.output
    assert "sub/binary.yaml:2:1: error[not-utf8]" in done.output
    assert "sub/data.yaml: no spec (no line begins with `envscaler:`), skipped" in done.output
    assert "3 specs checked" in done.output
    assert "hidden" not in done.output


def test_check_forms(spec: Path) -> None:
    broken(spec)
    (found,) = json.loads(run("check", spec, "--json").output)
    assert (found["path"], found["severity"]) == ("till.yaml", "error")
    assert run("check", spec, "--github").output.startswith("::error file=till.yaml,line=")
    both = run("check", spec, "--github", "--json")
    assert both.exit_code == exits.USAGE
    assert json.loads(run("check", TILL, "--json").output) == []


def test_text_of_specs_is_escaped(spec: Path) -> None:
    broken(spec, "A till that", "A till \x1b[31mthat")
    done = run("check", spec)
    assert done.exit_code == exits.SPEC
    assert "\x1b" not in done.output


# -- fmt


def test_fmt(spec: Path) -> None:
    run("fmt", spec)
    tidy = spec.read_text(encoding="utf-8")
    assert run("fmt", spec, "--check").exit_code == exits.OK
    spec.write_text(tidy.replace("name: till", "name:    till  # the name"), encoding="utf-8")
    untidy = spec.read_text(encoding="utf-8")

    done = run("fmt", spec, "--check")
    assert (done.exit_code, done.output) == (exits.FINDINGS, "till.yaml: not formatted\n")
    done = run("fmt", spec, "--diff")
    assert done.exit_code == exits.FINDINGS
    assert "-name:    till  # the name" in done.output
    assert spec.read_text(encoding="utf-8") == untidy

    done = run("fmt", spec)
    assert (done.exit_code, done.output) == (exits.OK, "till.yaml: formatted\n")
    assert "name: till  # the name" in spec.read_text(encoding="utf-8")
    assert run("fmt", spec).output == ""


def test_fmt_refuses_what_cannot_be_parsed(spec: Path) -> None:
    Path("bad.yaml").write_text("envscaler: [\n", encoding="utf-8")
    done = run("fmt", "bad.yaml", spec)
    assert done.exit_code == exits.SPEC
    assert "bad.yaml:" in done.output
    assert Path("bad.yaml").read_text(encoding="utf-8") == "envscaler: [\n"


# -- compile


def test_compile_to_the_default_place(spec: Path) -> None:
    done = run("compile", spec)
    assert (done.exit_code, done.output) == (exits.OK, "build/till.py\n")
    assert "class Till(" in Path("build/till.py").read_text(encoding="utf-8")


def test_compile_to_a_file_or_folder(spec: Path) -> None:
    assert run("compile", spec, "-o", "out/one.py").output == "out/one.py\n"
    assert run("compile", spec, "-o", "out").output == "out/till.py\n"
    assert sorted(p.name for p in Path("out").iterdir()) == ["one.py", "till.py"]
    Path("other.yaml").write_text(
        spec.read_text(encoding="utf-8").replace("name: till", "name: other", 1), encoding="utf-8"
    )
    done = run("compile", spec, "other.yaml", "-o", "two.py")
    assert done.exit_code == exits.USAGE
    assert "name a folder" in done.output


def test_compile_reports_and_goes_on(spec: Path) -> None:
    Path("bad.yaml").write_text(spec.read_text(encoding="utf-8").replace("coin.value", "coin.valu"), encoding="utf-8")
    done = run("compile", "bad.yaml", spec)
    assert done.exit_code == exits.SPEC
    assert "bad.yaml:" in done.output
    assert "build/till.py" in done.output


def test_specs_that_would_overwrite_each_other(spec: Path) -> None:
    Path("again.yaml").write_text(spec.read_text(encoding="utf-8"), encoding="utf-8")
    done = run("compile", spec, "again.yaml")
    assert done.exit_code == exits.USAGE
    assert "again.yaml and till.yaml would both be compiled to build/till.py" in done.output


def example(spec: Path, text: str) -> int:
    """Give the tool `total` an example; its line in the file."""
    source = spec.read_text(encoding="utf-8")
    body = "      return sum(c.value for c in coins.values())\n"
    assert body in source
    source = source.replace(body, f"{body}    examples:\n      - {text}\n")
    spec.write_text(source, encoding="utf-8")
    return source.splitlines().index(f"      - {text}") + 1


@pytest.mark.parametrize(
    "text",
    [
        "{call: {}, returns: 15}",
        "{call: {}, given: {coins: {C-1: {value: 7}}}, returns: 17}",
        "{call: {}, given: {coins: {C-1: null}}, returns: 10}",
        "{call: {}, given: {coins: {C-5: {value: 1}}}, returns: 16, then: {coins: {C-5: {value: 1}, C-9: null}}}",
        "{call: {}, given: {drawer: {open: true}}, returns: 15, then: {drawer: {open: true}}}",
    ],
)
def test_examples_that_hold(spec: Path, text: str) -> None:
    example(spec, text)
    done = run("compile", spec)
    assert (done.exit_code, done.output) == (exits.OK, "build/till.py\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{call: {}, returns: 16}", "example of total: result: expected 16, got 15"),
        ("{call: {}, error: no}", 'example of total: expected error "no", got 15'),
        (
            "{call: {}, returns: 15, then: {coins: {C-1: {value: 6}}}}",
            "afterwards coins['C-1'] at /value: expected 6, got 5",
        ),
        ("{call: {}, returns: 15, then: {coins: {C-1: null}}}", "afterwards coins['C-1']: expected null"),
    ],
)
def test_examples_that_fail_are_shown_at_their_line(spec: Path, text: str, message: str) -> None:
    line = example(spec, text)
    done = run("compile", spec)
    assert done.exit_code == exits.FINDINGS
    assert f"till.yaml:{line}:" in done.output
    assert "error[example-differs]" in done.output
    assert message in done.output
    assert "build/till.py" in done.output
    assert run("compile", spec, "--no-verify").exit_code == exits.OK
    (unit,) = json.loads(run("compile", spec, "--json").output)
    assert unit["module"] == "build/till.py"
    assert unit["diagnostics"][0]["line"] == line


# -- describe, call


def test_describe(spec: Path) -> None:
    done = run("describe", spec)
    assert done.exit_code == exits.OK
    assert "At most 10 lie in it." in done.output
    assert "add_coin" in done.output
    assert "value: integer" in done.output
    assert "slam" not in done.output
    assert "slam" in run("describe", spec, "--actor", "user").output


@pytest.mark.parametrize("provider", ["openai", "openai-strict", "anthropic", "mcp"])
def test_describe_for_a_provider(spec: Path, provider: str) -> None:
    tools = json.loads(run("describe", spec, "--provider", provider).output)
    names = [tool["function"]["name"] if "function" in tool else tool["name"] for tool in tools]
    assert names == ["add_coin", "get_coin", "total"]


def test_describe_json(spec: Path) -> None:
    told = json.loads(run("describe", spec, "--json").output)
    assert (told["name"], told["title"]) == ("till", "A till")
    assert "At most 10" in told["doc"]


def test_call(spec: Path) -> None:
    done = run("call", spec, "add_coin", '{"value": 3}', "--changes")
    assert done.exit_code == exits.OK
    shown = json.loads(done.output)
    assert shown["success"] is True
    assert shown["data"] == {"coin_id": "C-3", "value": 3, "label": "plain"}
    assert {c["path"] for c in shown["changes"]} >= {"/drawer/count"}


def test_call_that_fails(spec: Path) -> None:
    done = run("call", spec, "get_coin", '{"coin_id": "C-7"}')
    assert done.exit_code == exits.FINDINGS
    assert json.loads(done.output)["success"] is False
    assert run("call", spec, "get_coin", "{").exit_code == exits.FINDINGS
    assert run("call", spec, "slam", '{"open": true}').exit_code == exits.FINDINGS
    assert run("call", spec, "slam", '{"open": true}', "--actor", "user").exit_code == exits.OK


def test_a_broken_spec_is_a_line(spec: Path) -> None:
    done = run("call", broken(spec), "total")
    assert done.exit_code == exits.SPEC
    assert done.output.startswith("envscaler: till.yaml:")
    assert done.output.endswith("(`envscaler check` shows it in full)\n")
    assert done.output.count("\n") == 1


def test_call_on_another_state(spec: Path) -> None:
    state = Path("state.json")
    state.write_text(
        '{"coins": {"X": {"value": 1, "label": ""}}, "drawer": {"open": true, "count": 1}}', encoding="utf-8"
    )
    assert json.loads(run("call", spec, "total", "--state", state).output)["data"] == 1
    state.write_text('{"coins": {"X": {"value": "one"}}, "drawer": {"open": 1, "count": 1}}', encoding="utf-8")
    done = run("call", spec, "total", "--state", state)
    assert done.exit_code == exits.STATE
    first, second = done.output.splitlines()
    assert first.startswith("envscaler: ")
    assert second.startswith("  ")
    assert "X" in first
    state.write_text("{", encoding="utf-8")
    done = run("call", spec, "total", "--state", state)
    assert (done.exit_code, "state.json: not JSON" in done.output) == (exits.USAGE, True)


# -- new, schema


def test_new_checks_and_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("new", "tea_shop")
    assert (done.exit_code, done.output) == (exits.OK, "tea_shop.yaml\n")
    assert run("check", "tea_shop.yaml").output == "1 spec checked: 0 errors, 0 warnings\n"
    assert run("fmt", "--check", "tea_shop.yaml").exit_code == exits.OK
    assert run("compile", "tea_shop.yaml").output == "build/tea_shop.py\n"
    again = run("new", "tea_shop")
    assert (again.exit_code, "tea_shop.yaml exists" in again.output) == (exits.USAGE, True)
    assert run("new", "other", "-o", "sub/other.yaml").output == "sub/other.yaml\n"


@pytest.mark.parametrize("name", ["Tea Shop", "2fa", "x(): import os #", "a\nb: 1", "", "class"])
def test_new_refuses_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("new", name)
    assert done.exit_code == exits.USAGE
    assert list(tmp_path.iterdir()) == []
    if name == "Tea Shop":
        assert "tea_shop would do" in done.output


def test_schema() -> None:
    schema = json.loads(run("schema").output)
    assert "envscaler" in json.dumps(schema)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "require" in run("schema", "--card").output


# -- the command line itself


def test_version_and_help() -> None:
    assert run("--version").output == f"envscaler {__version__}\n"
    done = run("--help")
    assert done.exit_code == 0
    for command in ("check", "fmt", "schema", "compile", "describe", "call", "new", "replay"):
        assert command in done.output
        assert run(command, "--help").exit_code == 0


def test_near_names(spec: Path) -> None:
    done = run("chekc", spec)
    assert done.exit_code == exits.USAGE
    assert "check" in done.output
    done = run("check", "tyll.yaml")
    assert (done.exit_code, done.output) == (
        exits.USAGE,
        "envscaler: tyll.yaml: no such file or directory; did you mean till.yaml?\n",
    )
    Path("empty").mkdir()
    assert "no YAML file in empty" in run("check", "empty").output
    assert "not a regular file" in run("check", "/dev/null").output


def environ() -> dict[str, str]:
    return {**os.environ, "PYTHONUNBUFFERED": ""}


def test_a_reader_that_leaves_makes_no_noise() -> None:
    shown = subprocess.Popen(
        [sys.executable, "-m", "envscaler", "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ()
    )
    assert shown.stdout is not None
    shown.stdout.close()
    _, noise = shown.communicate(timeout=60)
    assert noise == b""
    assert shown.returncode == exits.OK


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_makes_no_noise(spec: Path) -> None:
    script = (
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a background job ignores it
        "from envscaler import session\n"
        "from envscaler.cli import main\n"
        "import time\n"
        "def check(paths, **options):\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
        "session.check = check\n"
        "import sys\n"
        "sys.argv = ['envscaler', 'check', 'till.yaml']\n"
        "main()\n"
    )
    shown = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert shown.stdout is not None
    assert shown.stdout.readline() == b"ready\n"
    shown.send_signal(signal.SIGINT)
    _, noise = shown.communicate(timeout=60)
    assert noise == b""
    assert shown.returncode == exits.INTERRUPTED


def test_bugs_keep_their_traceback(spec: Path) -> None:
    script = (
        "from envscaler import session\n"
        "from envscaler.cli import main\n"
        "import sys\n"
        "session.check = lambda paths, **options: 1 / 0\n"
        "sys.argv = ['envscaler', 'check', 'till.yaml']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("ZeroDivisionError: division by zero")
    assert "Traceback (most recent call last)" in done.stderr


HEAVY = {"pydantic", "libcst", "jinja2", "ruamel", "rich", "hypothesis", "instructor", "anthropic", "pluggy"}


def test_help_imports_nothing_heavy_and_is_quick() -> None:
    script = (
        "import sys; sys.argv = ['envscaler', '--help']\n"
        "from envscaler.cli import main\n"
        "try: main()\n"
        "finally: print('\\n'.join(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded & HEAVY == set()
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "envscaler", "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(times) < 0.3  # seconds of CPU, so that a busy machine does not count
