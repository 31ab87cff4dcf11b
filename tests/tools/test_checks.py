"""The checks of `./dev check` find what they are for."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def load(name):
    sys.path[:0] = [] if str(TOOLS) in sys.path else [str(TOOLS)]  # tools import each other
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "path, quoted, target, allowed",
    [
        ("src/runtime/session.cpp", True, "plan/plan.h", True),
        ("src/plan/plan.cpp", True, "runtime/session.h", False),
        ("src/runtime/session.cpp", True, "ir/graph.h", False),
        ("src/runtime/session.cpp", True, "session.h", False),
        ("src/runtime/api/run.cpp", True, "tenon/tenon.h", True),
        ("src/cli/run.cpp", True, "tenon/tenon.hpp", True),
        ("src/cli/run.cpp", True, "cli/command.h", True),
        ("src/cli/run.cpp", True, "base/status.h", False),
        ("src/wire/onnx.cpp", False, "protozero/pbf_reader.hpp", False),
        ("src/wire/protozero_config.h", False, "protozero/pbf_reader.hpp", True),
        ("include/tenon/tenon.hpp", True, "base/status.h", False),
    ],
)
def test_layers(path, quoted, target, allowed):
    found = load("check_layers").problem(Path(path), quoted, target)
    assert (found is None) == allowed, found


def test_function_lengths():
    text = """\
