"""Options in the form that the native part expects."""

import os


def as_names(value, what):
    """The names in a list; a single str or path is one name, not its characters."""
    if value is None:
        return []
    if isinstance(value, (str, os.PathLike)):
        value = [value]
    names = []
    for name in value:
        if not isinstance(name, (str, os.PathLike)):
            raise TypeError(f"{what} must be names, but {name!r} is of type {type(name).__name__}")
        names.append(os.fspath(name))
    return names


def settings(**options):
    """Text by key. None is left out; each name in a list or dict becomes a key of its own, with its value in a dict."""
    result = {}
    for key, value in options.items():
        if isinstance(value, dict):
            result.update({f"{key}:{name}": _text(item) for name, item in value.items()})
        elif isinstance(value, list):
            result.update({f"{key}:{name}": "1" for name in value})
        elif value is not None:
            result[key] = _text(value)
    return result


def _text(value):
    return str(int(value)) if isinstance(value, bool) else str(value)
