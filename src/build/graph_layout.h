#pragma once

#include <cstddef>
#include <vector>

namespace tenon::build {

// Boxes of one size in rows, each below all that it reads.
struct LayoutSizes {
  int width = 0, height = 0;  // of a box
  int gap_x = 0, gap_y = 0;   // between boxes and between rows
  int lane = 0;               // what a line that passes a row has for itself
};

struct Point {
  int x = 0, y = 0;
};

// Leads down from the lower edge of a box to the upper edge of another one.
struct Line {
  size_t from = 0, to = 0;
  std::vector<Point> rows;  // where it passes the rows between them, at their upper edges
};

struct Layout {
  std::vector<Point> boxes;  // upper left corners
  std::vector<Line> lines;
  int width = 0, height = 0;
};

// Places boxes so that lines cross little, run straight and pass no box. `from`: the boxes that each box reads, which
// come before it.
Layout lay_out(const std::vector<std::vector<size_t>>& from, const LayoutSizes& sizes);

}  // namespace tenon::build