namespace tenon {
struct Point {  // not a function {
  int sum() const {
    return x + y;
  }
  int x = 0, y{1};
};
const char* text = "{(";
template <typename T>
T apply(T value) {
  auto twice = [&](int n) {
    return n * 2;
  };
  if (value) {
    return twice(value);
  }
  return value;
}
}  // namespace tenon
"""
    assert list(load("check_budgets").functions(text)) == [(3, 3), (9, 10)]


def test_exports(tmp_path):
    (tmp_path / "src").mkdir()
    source = tmp_path / "leak.cpp"
    source.write_text('extern "C" int tn_version() { return 1; }\nint leak() { return 2; }\n')
    for name in ("tenon", "tenon_runtime"):
        subprocess.run(["g++", "-shared", "-fPIC", source, "-o", tmp_path / "src" / f"lib{name}.so"], check=True)
    result = subprocess.run(
        [sys.executable, TOOLS / "check_symbols.py", tmp_path], capture_output=True, text=True
    )
    assert result.returncode == 1
    assert "libtenon.so exports _Z4leakv" in result.stdout


def test_the_versions_of_operators_are_those_of_onnx():
    module = load("make_op_versions")
    assert module.TARGET.read_text() == module.text(), "run tools/make_op_versions.py"


def test_summary_shows_budgets_and_warns_without_failing(tmp_path):
    (tmp_path / "stages.txt").write_text("build 700 600 0\nunit 20 60 0\n")
    done = subprocess.run([sys.executable, TOOLS / "test_summary.py", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0
    assert "warning: build took 700 s; its budget is 600 s" in done.stdout
    assert "warning: unit" not in done.stdout
    assert [line.split()[:3] for line in done.stdout.splitlines() if line.startswith("unit")] == [["unit", "20", "60"]]


def test_tidy_looks_at_files_of_a_folder_together():
    check = load("check_tidy")
    flags, key = ("-O2",), Path("key")
    paths = [Path(f"src/ops/op{i}.cpp") for i in range(10)]
    simd, alone, elsewhere = Path("src/cpu/a_simd.cpp"), Path("src/ops/alone.cpp"), Path("src/wire/a.cpp")
    sources = [check.Source(path, flags, key) for path in [*paths, simd, alone, elsewhere]]
    sources.append(check.Source(Path("src/ops/other_flags.cpp"), ("-O1",), key))
    groups = [[source.path for source in group] for group in check.make_groups(sources, {alone}, size=8)]
    assert sorted(groups) == sorted([paths[:8], paths[8:], [simd], [alone], [elsewhere], [Path("src/ops/other_flags.cpp")]])


CLASHING = """\
#include <vector>
namespace tenon {
namespace {
constexpr int kMost = 3;  // const int kCommented = 1;
struct Line {
  int length() const { return kLength; }
  static constexpr int kLength = 2;
};
template <class T>
void fill(std::vector<T>& target, int count = 4) { target.assign(count, T()); }
bool check_size(const Line& line) { return line.length() > kMost; }
}  // namespace
int public_name(int x) { return x; }
}  // namespace tenon
"""


@pytest.mark.parametrize(
    "other, found",
    [
        ("namespace tenon { namespace { constexpr double kMost = 1; } }", ["kMost"]),
        ("namespace tenon { namespace { constexpr int kLeast = f<int, 2>(1, 0), kMost = 1; } }", ["kMost"]),
        ("namespace tenon { namespace { class Line {}; } }", ["Line"]),
        ("namespace tenon { namespace { template <class E> void fill(std::vector<E>& to, int n) {} } }", ["fill(std :: vector < $0 > &, int)"]),
        ("namespace tenon { namespace { bool check_size(Line& other) { return true; } } }", ["check_size(const Line &)"]),
        ("namespace tenon { namespace { int public_name(int y) { return y; } } }", ["public_name(int)"]),
        ("namespace tenon { namespace { bool check_size(int n) { return n; } } }", []),
        ("namespace tenon { namespace { int use() { const int kMost = 2; return kMost; } } }", []),
        ("namespace tenon::other { namespace { struct Line {}; } }", []),
        ("namespace tenon { int public_name(int x); bool check_size(const Line& line); }", []),
        ("namespace tenon { struct Holder { void fill(std::vector<int>& x, int n) {} int kMost = 1; }; }", []),
    ],
)  # fmt: skip
def test_private_names_that_clash(other, found):
    check = load("check_private_names")
    first, second = Path("ops/a.cpp"), Path("ops/deeper/b.cpp")
    lines = check.clashes({first: CLASHING, second: other})
    assert [line.split("'")[1] for line in lines] == found
    assert all("src/ops/a.cpp:" in line and "src/ops/deeper/b.cpp:1" in line for line in lines)
    assert check.clashes({first: CLASHING, second: other}, {second}) == []
    assert check.clashes({first: CLASHING, Path("wire/b.cpp"): other}) == []


def test_equal_aliases_are_no_clash():
    check = load("check_private_names")
    files = {Path(f"ops/{name}.cpp"): "namespace { using Words = std::vector<int>; }" for name in "ab"}
    assert check.clashes(files) == []
    files[Path("ops/c.cpp")] = "namespace { using Words = std::vector<long>; }"
    assert len(check.clashes(files)) == 1


HOT, COLD = ".text.hot._ZN1f", ".text"


@pytest.mark.parametrize(
    "section, target, lines, stores",
    [
        (HOT, "N_AVX2", ["   0:\tvmovaps %ymm1,0x20(%rsp)", "   6:\tvmovups %zmm2,(%rsp)"], 2),
        (HOT, "N_AVX3", ["   0:\tmov    %rsp,%rbp", "   3:\tvmovdqu64 %zmm1,-0x40(%rbp)"], 1),
        (HOT, "N_NEON", ["   0:\tstr\tq8, [sp, #32]"], 1),
        (HOT, "N_AVX2", ["   0:\tvmovaps %ymm1,-0x40(%rbp)"], 0),  # rbp is no frame here
        (HOT, "N_AVX2", ["   0:\tvmovaps 0x20(%rsp),%ymm1", "   6:\tvmovaps %ymm1,(%rdi)"], 0),
        (HOT, "N_AVX3", ["   0:\tvmovq  %xmm1,-0x58(%rsp)"], 0),  # an address, not a vector
        (HOT, "N_SSE4", ["   0:\tmovaps %xmm1,(%rsp)"], 0),
        (COLD, "N_AVX2", ["   0:\tvmovaps %ymm1,0x20(%rsp)"], 0),
    ],
)
def test_spills(section, target, lines, stores):
    name = f"void tenon::{target}::f<2>(float*)"
    listing = [f"Disassembly of section {section}:", "", f"0000000000000000 <{name}>:", *lines]
    looked_at, found = load("check_spills").spills(listing, everywhere=False)
    assert looked_at == (section == HOT and target != "N_SSE4")
    assert found == ({name: stores} if stores else {})
