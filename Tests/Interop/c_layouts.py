"""Prints the size and the fields of each struct of runar.py, to be compared with those of runar.h."""

import ctypes
import os
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "Bindings", "python"))
sys.dont_write_bytecode = True


class _NoLibrary:
    """Stands for the library, which no layout needs."""

    def __getattr__(self, name):
        function = lambda *_: 1 << 16  # noqa: E731
        setattr(self, name, function)
        return function


os.environ["RUNAR_LIBRARY"] = "none"
ctypes.CDLL = lambda _: _NoLibrary()
import runar  # noqa: E402

names = {
    "_Error": "runar_error", "_Result": "runar_data_result", "_Event": "runar_event",
    "_RequestInfo": "runar_request_info", "_NodeConfig": "runar_node_config", "_RequestOptions": "runar_request_options",
    "_SealOptions": "runar_seal_options", "_CircleEvent": "runar_circle_event",
}
for name, c_name in names.items():
    struct = getattr(runar, name)
    print(c_name, ctypes.sizeof(struct), *(field[0] for field in struct._fields_))
