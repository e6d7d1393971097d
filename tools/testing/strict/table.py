# SPDX-License-Identifier: GPL-2.0
"""profiles.table: what strict devices can be, and what connections over them become."""
import os
import re
import typing

TABLE = f"{os.path.dirname(os.path.abspath(__file__))}/profiles.table"


class Profile(typing.NamedTuple):
    name: str
    becomes: str


def read(names=()):
    """Returns the profiles with these names, or all."""
    with open(TABLE, encoding="ascii") as file:
        found = [Profile(*line) for line in re.findall(r"^(\w+) (\S+)$", file.read(), re.M)]
    unknown = {*names} - {profile.name for profile in found}
    if unknown:
        raise SystemExit(f"no profile {', '.join(sorted(unknown))}")
    return [profile for profile in found if not names or profile.name in names]
