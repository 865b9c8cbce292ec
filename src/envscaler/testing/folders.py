"""What every pack of specs and every folder of templates must be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, cast

from envscaler.plugin.entries import Entry, SpecsEntry, TemplatesEntry
from envscaler.testing.base import Conformance, shipped, want

__all__ = ["SpecsConformance", "TemplatesConformance"]


class _FolderConformance(Conformance):
    make: Callable[[], Any]

    @classmethod
    def of(cls, entry: Entry) -> type[Self]:
        path = cast("SpecsEntry | TemplatesEntry", entry).path
        return type(f"{cls.__name__}Of", (cls,), {"make": staticmethod(lambda: path)})


class SpecsConformance(_FolderConformance):
    """Subclass it with ``make``, which gives the pack's folder."""

    make: Callable[[], Any]

    def _specs(self) -> dict[str, Path]:
        from envscaler.session.packs import pack_specs

        found = pack_specs(SpecsEntry("pack", "The pack under test", self.make()))
        want(found, "no file in the pack's folder has a line that begins with `envscaler:`")
        return found

    def test_specs_have_no_errors_or_warnings(self) -> None:
        """`envscaler check` has nothing to say of any spec."""
        from envscaler import session

        report = session.check(list(self._specs().values()))
        said = [d.headline() for d in report.diagnostics if d.severity != "note"]
        want(not said, "; ".join(said))

    def test_files_are_called_like_their_specs(self) -> None:
        """A spec is found by the name of its file, which must be its own."""
        from envscaler.session.specs import sound

        for name, path in self._specs().items():
            spec = sound(path).spec
            assert spec is not None
            want(spec.name == name, f"{path.name} holds the spec {spec.name}; call it {spec.name}{path.suffix}")

    def test_examples_hold(self) -> None:
        """Every spec compiles, its initial state keeps its rules, and its examples give what they say."""
        from envscaler.compiler import compile_spec, load_class
        from envscaler.replay.examples import verify
        from envscaler.session.specs import sound

        for path in self._specs().values():
            checked = sound(path)
            assert checked.spec is not None
            failures = verify(checked.spec, load_class(compile_spec(checked)))
            want(not failures, "; ".join(d.headline() for d in failures))

    def test_specs_have_examples(self) -> None:
        """Every tool has an example, which tells people and tests what it does."""
        from envscaler.session.specs import sound

        for path in self._specs().values():
            spec = sound(path).spec
            assert spec is not None
            bare = [tool.name for tool in spec.tools.values() if not tool.examples]
            want(not bare, f"{path.name}: no example of {', '.join(bare)}")


class TemplatesConformance(_FolderConformance):
    """Subclass it with ``make``, which gives the folder."""

    make: Callable[[], Any]

    def _templates(self) -> tuple[Path, list[Path]]:
        folder = TemplatesEntry("templates", "The templates under test", self.make()).path
        found = sorted(p for p in folder.rglob("*.j2") if p.is_file())
        want(found, "the folder holds no template (*.j2)")
        return folder, found

    def test_each_stands_for_a_shipped_one(self) -> None:
        """Every template has the path of one that ships; another would never be looked for."""
        from envscaler.diagnostics import nearest
        from envscaler.resources import folder as shipped_folder

        ours = shipped_folder("templates")
        names = [p.relative_to(ours).as_posix() for p in ours.rglob("*.j2")]
        folder, found = self._templates()
        for path in found:
            name = path.relative_to(folder).as_posix()
            near = nearest(name, names)
            want(name in names, f"there is no template {name} to replace" + (f"; did you mean {near}?" if near else ""))

    def test_they_are_templates(self) -> None:
        """Every file can be read by Jinja."""
        from envscaler.compiler.templates import environment

        folder, found = self._templates()
        jinja = environment((str(folder),))
        for path in found:
            jinja.parse(path.read_text(encoding="utf-8"), name=path.relative_to(folder).as_posix())

    def test_the_bank_still_works(self) -> None:
        """With them before the shipped ones, the bank compiles and its examples give what they say."""
        from envscaler.compiler import compile_spec, load_class
        from envscaler.replay.examples import verify
        from envscaler.session.specs import sound

        folder, _ = self._templates()
        checked = sound(shipped("bank"))
        assert checked.spec is not None
        failures = verify(checked.spec, load_class(compile_spec(checked, templates=(str(folder),))))
        want(not failures, "; ".join(d.headline() for d in failures))
