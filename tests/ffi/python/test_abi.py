"""The table of C functions in the binding is that of the headers and of tests/abi/symbols.txt."""

import glob
import os
import re

from npagg import _abi, _load

import support

C_TYPES = {
    "int64_t": "i64",
    "int32_t": "i32",
    "uint64_t": "u64",
    "double": "f64",
    "size_t": "size",
    "npagg_status": "i32",
    "void": "void",
    "npagg_alloc_fn": "pointer",
}


def c_type(declaration):
    """'const char *field' -> 'text', 'const float *m' -> 'pointer', 'int64_t d' -> 'i64'."""
    words = declaration.replace("const ", "").strip()
    if "*" in words:
        return "text" if words.startswith("char *") else "pointer"
    return C_TYPES[words.split()[0]]


def declared():
    """Symbol -> ([(argument, type)], result) as the headers say."""
    source = ""
    for path in glob.glob(os.path.join(support.SOURCE_ROOT, "include", "npagg", "*.h")):
        with open(path) as header:
            source += re.sub(r"/\*.*?\*/", " ", header.read(), flags=re.DOTALL)
    table = {}
    for result, name, arguments in re.findall(
        r"NPAGG_API\s+([^();]*?)(npagg_\w+)\s*\(([^)]*)\)\s*;", source
    ):
        arguments = [" ".join(a.split()) for a in arguments.split(",")]
        names = [(re.search(r"(\w+)$", a).group(1), c_type(a)) for a in arguments if a != "void"]
        table[name] = names, c_type(" ".join(result.split()) + " ")
    return table


def listed():
    with open(os.path.join(support.SOURCE_ROOT, "tests", "abi", "symbols.txt")) as file:
        return {line.split()[0] for line in file if line.strip() and not line.startswith("#")}


class AbiTest(support.TestCase):
    def test_binding_has_every_exported_symbol(self):
        self.assertEqual(listed(), set(_abi.symbols()))

    def test_headers_declare_the_same_functions(self):
        self.assertEqual(set(declared()), set(_abi.symbols()))

    def test_arguments_have_the_names_and_types_of_the_headers(self):
        self.maxDiff = None
        for symbol, signature in declared().items():
            with self.subTest(symbol):
                self.assertEqual(signature, _abi.symbols()[symbol])

    def test_version_of_the_binding_is_the_libraries(self):
        import npagg

        with open(os.path.join(support.SOURCE_ROOT, "include", "npagg", "version.h")) as header:
            version = ".".join(re.findall(r"#define NPAGG_VERSION_\w+ (\d+)", header.read()))
        self.assertEqual(version, npagg.__version__)
        self.assertEqual(version, npagg.library_version())
        self.assertTrue(version.startswith(_load.SOVERSION + "."))
        with open(os.path.join(support.SOURCE_ROOT, "bindings/python/pyproject.toml")) as project:
            self.assertIn(f'version = "{version}"', project.read())

    def test_installed_files_are_those_of_the_package(self):
        folder = os.path.join(support.SOURCE_ROOT, "bindings", "python")
        with open(os.path.join(folder, "meson.build")) as build:
            installed = set(re.findall(r"'npagg/([\w.]+)'", build.read()))
        there = {f for f in os.listdir(os.path.join(folder, "npagg")) if "__pycache__" not in f}
        self.assertEqual(there - {"_installed.py"}, installed)


if __name__ == "__main__":
    support.main()
