#pragma once

#include <cstdint>

namespace tenon {

// Bytes that this process has written to files so far, so that builds can say it. What file systems share with a file
// that is there already does not count.
uint64_t written_bytes();
// For whoever writes.
void count_written(uint64_t bytes);

}  // namespace tenon
