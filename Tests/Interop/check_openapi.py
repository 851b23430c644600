"""Validates documents of OpenAPI 3.1 with the package openapi-spec-validator.

check_openapi.py check    prints what is missing, or an empty line
check_openapi.py FILE     reads a document from each line, and prints "valid" or the first error, a line each
"""

import json
import sys

try:
    from openapi_spec_validator import OpenAPIV31SpecValidator
except ImportError:
    OpenAPIV31SpecValidator = None


def main(argument):
    if argument == "check":
        return print("" if OpenAPIV31SpecValidator else "openapi-spec-validator is not installed")
    with open(argument, encoding="utf-8") as file:
        for line in file:
            errors = [error.message.replace("\n", " ") for error in OpenAPIV31SpecValidator(json.loads(line)).iter_errors()]
            print(errors[0] if errors else "valid", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
