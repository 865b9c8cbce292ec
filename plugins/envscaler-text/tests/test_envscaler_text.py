"""Through the trainers' own paths a reference episode earns 1.0 and doing nothing 0.0; the contracts of gem and SkyRL-Gym."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import envscaler_text
import pytest
from envscaler_text import SkyRLRows

from envscaler import Episodes, UsageError
from envscaler.testing import ExporterConformance

pytest_plugins = ["envscaler.testing.fixtures"]

NOTHING = "I leave everything as it is.<|im_end|>"
ONE = {
    "spec": {"name": "bank"},
    "task": "Card K-3003 was stolen from me. Please block it.",
    "goals": [{"expr": 'final.cards["K-3003"].status == "blocked"'}],
    "guards": [{"only": {"fields": {"cards": {"K-3003": ["status"]}}}}],
    "solution": [{"tool": "block_card", "arguments": {"card_id": "K-3003"}, "sources": {"card_id": {"from": "task"}}}],
}
BLOCK = '<tool_call>{"name": "block_card", "arguments": {"card_id": "K-3003"}}</tool_call>'


def envscaler(*words: str | Path) -> None:
    command = [sys.executable, "-m", "envscaler", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr


class TestConformance(ExporterConformance):
    make = staticmethod(SkyRLRows)
    takes = "scenarios"


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scenarios of the shipped specs, made and proved, and one by hand."""
    folder = tmp_path_factory.mktemp("tasks")
    made, file = folder / "made.jsonl", folder / "tasks.jsonl"
    envscaler("scenarios", "bank", "calendar", "-n", "6", "--seed", "3", "-o", made)
    made.with_suffix(".states").rename(file.with_suffix(".states"))
    file.write_text(made.read_text(encoding="utf-8") + json.dumps({"id": "by-hand", **ONE}) + "\n", encoding="utf-8")
    return file


@pytest.fixture
def gem_env(tasks: Path) -> Iterator[Callable[..., Any]]:
    gem = pytest.importorskip("gem", reason="gem-llm is not installed")
    pytest.importorskip("gem.envs.registration")
    from envscaler_text import gem_env

    gem_env.register("envscaler:tests", scenarios=str(tasks))
    gem_env.register("envscaler:tests", scenarios="not-used.jsonl")  # the first one stays
    yield lambda **more: gem.make("envscaler:tests", **more)
    del gem.envs.registration.ENV_REGISTRY["envscaler:tests"]


@pytest.fixture
def skyrl_env() -> Iterator[Callable[..., Any]]:
    skyrl_gym = pytest.importorskip("skyrl_gym", reason="skyrl-gym is not installed")
    from envscaler_text import skyrl_env

    skyrl_env.register()
    skyrl_env.register()

    def make(config: Any = None, **extras: Any) -> Any:
        return skyrl_gym.make("envscaler", env_config={} if config is None else config, extras=extras)

    yield make
    skyrl_gym.envs.deregister("envscaler")


