"""Which names of its module a piece of code uses: Python's scoping rules, read from the tree."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True)
class Use:
    """One place where code reads, binds or deletes a name of its module.

    Parameters
    ----------
    name : the name
    node : where it stands
    how : "read", "bind" or "delete"
    later : inside a function, so it happens when that is called and not when the module is made
    """

    name: str
    node: ast.AST
    how: str
    later: bool


@dataclass(frozen=True)
class _Scope:
    own: frozenset[str]
    of_module: frozenset[str] = frozenset()
    is_class: bool = False


def uses(tree: ast.AST) -> list[Use]:
    """List the uses of module names in a statement or module, in the order of the text.

    Names that are local to a function, a class body or a comprehension are left out.
    """
    walk = _Walk()
    walk.visit(tree, (), later=False)
    return walk.found


@dataclass
class _Walk:
    found: list[Use] = field(default_factory=list)

    def visit(self, node: ast.AST, scopes: tuple[_Scope, ...], later: bool) -> None:
        for name, how in _mentioned(node):
            if _is_global(name, scopes):
                self.found.append(Use(name, node, how, later))
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._function(node, scopes, later)
            case ast.ClassDef():
                self._class(node, scopes, later)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node, scopes, later)
            case _:
                self._all(ast.iter_child_nodes(node), scopes, later)

    def _all(self, nodes: Iterable[ast.AST], scopes: tuple[_Scope, ...], later: bool) -> None:
        for node in nodes:
            self.visit(node, scopes, later)

    def _function(self, node: _Function, scopes: tuple[_Scope, ...], later: bool) -> None:
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        parameters += [arg for arg in (node.args.vararg, node.args.kwarg) if arg]
        outside: list[ast.AST] = [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
        if not isinstance(node, ast.Lambda):
            outside[:0] = node.decorator_list
            scopes = self._type_parameters(node, scopes, later)
            outside += [arg.annotation for arg in parameters if arg.annotation]
            outside += [node.returns] if node.returns else []
        self._all(outside, scopes, later)
        inner = _scope_of(body, {arg.arg for arg in parameters})
        self._all(body, (*scopes, inner), later=True)

    def _class(self, node: ast.ClassDef, scopes: tuple[_Scope, ...], later: bool) -> None:
        self._all(node.decorator_list, scopes, later)
        scopes = self._type_parameters(node, scopes, later)
        self._all([*node.bases, *node.keywords], scopes, later)
        inner = _scope_of(node.body, set(), is_class=True)
        self._all(node.body, (*scopes, inner), later)

    def _comprehension(self, node: _Comprehension, scopes: tuple[_Scope, ...], later: bool) -> None:
        first, *others = node.generators
        self.visit(first.iter, scopes, later)
        targets = {n for g in node.generators for n in _stored(g.target)}
        inner = (*scopes, _Scope(frozenset(targets)))
        self._all([first.target, *first.ifs, *others], inner, later)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._all(parts, inner, later)

    def _type_parameters(
        self, node: ast.AST, scopes: tuple[_Scope, ...], later: bool
    ) -> tuple[_Scope, ...]:
        parameters = getattr(node, "type_params", [])  # Python 3.12 has them
        if not parameters:
            return scopes
        inner = (*scopes, _Scope(frozenset(parameter.name for parameter in parameters)))
        self._all(parameters, inner, later)
        return inner


def _is_global(name: str, scopes: tuple[_Scope, ...]) -> bool:
    if name == "__class__" and any(scope.is_class for scope in scopes):
        return False  # Python's own, in methods
    for depth, scope in enumerate(reversed(scopes)):
        if scope.is_class and depth:
            continue  # functions do not see the names of the class around them
        if name in scope.of_module:
            return True
        if name in scope.own:
            return False
    return True


def _mentioned(node: ast.AST) -> Iterator[tuple[str, str]]:
    """List the names that a node itself, without its children, reads, binds or deletes."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            yield name, "read"
        case ast.Name(id=name, ctx=ast.Del()):
            yield name, "delete"
        case ast.Name(id=name):
            yield name, "bind"
        case ast.AugAssign(target=ast.Name(id=name)):
            yield name, "read"
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, "bind"
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            for alias in aliases:
                yield alias.asname or alias.name.partition(".")[0], "bind"
        case (
            ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchMapping(rest=str(name))
        ):
            yield name, "bind"


def _scope_of(body: Iterable[ast.AST], own: set[str], is_class: bool = False) -> _Scope:
    """Say which names a function's or class's body makes its own, and which it declares not to."""
    of_module: set[str] = set()
    for node in _same_scope(body):
        match node:
            case ast.Global(names=names):
                of_module |= {*names}
            case _:
                own |= {name for name, how in _mentioned(node) if how != "read"}
    return _Scope(frozenset(own), frozenset(of_module), is_class)


def _same_scope(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Go through the nodes whose bindings belong to the scope that these nodes stand in."""
    for node in nodes:
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, _COMPREHENSIONS):  # only `:=` reaches out of it
            targets = [n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
            yield from targets
            continue
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield from _same_scope(ast.iter_child_nodes(node))


def _stored(target: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name) and _is_stored(n)}


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)
