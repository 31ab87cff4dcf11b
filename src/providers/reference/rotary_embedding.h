#pragma once

#include <span>

namespace tenon {

// Turns the first features of a head, two for every angle; the others of `to` are left alone. `to` may be `from`.
void rotate_head(std::span<const double> from, std::span<double> to, std::span<const double> cosines,
                 std::span<const double> sines, bool interleaved);

}  // namespace tenon
