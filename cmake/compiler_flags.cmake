# Flags of every Tenon target. Targets made by other projects (nanobind) do not see them.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)

set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# Compiling instrumented code mostly costs more than running it; src/CMakeLists.txt optimizes the folders with long loops.
set(CMAKE_C_FLAGS_SANITIZE "-O0 -gline-tables-only -fno-omit-frame-pointer")
set(CMAKE_CXX_FLAGS_SANITIZE "-O0 -gline-tables-only -fno-omit-frame-pointer")

# For another processor only the tests run, and slowly: compiling is most of their cost.
set(CMAKE_C_FLAGS_CROSS "-O1")
set(CMAKE_CXX_FLAGS_CROSS "-O1")

add_library(tenon_flags INTERFACE)
target_compile_options(tenon_flags INTERFACE
  -Wall -Wextra
  # Designated initializers name what differs from the default.
  -Wno-missing-field-initializers
  # Results must not depend on the instruction set: a multiply-add is written as one where it is meant.
  -ffp-contract=off
  # Symbols are hidden by the linker's version scripts, see src/CMakeLists.txt.
  -fno-semantic-interposition
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
  $<$<BOOL:${TENON_WERROR}>:-Werror>)

if(TENON_SANITIZE)
  target_compile_options(tenon_flags INTERFACE -fsanitize=${TENON_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(tenon_flags INTERFACE -fsanitize=${TENON_SANITIZE})
endif()

find_program(TENON_CCACHE ccache)
if(TENON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the checkout, so that a fresh clone in another folder finds its objects.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${TENON_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

# gcc and clang look for `ld.lld`; Debian names it by version.
find_program(TENON_LLD NAMES ld.lld ld.lld-19)
if(TENON_LLD)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/linker)
  file(CREATE_LINK ${TENON_LLD} ${PROJECT_BINARY_DIR}/linker/ld.lld SYMBOLIC)
  add_link_options(-B${PROJECT_BINARY_DIR}/linker -fuse-ld=lld)
endif()

# Archives serve the tests only: thin ones cost nothing to update.
set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> qcT <TARGET> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_APPEND "<CMAKE_AR> qT <TARGET> <OBJECTS>")
