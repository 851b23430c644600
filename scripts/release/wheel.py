"""A Python wheel of the binding with librunar.so inside (PEP 427), written without a build tool.

The tag is linux_MACHINE and not manylinux: the library needs the system's libgnutls, which is not among the libraries
that manylinux (PEP 600) expects on every system. A bundled copy would not get the system's security updates.
"""

import base64
import hashlib
import io
import os
import re
import time
import zipfile

import libraries as elf
from archive import FILE, bytes_of, save

# Where runar.py looks for the library; auditwheel uses such a name for the libraries of a wheel.
LIBRARY = "runar.libs/librunar.so"

METADATA = """\
Metadata-Version: 2.1
Name: runar
Version: {version}
Summary: Private peer-to-peer networks of your own devices
License: Apache-2.0
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Requires-Python: >=3.9
Description-Content-Type: text/markdown

The Python binding of Runar and its library. It needs glibc {glibc} or newer and these libraries of the system:
{needed}.

On Debian and Ubuntu, GnuTLS is in the package libgnutls30 (libgnutls30t64 on newer releases).
"""

WHEEL = """\
Wheel-Version: 1.0
Generator: runar
Root-Is-Purelib: false
Tag: {tag}
"""

# Libraries of glibc itself, which every system with glibc has.
IN_GLIBC = re.compile(r"^(ld-linux|libc\.|libm\.|libdl\.|libpthread\.|librt\.)")


def needed_names(library):
    """Returns the libraries besides glibc that a library needs directly."""
    return [name for name in elf.needed_names(library) if not IN_GLIBC.match(name)]


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def zip_bytes(files, epoch):
    """Returns a ZIP archive of these files, in this order. Its times have steps of two seconds and begin in 1980."""
    output = io.BytesIO()
    moment = max(time.gmtime(int(epoch))[:6], (1980, 1, 1, 0, 0, 0))
    with zipfile.ZipFile(output, "w") as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, moment)
            info.create_system = 3  # Unix, on every machine
            info.external_attr = (0o100000 | FILE) << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED, 9)
    return output.getvalue()


def write(folder, module, library, version, epoch, licenses=None):
    """Writes the wheel into a folder and returns its path.

    `module` is runar.py, `library` librunar.so, and `licenses` maps names to paths or bytes of texts.
    """
    tag = f"py3-none-linux_{elf.machine_of(library)[0]}"
    information = f"runar-{version}.dist-info"
    description = METADATA.format(
        version=version, glibc=elf.glibc_version([library]), needed=", ".join(needed_names(library)) or "none"
    )
    files = {
        "runar.py": bytes_of(module),
        LIBRARY: bytes_of(library),
        f"{information}/METADATA": description.encode(),
        f"{information}/WHEEL": WHEEL.format(tag=tag).encode(),
        **{f"{information}/licenses/{name}": bytes_of(text) for name, text in (licenses or {}).items()},
    }
    files = dict(sorted(files.items()))
    record = f"{information}/RECORD"
    lines = [record_line(name, data) for name, data in files.items()]
    # The record is last, as PEP 427 recommends.
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    return save(os.path.join(folder, f"runar-{version}-{tag}.whl"), zip_bytes(files, epoch))