def rows(tasks: Path, folder: Path) -> list[dict[str, Any]]:
    """What `envscaler export -f skyrl` writes, read back."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    if not any(point.name == "text" for point in entry_points(group="envscaler")):
        pytest.skip("envscaler-text is not installed, so that envscaler does not know its exporter")
    envscaler("export", tasks, "-f", "skyrl", "-o", folder)
    found: list[dict[str, Any]] = parquet.read_table(folder / "train.parquet").to_pylist()
    return found


# -- gem


def played(env: Any, seed: int, nothing: bool = False) -> tuple[float, dict[str, Any]]:
    """An episode by the reference solution, or by doing nothing; the sum of its rewards, and the last info."""
    observation, info = env.reset(seed=seed)
    assert "<tools>" in observation
    total = 0.0
    for _ in range(30):
        reply = NOTHING if nothing else env.unwrapped._episode.reference() + "<|im_end|>\n"
        observation, reward, terminated, truncated, info = env.step(reply)
        total += reward
        if terminated:
            assert not truncated
            return total, info
        assert reward == 0.0
        assert observation
    raise AssertionError("the episode did not end")


def test_gem_rewards(gem_env: Callable[..., Any]) -> None:
    env = gem_env()
    count = len(env._episodes.ids)
    assert count == 7
    for seed in range(count):
        reward, info = played(env, seed)
        assert (reward, info["status"], info["metrics"]["success"], info["scored"]) == (1.0, "finished", 1.0, True)
        assert info["metrics"].keys() == info["metrics_agg_mode"].keys()
        assert played(env, seed, nothing=True)[0] == 0.0
    scenarios = [env.reset(seed=seed)[1]["scenario"] for seed in range(2 * count)]
    assert scenarios[:count] == scenarios[count:] == list(env._episodes.ids)


def test_gem_seeds(gem_env: Callable[..., Any]) -> None:
    """One seed, one task, in every environment of a group; without a seed the next one."""
    one, other = gem_env(), gem_env(seed=4)
    assert one.reset(seed=5) == other.reset(seed=5)
    assert one.reset()[1] == other.reset(seed=6)[1]
    assert [gem_env(seed=4).reset()[1]] == [one.reset(seed=4)[1]]


def test_gem_limits_and_replies(gem_env: Callable[..., Any]) -> None:
    env = gem_env(max_turns=2)
    env.reset(seed=6)
    observation, reward, terminated, truncated, info = env.step("<tool_call>{</tool_call>")
    assert (reward, terminated, truncated, info["metrics"]["action_is_valid"]) == (0.0, False, False, 0.0)
    assert "could not be read" in observation
    _, reward, terminated, truncated, info = env.step(f"<think>So.</think>\n{BLOCK}<|im_end|>")
    assert (reward, terminated, truncated, info["status"]) == (1.0, True, True, "step_limit")
    with pytest.raises(UsageError, match="is over"):
        env.step("And now?")
    with pytest.raises(UsageError, match="begins with reset"):
        gem_env().step("And now?")


def test_gem_spawn(gem_env: Callable[..., Any]) -> None:
    env = gem_env()
    env.reset(seed=6)
    env.step(BLOCK)
    same, fresh = env.spawn(same_state=True), env.spawn()
    assert same.step("Done.")[1:3] == env.step("Done.")[1:3] == (1.0, True)
    with pytest.raises(UsageError, match="begins with reset"):
        fresh.step("Done.")


def test_gem_wrappers_and_vectors(gem_env: Callable[..., Any], tasks: Path) -> None:
    """What gem itself puts around environments works: they are looked at before they have begun."""
    import gem
    from gem.core import EnvWrapper

    class Through(EnvWrapper):
        def reset(self, seed: int | None = None) -> Any:
            return self.env.reset(seed)

        def step(self, action: str) -> Any:
            return self.env.step(action)

    assert played(Through(gem_env()), 6)[0] == 1.0
    for together in (False, True):
        vector = gem.make_vec(["envscaler:tests"] * 3, async_mode=together, seed=0)
        first, infos = vector.reset(seed=[6, 6, 0])
        assert first[0] == first[1] != first[2]
        assert len(infos) == 3
        _, rewards, *_ = vector.step([BLOCK] * 3)
        assert list(rewards) == [0.0] * 3
        _, rewards, terminated, *_ = vector.step(["Done.", "Done.", NOTHING])
        assert (list(rewards), list(terminated)) == ([1.0, 1.0, 0.0], [True] * 3)


def test_gem_random_actions(gem_env: Callable[..., Any]) -> None:
    env = gem_env(max_turns=5)
    env.reset(seed=0)
    done = False
    while not done:
        _, reward, done, _, _ = env.step(env.sample_random_action())
    assert reward <= 1.0


# -- SkyRL


def test_skyrl_rewards(skyrl_env: Callable[..., Any], tasks: Path, tmp_path: Path) -> None:
    """Rows as the exporter writes them, through `skyrl_gym.make` and threads, as its generator plays them."""
    found = rows(tasks, tmp_path / "out")
    assert len(found) == 7

    def episode(row: dict[str, Any], nothing: bool) -> tuple[float, dict[str, Any]]:
        row = dict(row)
        prompt, _ = row.pop("prompt"), row.pop("env_class")
        env = skyrl_env(**row, max_turns=30)
        messages, metadata = env.init(prompt)
        assert messages == prompt
        assert metadata["scenario"] == row["extra_info"]["scenario"]
        total, done = 0.0, False
        while not done:
            out = env.step(NOTHING if nothing else env._episode.reference())
            total, done = total + out["reward"], out["done"]
            assert done or out["reward"] == 0.0
            assert [m["role"] for m in out["observations"]] == ([] if done else ["user"])
        env.close()
        return total, env.get_metrics()

    with ThreadPoolExecutor(4) as pool:
        good = list(pool.map(lambda row: episode(row, False), found * 2))
        bad = list(pool.map(lambda row: episode(row, True), found))
    assert {reward for reward, _ in good} == {1.0}
    assert {reward for reward, _ in bad} == {0.0}
    from envscaler_text.skyrl_env import EnvscalerEnv

    means = EnvscalerEnv.aggregate_metrics([metrics for _, metrics in good + bad])
    assert means["success"] == pytest.approx(14 / 21)
    assert means["scored"] == 1.0


def test_skyrl_by_id(skyrl_env: Callable[..., Any], tasks: Path) -> None:
    """A row may name its scenario, where the configuration of the trainer says in which files they are."""
    omegaconf = pytest.importorskip("omegaconf")
    config = omegaconf.OmegaConf.create({"scenarios": [str(tasks)]})
    env = skyrl_env(config, extra_info={"scenario": "by-hand"}, max_turns=2)
    env.init([])
    assert env.step(BLOCK)["done"] is False
    out = env.step("It is blocked.")
    assert (out["reward"], out["done"], out["metadata"]["goals"]) == (1.0, True, [True])


def test_skyrl_mistakes(skyrl_env: Callable[..., Any]) -> None:
    whole = {"reward_spec": {"ground_truth": json.dumps(ONE)}}
    with pytest.raises(UsageError, match=r"reward_spec\.ground_truth"):
        skyrl_env(extra_info={})
    with pytest.raises(UsageError, match="no setting spec"):
        skyrl_env({"spec": "x"}, **whole)
    with pytest.raises(UsageError, match="broken is raise or zero"):
        skyrl_env({"broken": "none"}, **whole).init([])


def test_a_world_that_breaks(skyrl_env: Callable[..., Any]) -> None:
    """No reward is made up for what was not the agent's doing, unless that is asked for."""
    from envscaler_text.tasks import EpisodeBroken

    wrong = {**ONE, "goals": [{"expr": 'final.accounts["A-2001"].balance / (final.till.cash - final.till.cash) > 1'}]}
    for broken in ("raise", "zero"):
        env = skyrl_env({"broken": broken}, reward_spec={"ground_truth": json.dumps(wrong)})
        env.init([])
        if broken == "raise":
            with pytest.raises(EpisodeBroken, match="finished"):
                env.step("Done.")
        else:
            out = env.step("Done.")
            assert (out["reward"], out["metadata"]["scored"], env.get_metrics()["scored"]) == (0.0, False, 0.0)


