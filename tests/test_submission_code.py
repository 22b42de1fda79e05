"""What a cell's code leaves under a name is read from its text alone."""

from __future__ import annotations

import pytest

from grader.submission.code import defines, same_code, spoils, stands_alone

DEFINES = (
    "def f(x):\n    return x",
    "class f:\n    pass",
    "async def f():\n    pass",
    "f = lambda x: x",
    "f = g",
    "f = make(3)",
    "f = np.vectorize(f)",
    "from helper import f",
    "from helper import g as f",
    "if True:\n    def f():\n        pass",
    "try:\n    pass\nexcept ValueError:\n    f = g",
    "%matplotlib inline\ndef f():\n    pass",
    "    def f():\n        pass",  # IPython forgives the indent
    "def f():\n  return (",  # cannot be parsed, and is an attempt all the same
    "f = 3\ndef f():\n    pass",
)
SPOILS = (
    "f = f(3)",
    "f = [1, 2]",
    "f = None",
    "for f in range(3):\n    pass",
    "with open('x') as f:\n    pass",
    "del f",
    "f += 1",
    "f, g = make()",
    "def f():\n    pass\nf = f(3)",
)
NEITHER = (
    "g = 3",
    "f(3)",
    "f.x = 3",
    "def g():\n    f = 3",
    "x = 'def f():'",
    "",
    "[f for f in x]",
)


@pytest.mark.parametrize("code", DEFINES)
def test_code_that_defines_a_name(code: str) -> None:
    assert defines(code, "f")
    assert not spoils(code, "f")


@pytest.mark.parametrize("code", SPOILS)
def test_code_that_puts_something_else_in_its_place(code: str) -> None:
    assert spoils(code, "f")
    assert not defines(code, "f")


@pytest.mark.parametrize("code", NEITHER)
def test_code_that_leaves_the_name_alone(code: str) -> None:
    assert not defines(code, "f")
    assert not spoils(code, "f")


def test_comments_docstrings_and_blanks_do_not_make_code_another() -> None:
    stub = 'def f(x):\n    """Say."""\n    raise NotImplementedError()\n'
    assert same_code(stub, "# mine\ndef f(x):\n    raise NotImplementedError()  \n\n")
    assert not same_code(stub, "def f(x):\n    return x")
    assert not same_code("def (", "class (")


def test_half_a_function_does_not_stand_alone() -> None:
    assert stands_alone("    x = 1")
    assert not stands_alone("    x = 1\n    return x")
    assert not stands_alone("def (")
