#pragma once

#include <functional>

#include "base/hash.h"
#include "weights/weight_source.h"

namespace tenon {

// The bytes of one source weight, as far as they can be had again. Immutable.
struct SourceBytes {
  Tensor tensor;                         // kept, or
  std::function<Result<Tensor>()> load;  // read again where they came from; neither: gone
  std::optional<Hash128> content;        // of the bytes, when somebody had to know
  bool available() const { return tensor.defined() || load; }
  Result<Tensor> value() const { return tensor.defined() ? Result<Tensor>(tensor) : load(); }
};

// Where each source lay in files, for folders of the same layout.
using SourceLayout = std::map<std::string, FileRegion>;

// Another number for every set of weights, copies included: who holds places in one can tell that it is another.
class SnapshotNumber {
 public:
  SnapshotNumber() : value_(next()) {}
  SnapshotNumber(const SnapshotNumber&) : SnapshotNumber() {}
  SnapshotNumber& operator=(const SnapshotNumber&) {
    value_ = next();
    return *this;
  }
  ~SnapshotNumber() = default;
  uint64_t value() const { return value_; }

 private:
  static uint64_t next();
  uint64_t value_;
};

// The weights of a session at one moment. Immutable: a swap makes a new one, and runs keep the one they started with.
struct WeightSnapshot {
  std::vector<Tensor> slots;                                // packed, by slot; undefined where nothing was set yet
  std::vector<std::shared_ptr<const SourceBytes>> sources;  // by source of the program; null: gone
  std::shared_ptr<const SourceLayout> layout;               // null: they lay in no file
  SnapshotNumber number{};
  // The first slot that still waits for weights, or -1.
  int32_t empty_slot() const {
    for (size_t i = 0; i < slots.size(); ++i)
      if (!slots[i].defined()) return static_cast<int32_t>(i);
    return -1;
  }
};

}  // namespace tenon
