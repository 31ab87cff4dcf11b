"""An installed tree serves other projects, by find_package and by pkg-config."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import tenon

ROOT = Path(__file__).resolve().parents[2]
CONSUMER = Path(__file__).parent / "consumer"
VERSION = re.search(r"project\(tenon VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def run(*command, **options):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.strip()


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", ROOT / "build" / "release", "--prefix", prefix)
    return prefix


def needed_libraries(program):
    return set(re.findall(r"\(NEEDED\).*\[(\S+)\]", run("readelf", "-d", program)))


def test_cmake_package(installed, tmp_path):
    run("cmake", "-G", "Ninja", "-S", CONSUMER, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={installed}")
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "compiles") == VERSION
    assert run(tmp_path / "runs") == VERSION
    assert "libtenon.so.0" not in needed_libraries(tmp_path / "runs")


@pytest.mark.parametrize("package, compiler, source", [("tenon", ["g++", "-std=c++20"], "main.cpp"), ("tenon_runtime", ["gcc"], "main.c")])
def test_pkg_config(installed, tmp_path, package, compiler, source):
    environment = {**os.environ, "PKG_CONFIG_PATH": str(installed / "lib" / "pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", package, env=environment).split()
    program = tmp_path / package
    run(*compiler, CONSUMER / source, *flags, f"-Wl,-rpath,{installed / 'lib'}", "-o", program)
    assert run(program) == VERSION


def test_every_header_can_be_included_alone(installed, tmp_path):
    folder = installed / "include"
    headers = sorted(path.relative_to(folder) for path in folder.rglob("*.h*"))
    assert {path.name for path in headers} == {path.name for path in (ROOT / "include" / "tenon").iterdir()}
    for header in headers:
        # Twice: including it again changes nothing.
        source = tmp_path / f"{header.stem}.cpp"
        source.write_text(f"#include <{header}>\n#include <{header}>\n")
        run("g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{folder}", source)
    everything = (folder / "tenon" / "tenon.hpp").read_text()
    assert all(f'"{path}"' in everything for path in headers if path.suffix == ".hpp" and path.name != "tenon.hpp")


def test_installed_command_needs_no_environment(installed):
    assert VERSION in run(installed / "bin" / "tenon", "--version", env={})


SYSTEM = re.compile(r"(libc|libm|libz|libstdc\+\+|libgcc_s|ld-linux-\w+(-\d+)?|libpthread|libdl)\.so\.")


def licensed_packages():
    text = (ROOT / "cmake" / "licences.cmake").read_text()
    return set(re.search(r"set\(licensed_packages ([^)]*)\)", text)[1].split())


def test_the_wheel_carries_its_libraries_and_their_licences():
    package = Path(tenon.__file__).parent
    for library in package.glob("lib*.so.*"):
        missing = {name for name in needed_libraries(library) if not SYSTEM.match(name) and not (package / name).exists()}
        assert not missing, library.name
    texts = {path.stem: path.read_text() for path in (package / "licences").iterdir()}
    assert set(texts) == licensed_packages() | {"nanobind"} and all(texts.values())


def test_the_installed_tree_has_the_licences(installed):
    assert {path.stem for path in (installed / "share" / "doc" / "tenon" / "licences").iterdir()} == licensed_packages()