# -- without either


@pytest.mark.parametrize("what", ["gem", "skyrl"])
def test_examples_of_the_readme(what: str, tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = pytest.importorskip({"gem": "gem.envs.registration", "skyrl": "skyrl_gym.envs.registration"}[what])
    monkeypatch.setattr(registry, {"gem": "ENV_REGISTRY", "skyrl": "registry"}[what], {})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks.jsonl").write_bytes(tasks.read_bytes())
    (tmp_path / "tasks.states").symlink_to(tasks.with_suffix(".states"))
    if what == "skyrl":
        rows(Path("tasks.jsonl"), Path("build", "skyrl"))
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(rf"```python {what}\n(.*?)```", text, re.DOTALL)
    exec(example, {})  # noqa: S102


def test_envscaler_finds_it(envscaler_plugins: Callable[..., Any]) -> None:
    assert envscaler_plugins(envscaler_text).exporter("skyrl", {"env_class": "mine"})


@pytest.mark.parametrize("wrong", [{"env_class": ""}, {"env_class": 3}, {"envclass": "x"}])
def test_wrong_settings(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        SkyRLRows(wrong)


def test_the_solution_without_a_trainer(tasks: Path) -> None:
    episodes = Episodes(tasks)
    for name in episodes.ids:
        (episode, _), done = episodes.begin_text(name), False
        while not done:
            _, reward, done, _ = episode.step(episode.reference())
        assert reward == 1.0
