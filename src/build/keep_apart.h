#pragma once

#include <vector>

namespace tenon::build {

// Something in a row, from left to right.
struct Wish {
  double x = 0;       // where its middle should be; keep_apart says where it is
  double weight = 1;  // how much it matters
  double width = 0;   // that it takes
};

// Moves the members of a row as little as possible (by the weighted sum of squares) so that none overlaps the next.
void keep_apart(std::vector<Wish>& row);

}  // namespace tenon::build
