#include "artifact/record_order.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tenon {

namespace {

// A new order of records, and where each old index went.
struct Order {
  std::vector<size_t> from;
  std::vector<int32_t> place;
  void renumber(int32_t& id) const {
    if (id >= 0) id = place[static_cast<size_t>(id)];
  }
  void renumber(std::vector<int32_t>& ids) const {
    for (int32_t& id : ids) renumber(id);
  }
};

// Records of one key become the first of them.
template <class Record, class Key>
Order order_by(std::vector<Record>& records, Key key) {
  std::vector<size_t> sorted(records.size());
  std::iota(sorted.begin(), sorted.end(), size_t{0});
  std::ranges::sort(sorted, [&](size_t a, size_t b) {
    const auto left = key(records[a]), right = key(records[b]);
    return left != right ? left < right : a < b;
  });
  Order order;
  order.place.resize(records.size());
  std::vector<Record> result;
  for (const size_t i : sorted) {
    if (result.empty() || key(result.back()) != key(records[i])) {
      result.push_back(std::move(records[i]));
      order.from.push_back(i);
    }
    order.place[i] = static_cast<int32_t>(result.size() - 1);
  }
  records = std::move(result);
  return order;
}

}  // namespace

RecordOrder order_records(ArtifactContents& contents) {
  const Order packed = order_by(contents.packed, [](const PackedRecord& r) { return r.key; });
  for (SourceRecord& record : contents.sources) packed.renumber(record.packed);
  const Order sources = order_by(contents.sources, [](const SourceRecord& r) {
    return std::tie(r.info.name, r.info.dtype, r.info.dims, r.content, r.place, r.file, r.file_offset, r.file_bytes,
                    r.file_has_names, r.packed, r.info.expected);
  });
  for (ModelRecord& model : contents.models) {
    packed.renumber(model.slots);
    sources.renumber(model.sources);
  }
  return {packed.from, sources.from};
}

}  // namespace tenon
