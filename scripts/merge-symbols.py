"""merge-symbols.py FOLDER NAME OTHER...: the symbol graph of module NAME with those of others in it.

OTHER is a module, or MODULE.TYPE for that type of a module alone.
"""

import json
import os
import sys


def graph(folder, module, type_name=None):
    with open(os.path.join(folder, f"{module}.symbols.json")) as file:
        found = json.load(file)
    if type_name:
        found["symbols"] = [symbol for symbol in found["symbols"] if symbol["pathComponents"][0] == type_name]
        kept = {symbol["identifier"]["precise"] for symbol in found["symbols"]}
        found["relationships"] = [line for line in found["relationships"] if line["source"] in kept]
    return found


folder, name, *others = sys.argv[1:]
merged = graph(folder, name)
for other in others:
    more = graph(folder, *other.split("."))
    merged["symbols"] += more["symbols"]
    merged["relationships"] += more["relationships"]
json.dump(merged, sys.stdout)
