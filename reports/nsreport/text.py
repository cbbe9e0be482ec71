# SPDX-License-Identifier: MIT
# Numbers and hostile names -> short text for pictures and page.
import math
import unicodedata

# gnuplot interprets these in strings: quotes, escapes, command substitution.
_LOOKALIKE = str.maketrans({'"': "\u201d", "'": "\u2019", "`": "\u2018", "\\": "\u2216", "\t": " "})
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(value):
    """One line; control, direction and unassigned characters are shown as replacement
    characters."""
    return "".join("\ufffd" if unicodedata.category(c) in _HIDDEN else c for c in str(value))


def shortened(value, limit):
    """Keeps both ends, because long names often differ only at the end."""
    value = visible(value)
    if len(value) <= limit:
        return value
    head = (limit - 1) * 2 // 3
    return value[:head] + "\u2026" + value[len(value) - (limit - 1 - head) :]


def label(value, limit=34):
    """Text that gnuplot draws unchanged."""
    return shortened(value, limit).translate(_LOOKALIKE)


def labels(values, limit=34):
    """Like label(), but different names stay different after shortening."""
    drawn = []
    for value in values:
        text = label(value, limit) if str(value).strip() else "(no name)"
        if text in drawn:
            number = 2
            while (other := shortened(text, limit - 4) + f" ({number})") in drawn:
                number += 1
            text = other
        drawn.append(text)
    return drawn


def number(value):
    """About three significant digits, thousands separated; an absent value is a dash, never
    zero."""
    if value is None:
        return "\u2013"
    if isinstance(value, int) or abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.3g}"
    if abs(value) < 1e-6:
        return f"{value:.2g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def count(value):
    return "\u2013" if value is None else f"{value:,}"


def with_error(value, half_width):
    if value is None:
        return number(None)
    if half_width is None:
        return number(value)
    digits = _decimals(half_width)
    if digits is None or abs(value) >= 10.0 ** (7 - digits):
        return f"{number(value)} \u00b1 {_error(half_width)}"
    return f"{value:,.{digits}f} \u00b1 {half_width:,.{digits}f}"


def _decimals(half_width):
    """Decimal places that show two significant digits of an error; used for value and error."""
    if not 1e-6 < half_width < 100:
        return None
    return max(0, 1 - math.floor(math.log10(half_width)))


def _error(half_width):
    """Two significant digits: more would overstate how well the error is known."""
    if half_width == 0 or half_width >= 100:
        return f"{half_width:,.0f}"
    return f"{half_width:.2g}"


def share(part):
    """A fraction of one as a percentage; a small positive value is never shown as zero."""
    if part is None:
        return number(None)
    if 0 < part < 0.0001:
        return "under 0.01 %"
    return f"{100 * part:.3g} %"


def plural(n, noun):
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
