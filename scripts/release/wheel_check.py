"""Checks a wheel: `python3 -B scripts/release/wheel_check.py FILE`.

Installs it into an empty virtual environment, without a package index, and runs the example in a directory of its own.
"""

import os
import subprocess
import sys
import tempfile
import venv

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Examples", "python", "hello.py")


def main(path):
    path = os.path.abspath(path)
    # Neither the binding of the checkout nor another library may be found.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "RUNAR", "LD_", "PIP"))
    }
    with tempfile.TemporaryDirectory() as folder:
        venv.create(f"{folder}/environment", with_pip=True)
        python = f"{folder}/environment/bin/python3"
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
        for command in [[*install, path], [python, "-m", "pip", "check"], [python, os.path.abspath(EXAMPLE)]]:
            status = subprocess.run(command, env=environment, cwd=folder).returncode
            if status:
                print(f"FAILED  {' '.join(command[1:])}: exit status {status}", flush=True)
                return 1
    print(f"ok      {os.path.basename(path)}", flush=True)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
