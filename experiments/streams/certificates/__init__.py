"""Certificates for servers on the loopback address: one that is sound, one that has expired, one of a stranger.

``python -m experiments.streams.certificates`` made the files beside this one, with openssl. Each holds the key of its
certificate. Nothing trusts them but what is given their authority, and they are good for names that end in .example.
"""

from pathlib import Path

_HERE = Path(__file__).parent
AUTHORITY, SOUND, EXPIRED, STRANGER = (_HERE / f"{name}.pem" for name in ("authority", "sound", "expired", "stranger"))
