"""One table from all rounds: medians, ratios, aims."""

import statistics

COLUMNS = ("transport", "RunarNode", "iroh")


class Row:
    """A line of the table: what is measured, and what it should be beside the anchor."""

    def __init__(self, key, title, unit, subject="transport", anchor="iroh", at_least=None, at_most=None, absolute=False):
        self.key, self.title, self.unit = key, title, unit
        self.subject, self.anchor = subject, anchor
        self.at_least, self.at_most, self.absolute = at_least, at_most, absolute

    def aim(self):
        sign, value = ("≥", self.at_least) if self.at_least is not None else ("≤", self.at_most)
        if value is None:
            return ""
        return f"{sign} {number(value)}" if self.absolute else f"{sign} {value:g}x"

    def verdict(self, subject, anchor):
        """The ratio to the anchor and whether the aim is met, as text."""
        ratio = subject / anchor if subject is not None and anchor else None
        shown = "" if ratio is None else f"{ratio:.2f}x"
        judged = subject if self.absolute else ratio
        if judged is None or (self.at_least is None and self.at_most is None):
            return shown, ""
        met = judged >= self.at_least if self.at_least is not None else judged <= self.at_most
        return shown, "met" if met else "MISSED"


def number(value):
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


class Results:
    """Every measured value, by row and column."""

    def __init__(self):
        self.values = {}
        self.others = {}

    def add(self, key, column, value, others=0.0):
        self.values.setdefault((key, column), []).append(value)
        self.others[(key, column)] = max(others, self.others.get((key, column), 0.0))

    def median(self, key, column):
        values = self.values.get((key, column))
        return statistics.median(values) if values else None

    def cell(self, key, column):
        median = self.median(key, column)
        if median is None:
            return "-"
        return number(median) + ("*" if self.others[(key, column)] > 0.1 else "")


def aligned(lines):
    """Columns as wide as their widest cell: the first to the left, the others to the right."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    shown = []
    for index, line in enumerate(lines):
        cells = [line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        shown.append("  ".join(cells).rstrip())
        if index == 0:
            shown.append("  ".join("-" * width for width in widths))
    return "\n".join(shown)


def main_table(rows, results):
    lines = [["", "unit", *COLUMNS, "other", "ratio", "aim", ""]]
    for row in rows:
        subject, anchor = results.median(row.key, row.subject), results.median(row.key, row.anchor)
        other = row.anchor if row.anchor not in COLUMNS else None
        ratio, verdict = row.verdict(subject, anchor)
        cells = [results.cell(row.key, column) for column in COLUMNS]
        shown = f"{other} {results.cell(row.key, other)}" if other else ""
        lines.append([row.title, row.unit, *cells, shown, ratio, row.aim(), verdict])
    return aligned(lines)


def side_table(results, keys):
    """Figures without an anchor: name, median, unit."""
    lines = [["", "median", "unit"]]
    lines += [[title, results.cell(key, "value"), unit] for key, title, unit in keys if results.median(key, "value")]
    return aligned(lines) if len(lines) > 1 else ""
