"""The language's reference: the environment with which tests/data/jinja/make_cases.py makes its cases."""
import importlib.util
import pathlib

_path = pathlib.Path(__file__).resolve().parents[1] / "data/jinja/make_cases.py"
_spec = importlib.util.spec_from_file_location("make_cases", _path)
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)

CONTEXT = _module.CONTEXT
expected = _module.expected
