import pytest

from scumble._core import registry
from scumble._core.errors import MissingDependencyError, ParameterError
from scumble._core.optional import import_optional_dependency
from scumble._core.registry import register, registered_objects


def test_a_name_belongs_to_one_entry(monkeypatch):
    monkeypatch.setitem(registry._entries, "plot", {})  # the real ones stay as they are

    def first(): ...

    def second(): ...

    register("plot", "test entry", first)
    register("plot", "test entry", first)
    with pytest.raises(ParameterError, match="The plot 'test entry' is registered twice"):
        register("plot", "test entry", second)
    with pytest.raises(TypeError):
        registered_objects("plot")["other"] = second


def test_a_missing_extra_answers_with_its_install_command():
    with pytest.raises(
        MissingDependencyError, match=r"chord requires nonesuch: pip install 'scumble\[plots\]'"
    ):
        import_optional_dependency("nonesuch.part", purpose="chord", extra="plots")
