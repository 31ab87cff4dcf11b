#include "build/graph_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "build/keep_apart.h"

namespace tenon::build {

namespace {

// Far more than people look at; longer lines go straight then.
constexpr size_t kMostPlaces = 200'000;
constexpr int kOrderings = 8, kAlignments = 60;
// Long lines bend less readily than boxes move.
constexpr double kStiffness = 4;

// A box in its row, or a line that passes the row.
struct Place {
  size_t row = 0;
  bool is_box = true;
  double x = 0;     // of its middle
  double rank = 0;  // from the left, while rows are put in order
  std::vector<size_t> above, below;
};

class Rows {
 public:
  Rows(const std::vector<std::vector<size_t>>& from, const LayoutSizes& sizes) : from_(from), sizes_(sizes) {
    choose_rows();
    for (size_t box = 0; box < from_.size(); ++box) add_lines(box);
    for (size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].row >= rows_.size()) rows_.resize(places_[i].row + 1);
      rows_[places_[i].row].push_back(i);
    }
  }

  Layout place() {
    for (auto& row : rows_) number(row);
    for (int i = 0; i < kOrderings; ++i) sweep(i % 2 == 0, [this](size_t row, bool down) { put_in_order(row, down); });
    for (const auto& row : rows_) centre(row);
    for (int i = 0; i < kAlignments; ++i) sweep(i % 2 == 0, [this](size_t row, bool) { align(row); });
    return layout();
  }

 private:
  // Below all that it reads, but what reads nothing stands just above its first reader.
  void choose_rows() {
    places_.resize(from_.size());
    std::vector<size_t> first_reader(from_.size(), std::numeric_limits<size_t>::max());
    for (size_t box = 0; box < from_.size(); ++box)
      for (const size_t other : from_[box]) places_[box].row = std::max(places_[box].row, places_[other].row + 1);
    for (size_t box = 0; box < from_.size(); ++box)
      for (const size_t other : from_[box]) first_reader[other] = std::min(first_reader[other], places_[box].row);
    for (size_t box = 0; box < from_.size(); ++box)
      if (from_[box].empty() && first_reader[box] != std::numeric_limits<size_t>::max())
        places_[box].row = first_reader[box] - 1;
    chains_.resize(from_.size());
  }

  // The lines of a box share a way down, from which each leaves above its reader.
  void add_lines(size_t box) {
    for (const size_t source : from_[box]) {
      auto& chain = chains_[source];
      std::vector<size_t> way;
      size_t last = source;
      for (size_t row = places_[source].row + 1; row < places_[box].row && places_.size() < kMostPlaces; ++row) {
        if (way.size() == chain.size()) {
          chain.push_back(places_.size());
          places_.push_back({row, false, 0, 0, {}, {}});
          connect(last, chain.back());
        }
        last = chain[way.size()];
        way.push_back(last);
      }
      if (places_[last].row + 1 == places_[box].row) connect(last, box);
      lines_.push_back({source, box, {}});
      ways_.push_back(std::move(way));
    }
  }

  void connect(size_t upper, size_t lower) {
    places_[upper].below.push_back(lower);
    places_[lower].above.push_back(upper);
  }

  void number(const std::vector<size_t>& row) {
    for (size_t i = 0; i < row.size(); ++i) places_[row[i]].rank = static_cast<double>(i);
  }

  template <class Change>
  void sweep(bool down, Change&& change) {
    for (size_t i = 0; i < rows_.size(); ++i) change(down ? i : rows_.size() - 1 - i, down);
  }

  const std::vector<size_t>& neighbours(size_t place, bool down) const {
    return down ? places_[place].above : places_[place].below;
  }

  // Each where its neighbours are in the middle.
  void put_in_order(size_t row, bool down) {
    std::vector<std::pair<double, size_t>> wishes;
    for (const size_t i : rows_[row]) {
      double sum = 0;
      for (const size_t other : neighbours(i, down)) sum += places_[other].rank;
      const auto count = static_cast<double>(neighbours(i, down).size());
      wishes.emplace_back(count > 0 ? sum / count : places_[i].rank, i);
    }
    std::ranges::stable_sort(wishes, {}, &std::pair<double, size_t>::first);
    for (size_t i = 0; i < wishes.size(); ++i) rows_[row][i] = wishes[i].second;
    number(rows_[row]);
  }

  double width_of(size_t place) const { return places_[place].is_box ? sizes_.width + sizes_.gap_x : sizes_.lane; }

  // Rows side by side about a common middle.
  void centre(const std::vector<size_t>& row) {
    double all = 0, at = 0;
    for (const size_t i : row) all += width_of(i);
    for (const size_t i : row) {
      places_[i].x = at + (width_of(i) - all) / 2;
      at += width_of(i);
    }
  }

  // Each below what it reads and above what reads it, as far as there is room.
  void align(size_t row) {
    std::vector<Wish> wishes;
    for (const size_t i : rows_[row]) {
      const Place& place = places_[i];
      double sum = 0, weights = 0;
      for (const auto* others : {&place.above, &place.below})
        for (const size_t other : *others) {
          const double weight = !place.is_box && !places_[other].is_box ? kStiffness : 1;
          sum += weight * places_[other].x;
          weights += weight;
        }
      wishes.push_back({weights > 0 ? sum / weights : place.x, place.is_box ? 1 : kStiffness, width_of(i)});
    }
    keep_apart(wishes);
    for (size_t i = 0; i < wishes.size(); ++i) places_[rows_[row][i]].x = wishes[i].x;
  }

  int top_of(size_t place) const { return static_cast<int>(places_[place].row) * (sizes_.height + sizes_.gap_y); }

  Layout layout() {
    Layout result;
    double least = places_.empty() ? 0 : std::numeric_limits<double>::max(), most = -least;
    for (const Place& place : places_) {
      const double half = place.is_box ? sizes_.width / 2.0 : 0;
      least = std::min(least, place.x - half);
      most = std::max(most, place.x + half);
    }
    const auto left_of = [&](size_t i) { return static_cast<int>(std::lround(places_[i].x - least)); };
    for (size_t i = 0; i < from_.size(); ++i) result.boxes.push_back({left_of(i) - sizes_.width / 2, top_of(i)});
    for (size_t i = 0; i < lines_.size(); ++i) {
      for (const size_t place : ways_[i]) lines_[i].rows.push_back({left_of(place), top_of(place)});
      result.lines.push_back(std::move(lines_[i]));
    }
    result.width = static_cast<int>(std::ceil(most - least));
    result.height =
        static_cast<int>(rows_.size()) * (sizes_.height + sizes_.gap_y) - (rows_.empty() ? 0 : sizes_.gap_y);
    return result;
  }

  const std::vector<std::vector<size_t>>& from_;
  const LayoutSizes& sizes_;
  std::vector<Place> places_;                // boxes first
  std::vector<std::vector<size_t>> chains_;  // of each box, the places of its lines
  std::vector<std::vector<size_t>> rows_;
  std::vector<Line> lines_;
  std::vector<std::vector<size_t>> ways_;  // of each line, the places that it passes
};

}  // namespace

Layout lay_out(const std::vector<std::vector<size_t>>& from, const LayoutSizes& sizes) {
  return Rows(from, sizes).place();
}

}  // namespace tenon::build
