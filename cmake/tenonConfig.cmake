# Targets: tenon::tenon_runtime loads, runs and swaps; tenon::tenon also compiles.
include("${CMAKE_CURRENT_LIST_DIR}/tenonTargets.cmake")
