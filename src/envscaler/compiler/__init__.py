"""From a checked spec to a readable Python module, and from there to an environment class."""

from envscaler.compiler.load import CompiledModule, compile_spec, load_again, load_class

__all__ = ["CompiledModule", "compile_spec", "load_again", "load_class"]
