"""Make the certificates anew: ``python -m experiments.streams.certificates``; needs openssl."""

from __future__ import annotations

import pathlib
import subprocess
import tempfile

from experiments.streams.certificates import AUTHORITY, EXPIRED, SOUND, STRANGER
from experiments.streams.misbehaving import SECURED, UNNAMED

_BEGINS, _ENDS, _ENDED = "20200101000000Z", "21200101000000Z", "20200102000000Z"
_CONFIGURATION = """
[ca]
default_ca = own
[own]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
[any]
commonName = supplied
[authority]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = {names}
"""


def make_certificates() -> None:
    """Write the four files."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        names = ", ".join(f"DNS:{host}.example" for host in SECURED if host != UNNAMED)
        (folder / "configuration").write_text(_CONFIGURATION.format(names=names), encoding="ascii")
        (folder / "index.txt").touch()
        for authority in (AUTHORITY, STRANGER):
            _signed(folder, authority.stem, "authority", _ENDS, by=None)
        for server, ends, by in ((SOUND, _ENDS, AUTHORITY), (EXPIRED, _ENDED, AUTHORITY), (STRANGER, _ENDS, STRANGER)):
            _signed(folder, f"{server.stem}-server", "server", ends, by=by.stem)
        AUTHORITY.write_bytes((folder / "authority.crt").read_bytes())
        for server in (SOUND, EXPIRED, STRANGER):
            parts = (folder / f"{server.stem}-server.{kind}" for kind in ("key", "crt"))
            server.write_bytes(b"".join(part.read_bytes() for part in parts))


def _signed(folder: pathlib.Path, name: str, extensions: str, ends: str, *, by: str | None) -> None:
    """Write a key and its certificate, signed by an authority or by itself."""
    key = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", f"{name}.key"]
    ask = ["openssl", "req", "-new", "-key", f"{name}.key", "-subj", f"/CN=doccluster tests {name}", "-out", "asked"]
    sign = ["openssl", "ca", "-batch", "-notext", "-config", "configuration", "-extensions", extensions]
    sign += ["-startdate", _BEGINS, "-enddate", ends, "-in", "asked", "-out", f"{name}.crt"]
    sign += ["-selfsign", "-keyfile", f"{name}.key"] if by is None else ["-keyfile", f"{by}.key", "-cert", f"{by}.crt"]
    for command in (key, ask, sign):
        subprocess.run(command, cwd=folder, check=True)


if __name__ == "__main__":
    make_certificates()
