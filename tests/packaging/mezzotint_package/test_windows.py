import re
from pathlib import Path

import pytest

from mezzotint_package.windows import numbers

SCRIPTS = Path(__file__).parents[3] / "packaging" / "windows"


@pytest.mark.parametrize(
    ("version", "expected"),
    [("1.2.3", "1.2.3.0"), ("0.1.0.post1", "0.1.0.0"), ("2.0", "2.0.0.0"), ("1.2rc1", "1.2.1.0")],
)
def test_windows_gets_four_numbers(version, expected):
    assert numbers(version) == expected


def test_the_uninstaller_removes_every_key_and_shortcut_that_was_made():
    install, remove = (SCRIPTS / "setup.nsi").read_text("utf-8").split('Section "un.', 1)
    for key in set(re.findall(r'WriteReg\w+ HKCU "([^"]+)"', install)):
        assert any(key.startswith(gone) for gone in re.findall(r'DeleteReg\w+ HKCU "([^"]+)"', remove)), key
    assert set(re.findall(r'CreateShortcut "([^"]+)"', install)) == set(re.findall(r'Delete "([^"]+\.lnk)"', remove))


def test_nothing_of_the_users_is_removed_by_the_installer_itself():
    text = (SCRIPTS / "setup.nsi").read_text("utf-8")
    removed = re.findall(r'RMDir /r "([^"]+)"', text)
    assert all(re.match(r"\$INSTDIR\\\w+$|\$\{DATA\}\\engine\\\w+$", path) for path in removed)
