"""Stands in for the only parts of the window toolkit that KaTrain's engine and game nodes name."""
import sys
import types

for name in ("kivy", "kivy.utils", "kivy._event"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["kivy.utils"].platform = "linux"
sys.modules["kivy._event"].Observable = type("Observable", (), {"__init__": lambda self, *_, **__: None})
