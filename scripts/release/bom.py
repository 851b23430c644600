"""The bill of materials as CycloneDX 1.6 JSON. The same components give the same bytes."""

import json
import re
import uuid

SCHEMA = "http://cyclonedx.org/schema/bom-1.6.schema.json"
# A licence that is no expression has an identifier of its own in the format.
SINGLE = re.compile(r"^[\w.+-]+$")


def document(own, version, commit, time, components, edges, programs):
    """Returns the text of the bill.

    `time` is that of the commit, as in 2026-11-29T08:00:00Z. `edges` maps a component's name, or "" for the program, to
    the names of those it needs directly. `programs` maps the names of the files of the release to their SHA-256.
    """
    purl = f"pkg:{own['purl']}@{version}"
    root = {
        "type": "application",
        "bom-ref": purl,
        "name": own["name"],
        "version": version,
        "licenses": licences(own["licence"]),
        "purl": purl,
        "externalReferences": references(own["homepage"]),
        "components": files(purl, programs),
    }
    drop_empty(root)
    refs = {name: reference(one) for name, one in components.items()}
    bill = {
        "$schema": SCHEMA,
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{purl}#{commit}')}",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "lifecycles": [{"phase": "build"}],
            "component": root,
            "properties": [{"name": "runar:commit", "value": commit}],
        },
        "components": [entry(refs[name], one) for name, one in sorted(components.items())],
        "dependencies": dependencies(purl, refs, edges),
    }
    return json.dumps(bill, indent=2, ensure_ascii=False) + "\n"


def entry(ref, one):
    component = {
        "type": "library",
        "bom-ref": ref,
        "supplier": {"name": one.supplier} if one.supplier else None,
        "name": one.name,
        "version": one.version,
        # The default, "required", also holds for a library that the system has.
        "licenses": licences(one.licence),
        "purl": one.purl,
        "externalReferences": references(one.homepage),
        "components": files(ref, one.hashes),
        "properties": [{"name": "runar:linkage", "value": one.linkage}, {"name": "runar:origin", "value": one.kind}],
    }
    drop_empty(component)
    return component


def reference(one):
    return one.purl or f"{one.parent or 'runar'}#{one.name.replace(' ', '-')}"


def licences(expression):
    if SINGLE.match(expression):
        return [{"license": {"id": expression}}]
    return [{"expression": expression}]


def references(homepage):
    return [{"type": "website", "url": homepage}] if homepage else []


def files(ref, hashes):
    return [
        {
            "type": "file",
            "bom-ref": f"{ref}#{name}",
            "name": name,
            "hashes": [{"alg": "SHA-256", "content": hashes[name]}],
        }
        for name in sorted(hashes)
    ]


def dependencies(purl, refs, edges):
    """The graph. The program needs every component that no other one needs."""
    needed = {name for one, names in edges.items() if one for name in names}
    direct = set(edges.get("", ())) | (set(refs) - needed)
    rows = {purl: sorted(refs[name] for name in direct if name in refs)}
    for name, ref in refs.items():
        rows[ref] = sorted(refs[other] for other in edges.get(name, ()) if other in refs)
    return [{"ref": ref, "dependsOn": rows[ref]} if rows[ref] else {"ref": ref} for ref in sorted(rows)]


def drop_empty(component):
    for key in [key for key, value in component.items() if value in (None, "", [], {})]:
        del component[key]


def findings(text):
    """Returns what is wrong with a bill by the schema of the format, or None if the library for it is missing.

    The library is the package cyclonedx-python-lib with its extra json-validation, which has the schema in it.
    """
    try:
        from cyclonedx.exception import MissingOptionalDependencyException
        from cyclonedx.schema import SchemaVersion
        from cyclonedx.spdx import is_expression
        from cyclonedx.validation.json import JsonStrictValidator
    except ImportError:
        return None
    try:
        error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    except MissingOptionalDependencyException:
        return None
    if error:
        return [f"{getattr(error.data, 'json_path', '$')}: {getattr(error.data, 'message', error)}"]
    bill = json.loads(text)
    expressions = {one["expression"] for part in bill["components"] for one in part["licenses"] if "expression" in one}
    wrong = [f"{one} is no SPDX expression" for one in sorted(expressions) if not is_expression(one)]
    return wrong + loose_ends(bill)


def loose_ends(bill):
    """Returns the references of a bill that lead nowhere or are not unique, which its schema cannot express."""
    found = []

    def collect(component):
        found.append(component.get("bom-ref"))
        for child in component.get("components", []):
            collect(child)

    for one in [bill["metadata"]["component"], *bill["components"]]:
        collect(one)
    problems = [f"{ref} is not unique" for ref in sorted(set(found)) if found.count(ref) > 1]
    for row in bill["dependencies"]:
        problems += [f"{ref} is no component" for ref in [row["ref"], *row.get("dependsOn", [])] if ref not in found]
    return problems
