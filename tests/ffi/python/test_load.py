"""The library is found where npagg/_load.py says, and only one that fits is taken."""

import os
import shutil
import subprocess
import sys
import tempfile

import support

PACKAGE = os.path.join(support.SOURCE_ROOT, "bindings", "python", "npagg")
LIBRARY = os.environ["NPAGG_LIBRARY"]
REPORT = "import npagg, npagg._abi; print(npagg.library_version(), npagg.__file__)"

IMPOSTOR = """
const char *npagg_version(void) { return "%s"; }
"""


class LoadTest(support.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_import(self, path, **environment):
        """An interpreter that imports the package below path with these variables."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("NPAGG", "PYTHON", "LD_"))}
        env.update(environment, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1")
        return subprocess.run(
            [sys.executable, "-c", REPORT], env=env, capture_output=True, text=True
        )

    def install(self, prefix):
        """The package and the library in a tree as meson installs it."""
        packages, libdir = os.path.join(prefix, "lib/python3/dist-packages"), os.path.join(
            prefix, "lib/here"
        )
        ignore = shutil.ignore_patterns("__pycache__", "_installed.py")
        shutil.copytree(PACKAGE, os.path.join(packages, "npagg"), ignore=ignore)
        with open(os.path.join(packages, "npagg", "_installed.py"), "w") as file:
            file.write('LIBRARY_DIR = "../../../here"\n')
        os.makedirs(libdir)
        shutil.copy(LIBRARY, os.path.join(libdir, "libnpagg.so.0.1"))
        return packages

    def compile(self, version):
        source, library = os.path.join(self.folder, "x.c"), os.path.join(
            self.folder, f"lib{version}.so"
        )
        with open(source, "w") as file:
            file.write(IMPOSTOR % version)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        return library

    def assert_imports(self, run):
        self.assertEqual("", run.stderr)
        self.assertTrue(run.stdout.startswith("0.1."), run.stdout)

    def assert_fails(self, run, *texts):
        self.assertEqual("", run.stdout)
        for text in ("ImportError", *texts):
            self.assertIn(text, run.stderr)

    def test_an_installed_tree_finds_its_library_also_after_a_move(self):
        first, second = os.path.join(self.folder, "first"), os.path.join(self.folder, "second")
        self.assert_imports(self.run_import(self.install(first)))
        os.rename(first, second)
        self.assert_imports(self.run_import(os.path.join(second, "lib/python3/dist-packages")))

    def test_the_environment_names_another_library(self):
        packages = self.install(os.path.join(self.folder, "prefix"))
        self.assert_imports(self.run_import(packages, NPAGG_LIBRARY=LIBRARY))
        bad = os.path.join(self.folder, "nowhere.so")
        self.assert_fails(self.run_import(packages, NPAGG_LIBRARY=bad), "NPAGG_LIBRARY", bad)

    def test_the_loader_is_asked_last(self):
        packages = self.install(os.path.join(self.folder, "prefix"))
        libdir = os.path.join(self.folder, "elsewhere")
        os.rename(os.path.join(self.folder, "prefix/lib/here"), libdir)
        self.assert_imports(self.run_import(packages, LD_LIBRARY_PATH=libdir))

    def test_a_failure_says_where_it_looked(self):
        packages = self.install(os.path.join(self.folder, "prefix"))
        os.rename(
            os.path.join(self.folder, "prefix/lib/here"), os.path.join(self.folder, "elsewhere")
        )
        self.assert_fails(
            self.run_import(packages),
            "installed path",
            "package directory",
            "loader",
            "NPAGG_LIBRARY",
        )

    def test_a_library_of_another_version_is_refused(self):
        source = os.path.dirname(PACKAGE)
        for version in ("0.2.0", "1.0.0", "0.10.0"):
            run = self.run_import(source, NPAGG_LIBRARY=self.compile(version))
            self.assert_fails(run, version, "want 0.1.x")
        self.assert_fails(self.run_import(source, NPAGG_LIBRARY=self.compile("0.1.7")), "older")

    def test_a_library_that_is_another_one_is_refused(self):
        with open("/proc/self/maps") as maps:
            libc = next(line.split()[-1] for line in maps if "libc" in line)
        self.assert_fails(
            self.run_import(os.path.dirname(PACKAGE), NPAGG_LIBRARY=libc), "no libnpagg"
        )


if __name__ == "__main__":
    support.main()
