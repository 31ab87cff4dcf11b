#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace tenon::build {

// Calls f(i) for i from 0 to count - 1, `jobs` at a time. The first exception stops the rest and goes on.
void for_each_parallel(size_t count, int64_t jobs, const std::function<void(size_t)>& f);

}  // namespace tenon::build
