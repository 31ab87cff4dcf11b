#pragma once

#include <cstdint>

namespace tenon {

// Bytes that this process has hashed so far, so that tests can tell how often weights are read for it.
uint64_t hashed_bytes();

}  // namespace tenon
