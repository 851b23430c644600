"""Checks a container image: `python3 -B scripts/release/image_check.py FILE`. Prints a line for each check.

The archive is read by an independent tool, skopeo, if it is installed. Then the image is unpacked and its program runs
in namespaces of its own, as the user of the image, with a root file system that it cannot write. This needs root. The
exit status is 1 if a check failed.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zlib

import image
import libraries as elf

# The time for the program to become ready or to end, on a busy machine.
LIMIT_SECONDS = 60
TURN_SECONDS = 0.1

# The most of an output that a line shows.
SHOWN_CHARACTERS = 300

# How the program refuses a volume that belongs to another user: exit status and words.
FOREIGN = 78, r"/data.*belongs to.*chown"

OWNER = f"{image.USER}:{image.USER}"

DEVICES = ["null", "zero", "full", "random", "urandom"]

# Run by /bin/sh in new namespaces: mounts the image and the volume, and replaces itself with the program.
MOUNT = """
set -eu
root=$1 volume=$2 options=$3 proc=$4 network=$5 user=$6 temporary=$7; shift 7
mount --bind "$root" "$root"
mount --bind "$volume" "$root/data"
mount -o "remount,bind,$options" "$root/data"
for device in {devices}; do mount --bind /dev/$device "$root/dev/$device"; done
[ $proc = no ] || mount -t proc proc "$root/proc"
[ $network != IPv4 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
[ $network = none ] || ip link set lo up
[ $temporary = no ] || mount -t tmpfs tmpfs "$root/tmp"
mount -o remount,bind,ro "$root"
exec chroot --userspec="$user" --groups= "$root" "$@"
""".format(devices=" ".join(DEVICES))


class Failure(Exception):
    """A check that found something wrong."""


def expect(condition, text):
    if not condition:
        raise Failure(text)


class Image:
    """An archive and its parts."""

    def __init__(self, path):
        self.path = path
        with tarfile.open(path) as archive:
            self.files = {one.name: archive.extractfile(one).read() for one in archive.getmembers() if one.isfile()}
        self.index = json.loads(self.files["index.json"])
        self.manifest = self.blob(self.index["manifests"][0])
        self.config = self.blob(self.manifest["config"])
        self.environment = dict(one.split("=", 1) for one in self.config["config"]["Env"])

    def blob(self, descriptor):
        return json.loads(self.files[image.blob_path(descriptor)])

    def layer(self):
        return zlib.decompress(self.files[image.blob_path(self.manifest["layers"][0])], 31)

    def unpack(self, folder):
        """Unpacks the layer with GNU tar, which is not the library that wrote it."""
        os.makedirs(folder)
        subprocess.run(["tar", "-x", "-p", "--numeric-owner", "-C", folder], input=self.layer(), check=True)
        # What a container engine provides.
        for name in ["dev", "proc"]:
            os.makedirs(f"{folder}/{name}", exist_ok=True)
        for name in DEVICES:
            open(f"{folder}/dev/{name}", "w").close()


# The archive


def digests_are_right(archive):
    for name, data in archive.files.items():
        if name.startswith("blobs/sha256/"):
            expect(hashlib.sha256(data).hexdigest() == os.path.basename(name), f"{name} has another digest")
    expect(
        archive.config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(archive.layer()).hexdigest()}"],
        "the layer is not the one of the configuration",
    )
    return f"{len(archive.files)} files"


def size_is_bounded(archive):
    size = os.path.getsize(archive.path)
    expect(size <= image.MAXIMUM_BYTES, f"{size} bytes; at most {image.MAXIMUM_BYTES}")
    return f"{size / 1e6:.1f} MB"


def skopeo_reads_it(archive):
    if not shutil.which("skopeo"):
        return "skipped: skopeo is not installed"
    for kind in ["oci-archive", "docker-archive"]:
        answer = subprocess.run(["skopeo", "inspect", f"{kind}:{archive.path}"], capture_output=True, text=True)
        expect(answer.returncode == 0, f"{kind}: {answer.stderr.strip()}")
        read = json.loads(answer.stdout)
        expect(read["Architecture"] == archive.config["architecture"], "another architecture")
        expect(read["Labels"] == archive.config["config"]["Labels"], "other labels")
        # A copy verifies every digest, which `inspect` does not.
        with tempfile.TemporaryDirectory() as folder:
            copy = ["skopeo", "copy", "--quiet", "--insecure-policy", f"{kind}:{archive.path}", f"dir:{folder}"]
            answer = subprocess.run(copy, capture_output=True, text=True)
        expect(answer.returncode == 0, f"{kind}: {answer.stderr.strip()}")
    return "as an OCI archive and as one of Docker"


def it_has_no_shell(archive):
    with tempfile.TemporaryFile() as file:
        file.write(archive.layer())
        file.seek(0)
        with tarfile.open(fileobj=file) as layer:
            members = layer.getmembers()
    expect(all(one.isfile() or one.isdir() for one in members), "an entry is neither a file nor a directory")
    expect(not any(one.mode & 0o6000 for one in members), "a file has a set-user-ID or set-group-ID bit")
    programs = [one.name for one in members if one.isfile() and one.mode & 0o111 and ".so" not in one.name]
    expect(programs == ["usr/bin/runar"], f"programs: {' '.join(programs)}")
    return f"{len(members)} entries, one program"


# The program


class Machine:
    """An unpacked image whose program runs in namespaces, each time with a volume of its own unless it is given."""

    def __init__(self, archive, folder):
        self.archive, self.folder, self.root = archive, folder, f"{folder}/root"
        self.volumes = 0
        archive.unpack(self.root)

    def volume(self, owner=image.USER, mode=0o700):
        """Makes an empty volume, as an engine does from the directory of the image or from one of the machine."""
        self.volumes += 1
        path = f"{self.folder}/volume{self.volumes}"
        os.mkdir(path)
        os.chmod(path, mode)
        os.chown(path, owner, owner)
        return path

    def command(self, words, volume, options="rw", proc="yes", network="both", user=OWNER, temporary="no"):
        spaces = ["unshare", "--mount", "--pid", "--fork", "--net", "--ipc", "--uts", "--kill-child"]
        mount = ["/bin/sh", "-c", MOUNT, "sh", self.root, volume, options, proc, network, user, temporary]
        return [*spaces, *mount, *words]

    def run(self, words, volume, **options):
        """Runs the program to its end; returns its exit status and its output."""
        command = self.command(["/usr/bin/runar", *words], volume, **options)
        answer = subprocess.run(
            command,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_SECONDS,
        )
        return answer.returncode, answer.stdout.strip()

    def environment(self):
        # `unshare`, `mount` and `ip` are those of this machine.
        return {**self.archive.environment, "PATH": os.environ["PATH"]}

    @contextlib.contextmanager
    def node(self, volume, **options):
        """Runs the default command until the block ends; yields it and the first line that it prints."""
        words = self.archive.config["config"]["Entrypoint"] + self.archive.config["config"]["Cmd"]
        with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
            process = subprocess.Popen(
                self.command(words, volume, **options),
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            try:
                yield process, lambda: text_of(output)
            finally:
                process.kill()
                process.wait()


def text_of(output):
    output.seek(0)
    return output.read().strip()


def wait_for(text, process, output):
    """Waits until the output has a text."""
    end = time.monotonic() + LIMIT_SECONDS
    while text not in output():
        expect(process.poll() is None, f"ended with {process.returncode}: {output()}")
        expect(time.monotonic() < end, f"no {text!r} within {LIMIT_SECONDS} s: {output()}")
        time.sleep(TURN_SECONDS)


def child_of(process):
    """Returns the id of the program, which is the only child of `unshare`."""
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        return int(file.read().split()[0])


def refused(machine, words, volume, status, pattern, **options):
    """Expects that the program ends with a status and a message; returns the message."""
    found, output = machine.run(words, volume, **options)
    expect(not re.search(r"Fatal error|unexpected|Error Domain", output), f"unclear (exit status {found}): {output}")
    expect(found == status, f"exit status {found} instead of {status}: {output}")
    expect(re.search(pattern, output), f"no {pattern!r} in: {output}")
    return output


def made(machine, **options):
    """Returns a volume with a new home."""
    volume = machine.volume()
    status, output = machine.run(["init", "--no-passphrase"], volume, **options)
    expect(status == 0, f"init ended with {status}: {output}")
    return volume


def libraries_are_complete(machine):
    loader = elf.ELF(f"{machine.root}/usr/bin/runar").loader()
    if loader is None:
        return "the program needs none"
    command = machine.command([loader, "--list", "/usr/bin/runar"], machine.volume())
    answer = subprocess.run(command, capture_output=True, text=True, env=machine.environment())
    expect(answer.returncode == 0 and "not found" not in answer.stdout, answer.stdout + answer.stderr)
    return f"{answer.stdout.count('=> /')} libraries"


def version_is_that_of_the_label(machine):
    status, output = machine.run(["--version"], machine.volume())
    label = machine.archive.config["config"]["Labels"]["org.opencontainers.image.version"]
    expect(status == 0 and output == label, f"{output!r} (exit status {status}) instead of {label!r}")
    return output


def node_runs(machine, **options):
    """Makes a home and runs a node on it until it is asked to end, as an engine does."""
    volume = made(machine, **options)
    with machine.node(volume, **options) as (process, output):
        wait_for("ready", process, output)
        status, text = machine.run(["status"], volume, **options)
        expect(status == 0, f"status ended with {status}: {text}")
        os.kill(child_of(process), signal.SIGTERM)
        expect(process.wait(LIMIT_SECONDS) == 0, f"ended with {process.returncode}: {output()}")
        return output().splitlines()[0]


def volume_keeps_the_device(machine):
    """A second container on the same volume is the same device."""
    volume, ids = made(machine), []
    for _ in range(2):
        status, output = machine.run(["status", "--json"], volume)
        expect(status == 0, output)
        ids.append(json.loads(output)["peerId"])
    expect(ids[0] == ids[1], "another device")
    return refused(machine, ["init", "--no-passphrase"], volume, 73, r"already")


def no_home(machine):
    return refused(machine, ["up"], machine.volume(), 78, r"runar init")


def wrong_owner(machine):
    return refused(machine, ["init", "--no-passphrase"], machine.volume(owner=0), *FOREIGN)


def wrong_owner_that_is_open(machine):
    """A volume of root that all can write."""
    volume = machine.volume(owner=0, mode=0o777)
    return refused(machine, ["init", "--no-passphrase"], volume, *FOREIGN)


def wrong_owner_later(machine):
    """A home that was made by another user, for example by a container of root."""
    volume = made(machine)
    subprocess.run(["chown", "-R", "0:0", volume], check=True)
    return refused(machine, ["up"], volume, *FOREIGN)


def volume_of_a_directory(machine):
    """A directory of the machine with its usual mode."""
    return refused(machine, ["init", "--no-passphrase"], machine.volume(mode=0o755), 78, r"chmod 700")


def volume_of_a_group(machine):
    """A volume of root that the group of the program can write."""
    volume = machine.volume()
    os.chown(volume, 0, image.USER)
    os.chmod(volume, 0o2775)
    return refused(machine, ["init", "--no-passphrase"], volume, *FOREIGN)


def volume_is_read_only(machine):
    return refused(machine, ["init", "--no-passphrase"], machine.volume(), 74, r"/data.*read-only", options="ro")


def home_becomes_read_only(machine):
    return refused(machine, ["up"], made(machine), 74, r"/data.*read-only", options="ro")


def nodes_connect(machine):
    """The demo runs nodes until it needs a shell for the commands of a service, which the image lacks."""
    _, output = machine.run(["demo"], machine.volume(), temporary="yes")
    passed = [line for line in output.splitlines() if line.startswith("✔")]
    expect(any("message to the phone" in line for line in passed), output)
    return f"{len(passed)} steps of the demo"


def demo_without_a_writable_directory(machine):
    return refused(machine, ["demo"], machine.volume(), 74, r"/tmp.*(read.only|TMPDIR)")


def console_without_a_browser(machine):
    volume = made(machine)
    with machine.node(volume) as (process, output):
        wait_for("ready", process, output)
        return refused(machine, ["console"], volume, 69, r"--print")


def without_proc(machine):
    """Swift reads the arguments of a program there."""
    return refused(machine, ["init", "--no-passphrase"], machine.volume(), 78, r"mount /proc", proc="no")


def no_terminal(machine):
    return refused(machine, ["init"], machine.volume(), 77, r"--no-passphrase")


def other_user(machine):
    """A container that is started with another user than that of the image."""
    return refused(machine, ["init", "--no-passphrase"], machine.volume(), *FOREIGN, user="1000:1000")


ARCHIVE_CHECKS = [
    ("digests", digests_are_right),
    ("size", size_is_bounded),
    ("skopeo", skopeo_reads_it),
    ("no shell", it_has_no_shell),
]

PROGRAM_CHECKS = [
    ("libraries", libraries_are_complete),
    ("version", version_is_that_of_the_label),
    ("a node runs", node_runs),
    ("without /proc", without_proc),
    ("a node runs without IPv6", lambda machine: node_runs(machine, network="IPv4")),
    ("a node runs without any network", lambda machine: node_runs(machine, network="none")),
    ("the volume keeps the device", volume_keeps_the_device),
    ("no home yet", no_home),
    ("volume of root", wrong_owner),
    ("volume of root, open to all", wrong_owner_that_is_open),
    ("volume of root and the group", volume_of_a_group),
    ("home of root", wrong_owner_later),
    ("volume with mode 755", volume_of_a_directory),
    ("volume is read-only", volume_is_read_only),
    ("home is read-only", home_becomes_read_only),
    ("another user", other_user),
    ("no terminal", no_terminal),
    ("no browser", console_without_a_browser),
    ("nodes connect", nodes_connect),
    ("no directory for the demo", demo_without_a_writable_directory),
]


def check(name, function, subject):
    """Runs one check and prints its line; returns whether it passed."""
    try:
        print(f"ok      {name}: {function(subject)}", flush=True)
        return True
    except (Failure, subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
        text = " / ".join(str(error).splitlines())
        print(f"FAILED  {name}: {text[:SHOWN_CHARACTERS]}", flush=True)
        return False


def main(path):
    archive = Image(path)
    results = [check(name, function, archive) for name, function in ARCHIVE_CHECKS]
    if os.geteuid() != 0:
        print("skipped the checks of the running program: they need root", flush=True)
    else:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            machine = Machine(archive, folder)
            results += [check(name, function, machine) for name, function in PROGRAM_CHECKS]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed", flush=True)
    return 0 if all(results) else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
