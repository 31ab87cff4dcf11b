#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tenon/tenon.hpp"

namespace cli {

// One slot of a model's weights. Models that share a packed weight have slots with the same entry.
struct PackedSlot {
  std::string model, entry;
  std::vector<std::string> sources;  // names of the weights it is made of
  int64_t bytes = 0;                 // 0 while it is open
  bool open = false;                 // there are no weights yet
};

std::vector<PackedSlot> packed_slots(const tenon::Artifact& artifact);

// Entries counted once, however many models use them.
struct EntryCount {
  int64_t entries = 0, bytes = 0;
};
// Those that `chosen(slot)` is true for.
template <class Chosen>
EntryCount count_entries(const std::vector<PackedSlot>& slots, Chosen&& chosen) {
  EntryCount count;
  std::set<std::string> seen;
  for (const PackedSlot& slot : slots) {
    if (!chosen(slot) || !seen.insert(slot.entry).second) continue;
    ++count.entries;
    count.bytes += slot.bytes;
  }
  return count;
}

}  // namespace cli
