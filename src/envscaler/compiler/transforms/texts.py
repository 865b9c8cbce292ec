"""F-strings: money prints as its JSON text, and nested quotes stay within the oldest grammar supported."""

from __future__ import annotations

from typing import cast

import libcst as cst

from envscaler.compiler.transforms import nodes
from envscaler.compiler.transforms.base import Case, Lowering
from envscaler.spec.logic.relations import container
from envscaler.spec.types import MONEY, Nullable, Type, strip_null

CASES = (
    Case(
        'fail(f"{copy.title} is {copy.state}.")',
        "raise _Failure(\"refused\", f\"{copy['title']} is {copy['state']}.\")",
        params="{barcode: {ref: copies, as: copy}}",
    ),
    Case('return f"{fee} due"', 'return f"{_rt.money_text(fee)} due"', params="{fee: money}"),
    Case('return f"{at:%H:%M} on"', "return f\"{_rt.time_text(at, '%H:%M')} on\"", params="{at: time}"),
    Case('return f"{fee:.2f} due"', 'return f"{fee / 100:.2f} due"', params="{fee: money}"),
    Case(
        "return f\"{'a' if copy.title == 'x' else f'{copy.title}'}\"",
        "return \"{}\".format('a' if copy['title'] == 'x' else f'{copy[\"title\"]}')",
        params="{barcode: {ref: copies, as: copy}}",
    ),
    Case("return str(fee)", "return _rt.money_text(fee)", params="{fee: money}"),
)


def before_formatted(low: Lowering, node: cst.FormattedString) -> None:
    low.quotes.append(node.quote[0])


def shown(low: Lowering, of: Type, value: cst.BaseExpression) -> cst.BaseExpression:
    """A value as a text shows it."""
    if of == MONEY:
        return nodes.call("_rt.money_text", value)
    if isinstance(of, Nullable) and of.of == MONEY:
        test = cst.Comparison(nodes.enclosed(value), [cst.ComparisonTarget(cst.Is(), nodes.none())])
        return nodes.conditional(test, nodes.none(), nodes.call("_rt.money_text", value))
    if container(of):
        return nodes.expression(low.names.out(of, nodes.code(value)))
    return value


def leave_part(
    low: Lowering, original: cst.FormattedStringExpression, updated: cst.FormattedStringExpression
) -> cst.FormattedStringExpression:
    of = low.type(original.expression)
    if low.is_role(original, "operator", "time_text"):
        form = "".join(nodes.code(piece) for piece in original.format_spec or ())
        shown_time = nodes.call("_rt.time_text", updated.expression, cst.SimpleString(repr(form)))
        return updated.with_changes(expression=shown_time, format_spec=None)
    if strip_null(of) == MONEY and original.format_spec:
        return updated.with_changes(
            expression=nodes.expression(f"{nodes.code(nodes.enclosed(updated.expression))} / 100")
        )
    return updated.with_changes(expression=shown(low, of, updated.expression))


def leave_formatted(low: Lowering, original: cst.FormattedString, updated: cst.FormattedString) -> cst.BaseExpression:
    low.quotes.pop()
    quote = updated.quote
    inner = [nodes.code(p.expression) for p in updated.parts if isinstance(p, cst.FormattedStringExpression)]
    inner += [_nested(p) for p in updated.parts if isinstance(p, cst.FormattedStringExpression)]
    if not any(quote[0] in code or "\\" in code or "\n" in code or "#" in code for code in inner):
        return updated
    return _format_call(updated)


def _nested(part: cst.FormattedStringExpression) -> str:
    """The code within a format specification such as `{width}`."""
    spec = part.format_spec or ()
    return "".join(nodes.code(p.expression) for p in spec if isinstance(p, cst.FormattedStringExpression))


def _format_call(node: cst.FormattedString) -> cst.BaseExpression:
    """The same text by `str.format`, whose arguments stand outside the quotes."""
    template, args = [], []
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            template.append(part.value)
            continue
        assert isinstance(part, cst.FormattedStringExpression)
        args.append(part.expression)
        spec = ""
        for piece in part.format_spec or ():
            if isinstance(piece, cst.FormattedStringText):
                spec += piece.value
            else:
                args.append(cast("cst.FormattedStringExpression", piece).expression)
                spec += "{}"
        conversion = f"!{part.conversion}" if part.conversion else ""
        template.append("{" + conversion + (f":{spec}" if spec else "") + "}")
    prefix = node.start[: -len(node.quote)].lower().replace("f", "")
    literal = cst.SimpleString(prefix + node.quote + "".join(template) + node.end)
    return nodes.call(cst.Attribute(literal, cst.Name("format")), *args)


def leave_concatenated(
    low: Lowering, original: cst.ConcatenatedString, updated: cst.ConcatenatedString
) -> cst.BaseExpression:
    """Adjacent literals of which one became a call are added instead."""
    texts = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)
    parts: tuple[cst.BaseExpression, ...] = (updated.left, updated.right)
    if all(isinstance(part, texts) for part in parts):
        return updated
    return nodes.enclosed(nodes.binary(updated.left, cst.Add(), updated.right))


BEFORE = {cst.FormattedString: before_formatted}
HANDLERS = {
    cst.FormattedStringExpression: leave_part,
    cst.FormattedString: leave_formatted,
    cst.ConcatenatedString: leave_concatenated,
}
