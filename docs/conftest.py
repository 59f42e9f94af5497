"""Pages whose blocks need libraries that `make neighbours` installs are left out where these are not there."""

from importlib.util import find_spec

NEEDS = {"how-to/from-your-table.md": "datasets", "how-to/beside-other-libraries.md": "bertopic"}
collect_ignore = [page for page, library in NEEDS.items() if find_spec(library) is None]
