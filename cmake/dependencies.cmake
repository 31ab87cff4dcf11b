# Every library Tenon is built from. All come as Debian packages; `./dev setup` installs them.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
# Highway's headers alone: its library takes milliseconds to load.
find_path(TENON_HWY_INCLUDE hwy/highway.h REQUIRED)
find_path(TENON_FMT_INCLUDE fmt/format-inl.h REQUIRED)
find_path(TENON_PROTOZERO_INCLUDE protozero/pbf_reader.hpp REQUIRED)
find_path(TENON_XXHASH_INCLUDE xxhash.h REQUIRED)
find_path(TENON_CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
# As a shared library: Debian's libre2.a holds thread-local accesses that no shared library can contain.
find_library(TENON_RE2 NAMES libre2.so REQUIRED)
find_path(TENON_RE2_INCLUDE re2/re2.h REQUIRED)
find_library(TENON_UTF8PROC NAMES libutf8proc.a REQUIRED)
find_path(TENON_UTF8PROC_INCLUDE utf8proc.h REQUIRED)

# fmt compiled once and linked statically: header-only use costs three seconds per file.
add_library(tenon_fmt OBJECT cmake/fmt_format.cpp)
target_link_libraries(tenon_fmt PRIVATE tenon_flags)
target_compile_options(tenon_fmt PRIVATE -fvisibility=hidden)

add_library(tenon_dependencies INTERFACE)
target_include_directories(tenon_dependencies SYSTEM INTERFACE
  ${TENON_HWY_INCLUDE} ${TENON_FMT_INCLUDE} ${TENON_PROTOZERO_INCLUDE} ${TENON_XXHASH_INCLUDE} ${TENON_RE2_INCLUDE} ${TENON_UTF8PROC_INCLUDE})
target_link_libraries(tenon_dependencies INTERFACE
  nlohmann_json::nlohmann_json Threads::Threads ZLIB::ZLIB ${TENON_RE2} ${TENON_UTF8PROC})

if(TENON_PYTHON OR SKBUILD)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT COMMAND_ERROR_IS_FATAL ANY)
  find_package(nanobind CONFIG REQUIRED)
endif()
