"""Man pages from the help of the command itself: one for each command, in section 1."""

import json
import textwrap


def escaped(text):
    """Returns text as roff shows it: no line is a request, hyphens are those that people type, and backslashes stay."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    return "\n".join("\\&" + line if line.startswith(".") else line for line in text.split("\n"))


def paragraphs(text):
    """Returns the lines of a text with paragraphs and lists."""
    lines = []
    for part in textwrap.dedent(text).strip().split("\n"):
        lines.append(escaped(part.strip()) if part.strip() else ".PP")
        if part.strip():
            lines.append(".br")
    return lines[:-1] if lines and lines[-1] == ".br" else lines


def name_of(argument):
    """Returns how an argument is typed."""
    names = []
    for name in argument.get("names", []):
        dashes = "-" if name["kind"] == "short" else "--"
        names.append(f"\\fB{escaped(dashes + name['name'])}\\fR")
    value = f"\\fI{escaped(argument['valueName'])}\\fR"
    if argument["kind"] == "positional":
        return value + (" ..." if argument["isRepeating"] else "")
    return ", ".join(names) + (f" {value}" if argument["kind"] == "option" else "")


def synopsis(path, command):
    """Returns how the command is called."""
    words = [f"\\fB{escaped(' '.join(path))}\\fR"]
    shown = [one for one in command.get("arguments", []) if one["shouldDisplay"]]
    if any(one["kind"] != "positional" for one in shown):
        words.append("[\\fIoptions\\fR]")
    for one in shown:
        if one["kind"] == "positional":
            words.append(f"[{name_of(one)}]" if one["isOptional"] else name_of(one))
    if command.get("subcommands"):
        words.append("\\fIcommand\\fR")
    return " ".join(words)


def page(path, command, version, date):
    """Returns the man page of one command."""
    title = "-".join(path)
    lines = [f'.TH "{escaped(title.upper())}" 1 "{date}" "Runar {version}" "Runar"']
    lines += [".SH NAME", f"{escaped(title)} \\- {escaped(command.get('abstract', '').rstrip('.'))}"]
    lines += [".SH SYNOPSIS", synopsis(path, command)]
    if text := command.get("discussion"):
        lines += [".SH DESCRIPTION", *paragraphs(text)]
    shown = [one for one in command.get("arguments", []) if one["shouldDisplay"]]
    for heading, isPositional in ((".SH ARGUMENTS", True), (".SH OPTIONS", False)):
        entries = [one for one in shown if (one["kind"] == "positional") == isPositional]
        if not entries:
            continue
        lines.append(heading)
        for one in entries:
            default = f" Default: {one['defaultValue']}." if one.get("defaultValue") else ""
            lines += [".TP", name_of(one), escaped(one.get("abstract", "") + default) or "\\&"]
    below = [one for one in command.get("subcommands", []) if shown_command(one)]
    if below:
        lines.append(".SH COMMANDS")
        for one in below:
            lines += [".TP", f"\\fB{escaped(one['commandName'])}\\fR", escaped(one.get("abstract", "")) or "\\&"]
    others = ["-".join(path + [one["commandName"]]) for one in below] or (["-".join(path[:-1])] if len(path) > 1 else [])
    if others:
        lines += [".SH SEE ALSO", ", ".join(f"\\fB{escaped(one)}\\fR(1)" for one in others)]
    return "\n".join(lines) + "\n"


def shown_command(command):
    return command.get("shouldDisplay", True) and command["commandName"] != "help"


def pages(help_text, version, date):
    """Returns the pages by file name, from what `runar --experimental-dump-help` prints."""
    found = {}

    def add(path, command):
        path = [*path, command["commandName"]]
        found["-".join(path) + ".1"] = page(path, command, version, date)
        for one in command.get("subcommands", []):
            if shown_command(one):
                add(path, one)

    add([], json.loads(help_text)["command"])
    return found
