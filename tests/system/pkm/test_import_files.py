"""What other programs write, brought in by the modules of the page (import_files.mjs)."""

from pathlib import Path

from tests.system.bridge_js.node import run


def test_files_of_other_programs_go_where_they_belong():
    run("--no-warnings", Path(__file__).with_name("import_files.mjs"), seconds=30)
