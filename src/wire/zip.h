#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/memory.h"
#include "wire/proto_writer.h"

// Zip archives as .npz files are: stored or deflated entries, zip64 for large ones, no encryption.
namespace tenon::wire {

struct ZipEntry {
  std::string name;
  Bytes stored;  // as the archive has it
  bool deflated = false;
  uint64_t size = 0;  // inflated
  uint32_t crc = 0;
};

// The directory of an archive; the entries are views into it.
Result<std::vector<ZipEntry>> parse_zip(Bytes archive);
// The inflated bytes of a deflated entry, checked against its size and checksum. The memory touched is bounded by
// what the deflated bytes really hold, not by what the directory claims, and comes from the budget, if there is one.
Result<std::shared_ptr<Buffer>> inflate_entry(const ZipEntry& entry, const std::shared_ptr<MemoryBudget>& budget);
// At most this many of the first bytes of an entry, not checked.
Result<std::string> entry_beginning(const ZipEntry& entry, size_t most);
// Checks the bytes of a stored entry.
Status check_stored_entry(const ZipEntry& entry);

// Writes an archive of stored entries. The bytes added are referred to and must outlive the writer.
class ZipWriter {
 public:
  // Sizes and offsets from `wide_from` on are written in 64 bits; 32 hold no more than the default.
  explicit ZipWriter(uint64_t wide_from = 0xFFFFFFFF) : wide_from_(wide_from) {}
  // One entry made of pieces in order.
  void add(const std::string& name, const std::vector<Bytes>& pieces);
  // The whole archive in order; valid while the writer lives unchanged. Call once, last.
  std::vector<Bytes> finish();

 private:
  struct Added {
    std::string name, local_header;
    std::vector<Bytes> pieces;
    uint64_t size = 0, offset = 0;
    uint32_t crc = 0;
  };
  bool wide(uint64_t value) const { return value >= wide_from_; }
  uint32_t narrow(uint64_t value) const;
  void put_common(std::string& text, const Added& entry, size_t extra_bytes) const;

  uint64_t wide_from_;
  std::vector<Added> entries_;
  std::string directory_;
  uint64_t offset_ = 0;
};

}  // namespace tenon::wire
