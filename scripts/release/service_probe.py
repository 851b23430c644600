"""Tries operations from inside the service's sandbox, and writes the outcome of each as JSON.

service_probe.py RESULT HOME PATH ... runs as ExecStartPre of the unit under test, so every option of that unit applies
to it. The home and each directory +PATH must be writable, and -PATH must not be. !PATH must not be readable either, and
the socket @PATH must not be reachable.
"""

import ctypes
import errno
import json
import mmap
import os
import socket
import sqlite3
import stat
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)

AF_ALG, AF_PACKET, AF_VSOCK = 38, 17, 40
CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x00020000
PR_SET_DUMPABLE = 4
PTRACE_TRACEME = 0
RTM_GETLINK, NLM_F_DUMP = 18, 0x301


def call(name, *arguments):
    """Calls a function of the C library; raises OSError with its error number."""
    if getattr(LIBC, name)(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def opened(family, kind, protocol=0):
    socket.socket(family, kind, protocol).close()


def written(path):
    """Creates a file in the directory `path`, and removes it."""
    name = os.path.join(path, "service-probe")
    with open(name, "w", encoding="utf-8") as file:
        file.write("x")
    os.unlink(name)


def read(path):
    with open(path, "rb") as file:
        file.read(1)


def connected(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(path)


def with_set_user_id(directory):
    name = os.path.join(directory, "service-probe-suid")
    with open(name, "w", encoding="utf-8"):
        pass
    try:
        os.chmod(name, 0o4700)
        if not os.stat(name).st_mode & stat.S_ISUID:
            raise OSError(errno.EPERM, "the mode was not set")
    finally:
        os.unlink(name)


def write_and_execute():
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC).close()


def interfaces_by_netlink():
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        netlink.bind((0, 0))
        netlink.settimeout(5)
        netlink.send(struct.pack("=LHHLLBxHiLL", 32, RTM_GETLINK, NLM_F_DUMP, 1, 0, 0, 0, 0, 0, 0))
        if len(netlink.recv(65536)) < 32:
            raise OSError(errno.EIO, "no interface")


def multicast():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as member:
        member.bind(("0.0.0.0", 0))
        group = socket.inet_aton("239.255.42.98") + socket.inet_aton("127.0.0.1")
        member.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)


def locked_memory():
    page = mmap.mmap(-1, 4096)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    call("mlock", ctypes.c_void_p(address), ctypes.c_size_t(4096))


def database(home):
    """Writes a database whose -shm file is mapped, as the node does."""
    path = os.path.join(home, "service-probe.sqlite")
    connection = sqlite3.connect(path)
    try:
        if connection.execute("PRAGMA journal_mode=WAL").fetchone() != ("wal",):
            raise OSError(errno.EIO, "no write-ahead log")
        with connection:
            connection.execute("CREATE TABLE probe (id)")
    finally:
        connection.close()
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(path + suffix):
                os.unlink(path + suffix)


def control_socket(home):
    path = os.path.join(home, "service-probe.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(path)
    os.unlink(path)


def needed(home, writable):
    """The operations that the node needs."""
    yield "UDP socket", lambda: opened(socket.AF_INET, socket.SOCK_DGRAM)
    yield "UDP socket for IPv6", lambda: opened(socket.AF_INET6, socket.SOCK_DGRAM)
    yield "TCP socket", lambda: opened(socket.AF_INET, socket.SOCK_STREAM)
    yield "multicast group", multicast
    yield "interfaces by netlink", interfaces_by_netlink
    yield "locked memory", locked_memory
    yield "PR_SET_DUMPABLE", lambda: call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)
    yield "list of /proc/self/fd", lambda: os.listdir("/proc/self/fd")
    yield "list of /sys/class/net", lambda: read(f"/sys/class/net/{os.listdir('/sys/class/net')[0]}/uevent")
    yield "/dev/urandom", lambda: read("/dev/urandom")
    yield "database with a mapped -shm file", lambda: database(home)
    yield "control socket", lambda: control_socket(home)
    for directory in (home, *writable):
        yield f"write in {directory}", lambda directory=directory: written(directory)


def forbidden(home):
    """The operations that both units must refuse."""
    yield "raw socket", lambda: opened(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    yield "packet socket", lambda: opened(AF_PACKET, socket.SOCK_RAW)
    yield "socket of the kernel's cryptography", lambda: opened(AF_ALG, socket.SOCK_SEQPACKET)
    yield "socket between virtual machines", lambda: opened(AF_VSOCK, socket.SOCK_STREAM)
    yield "writable and executable memory", write_and_execute
    yield "new user namespace", lambda: call("unshare", CLONE_NEWUSER)
    yield "new mount namespace", lambda: call("unshare", CLONE_NEWNS)
    yield "mount", lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None)
    yield "set-user-ID file", lambda: with_set_user_id(home)
    yield "change of the user", lambda: os.setuid(0)
    yield "real-time scheduling", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    yield "change of the personality", lambda: call("personality", 0x0008)
    yield "ptrace", lambda: call("ptrace", PTRACE_TRACEME, 0, 0, 0)
    yield "kernel log", lambda: call("klogctl", 10, None, 0)
    yield "change of the host name", lambda: socket.sethostname("service-probe")
    yield "write in /usr", lambda: written("/usr")
    yield "write in /etc", lambda: written("/etc")
    yield "write in /var/lib", lambda: written("/var/lib")
    yield "write of a kernel variable", lambda: open("/proc/sys/kernel/hostname", "wb").close()
    yield "write in the control groups", lambda: written("/sys/fs/cgroup")


def outcome(operation):
    """Returns None for success, or the reason for the refusal. Changes of the process end with a child process."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.write(writer, (refusal(operation) or "").encode())
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as file:
        reason = file.read()
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return reason or (f"the process ended with {status}" if status else None)


def refusal(operation):
    try:
        operation()
    except FileNotFoundError as error:
        return f"not visible: {error.strerror}"
    except Exception as error:  # Any failure is a refusal, and its text is reported.
        return str(error) or type(error).__name__
    return None


def refused_paths(paths):
    """The operations on the named paths that must fail."""
    for kind, path in ((one[0], one[1:]) for one in paths):
        if kind in "-!" and path.endswith("/"):
            yield f"write in {path}", lambda path=path: written(path)
        if kind == "!" and path.endswith("/"):
            yield f"list of {path}", lambda path=path: os.listdir(path)
        elif kind == "!":
            yield f"read of {path}", lambda path=path: read(path)
        elif kind == "@":
            yield f"connection to {path}", lambda path=path: connected(path)


def main():
    result, home, *paths = sys.argv[1:]
    refused = [*forbidden(home), *refused_paths(paths)]
    allowed = needed(home, [path[1:] for path in paths if path[0] == "+"])
    found = {
        "refused": {name: outcome(operation) for name, operation in refused},
        "needed": {name: outcome(operation) for name, operation in allowed},
    }
    with open(result, "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
