#!/usr/bin/env python3
"""Writes an OCI image layout (image-spec 1.0) of one layer: oci_image.py ROOT FOLDER VERSION

ROOT is what the image holds: a file system of static programs. FOLDER gets oci-layout, index.json and blobs. Times come from
SOURCE_DATE_EPOCH, owners are root, names are sorted: same tree, same bytes.
"""
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))


def layer(root):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(root.rglob("*")):
            info = tar.gettarinfo(path, str(path.relative_to(root)))
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            info.mtime = EPOCH
            with open(path, "rb") if info.isreg() else io.BytesIO() as content:
                tar.addfile(info, content if info.isreg() else None)
    return data.getvalue()


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    root, folder, version = pathlib.Path(arguments[0]), pathlib.Path(arguments[1]), arguments[2]
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)

    def add(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": "sha256:" + digest, "size": len(data)}

    tar = layer(root)
    created = datetime.datetime.fromtimestamp(EPOCH, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="") as out:
        out.write(tar)
    config = {"created": created, "architecture": "amd64", "os": "linux",
              "config": {"Entrypoint": ["/usr/bin/jtrace"], "Env": ["PATH=/usr/bin"],
                         "Labels": {"org.opencontainers.image.title": "jtrace", "org.opencontainers.image.version": version,
                                    "org.opencontainers.image.licenses": "Apache-2.0"}},
              "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tar).hexdigest()]},
              "history": [{"created": created, "created_by": "scripts/package"}]}
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": add(json.dumps(config, sort_keys=True).encode(), "config.v1+json"),
                "layers": [add(packed.getvalue(), "layer.v1.tar+gzip")]}
    entry = add(json.dumps(manifest, sort_keys=True).encode(), "manifest.v1+json")
    entry["annotations"] = {"org.opencontainers.image.ref.name": version}
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [entry]}, sort_keys=True))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
