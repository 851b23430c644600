"""A container image in the OCI layout, written without a container engine.

The image holds the program, the libraries that it needs and no shell. The archive also has the manifest.json of
`docker load`, so that engines without support for the OCI layout read it.
"""

import datetime
import hashlib
import json

import libraries as elf
from archive import Entry, gzip, save, tar

# The user of the program in the image. It owns the volume and has no other rights.
USER = 65532

# The directory of the node, which is the volume.
HOME = "/data"

# The port for beacons, and the one for members, which a person publishes or forwards.
PORTS = ["4242/udp", "4433/udp"]
LISTEN = "0.0.0.0:4433,[::]:4433"

MAXIMUM_BYTES = 45_000_000

PASSWD = f"root:x:0:0:root:/:/usr/sbin/nologin\nrunar:x:{USER}:{USER}:runar:{HOME}:/usr/sbin/nologin\n"
GROUP = f"root:x:0:\nrunar:x:{USER}:\n"


def root_files(binary, libraries, documents):
    """Returns the files of the image's only layer."""
    files = {name: Entry(path, 0o755) for name, path in libraries.items()}
    files |= {name: Entry(content) for name, content in documents.items()}
    files |= {
        "usr/bin/runar": Entry(binary, 0o755),
        "etc/passwd": Entry(PASSWD.encode()),
        "etc/group": Entry(GROUP.encode()),
        # Names of STUN servers are resolved as everywhere else.
        "etc/nsswitch.conf": Entry(b"hosts: files dns\n"),
        "tmp": Entry(mode=0o1777),
        HOME: Entry(mode=0o700, owner=USER),
    }
    return files


def time_text(epoch):
    return datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def configuration(architecture, layer, version, revision, epoch):
    """Returns the configuration of the image. `Healthcheck` is an extension of Docker's."""
    return {
        "architecture": architecture,
        "os": "linux",
        "created": time_text(epoch),
        "config": {
            "User": f"{USER}:{USER}",
            "Env": [
                "PATH=/usr/bin",
                f"HOME={HOME}",
                f"RUNAR_HOME={HOME}",
                f"RUNAR_LISTEN={LISTEN}",
            ],
            "Entrypoint": ["/usr/bin/runar"],
            "Cmd": ["up"],
            "WorkingDir": HOME,
            "Volumes": {HOME: {}},
            "ExposedPorts": {port: {} for port in PORTS},
            "StopSignal": "SIGTERM",
            # In nanoseconds, as the engines expect.
            "Healthcheck": {
                "Test": ["CMD", "/usr/bin/runar", "status"],
                "Interval": 60 * 10**9,
                "Timeout": 30 * 10**9,
                "StartPeriod": 30 * 10**9,
                "Retries": 3,
            },
            "Labels": {
                "org.opencontainers.image.title": "runar",
                "org.opencontainers.image.description": "Private peer-to-peer networks of your own devices",
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.revision": revision,
                "org.opencontainers.image.created": time_text(epoch),
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": time_text(epoch), "created_by": "scripts/release"}],
    }


class Layout:
    """The files of an OCI layout."""

    def __init__(self):
        self.files = {"oci-layout": json_bytes({"imageLayoutVersion": "1.0.0"})}

    def add(self, data, media_type, **more):
        """Adds a blob and returns its descriptor."""
        digest = hashlib.sha256(data).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = data
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data), **more}


def json_bytes(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def blob_path(descriptor):
    return f"blobs/sha256/{descriptor['digest'].removeprefix('sha256:')}"


def write(binary, libraries, out, version, revision, epoch, documents=None):
    """Writes the image of a program as an archive and returns its path.

    `libraries` maps paths in the image to files, as `libraries.needed(binary)` finds them; `documents` maps paths in
    the image to paths or bytes of further files, such as licenses.
    """
    architecture = elf.machine_of(binary)[1]
    layer = tar(root_files(binary, libraries, documents or {}), epoch)
    settings = json_bytes(configuration(architecture, layer, version, revision, epoch))
    layout = Layout()
    layer = layout.add(gzip(layer), "application/vnd.oci.image.layer.v1.tar+gzip")
    config = layout.add(settings, "application/vnd.oci.image.config.v1+json")
    name = f"localhost/runar:{version}"
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config,
        "layers": [layer],
    }
    manifest = layout.add(
        json_bytes(manifest),
        manifest["mediaType"],
        platform={"architecture": architecture, "os": "linux"},
        annotations={"org.opencontainers.image.ref.name": version, "io.containerd.image.name": name},
    )
    layout.files["index.json"] = json_bytes(
        {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [manifest]}
    )
    layout.files["manifest.json"] = json_bytes(
        [{"Config": blob_path(config), "RepoTags": [name], "Layers": [blob_path(layer)]}]
    )
    return save(out, tar(layout.files, epoch))
