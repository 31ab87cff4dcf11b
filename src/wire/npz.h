#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wire/npy.h"
#include "wire/zip.h"

namespace tenon::wire {

// A .npz file: named arrays. Reading one array touches no other. Immutable and so thread-safe.
class NpzFile {
 public:
  static Result<NpzFile> open(const std::string& path);
  // `owner` keeps the bytes alive, for the reader and for arrays that need no copy.
  static Result<NpzFile> parse(Bytes bytes, std::shared_ptr<const void> owner);

  // The names without ".npy", in the order of the file.
  const std::vector<std::string>& names() const { return names_; }
  // What an array is, from its header alone. See parse_npy for void_dtype. NotFound names the arrays there are.
  Result<NpyDescription> describe(std::string_view name, std::optional<DType> void_dtype = std::nullopt) const;
  Result<Tensor> read(std::string_view name, std::optional<DType> void_dtype = std::nullopt) const;
  // Where in the archive the elements of an array are, when they are there as a tensor has them; the offset and the
  // bytes.
  std::optional<std::pair<int64_t, int64_t>> place(std::string_view name) const;
  // Arrays that are not used where they are in the file take their memory from it. Before anything is read.
  void set_budget(std::shared_ptr<MemoryBudget> budget) { budget_ = std::move(budget); }

 private:
  Result<const ZipEntry*> find(std::string_view name) const;

  Bytes archive_;
  std::vector<ZipEntry> entries_;
  std::vector<std::string> names_;
  std::map<std::string, size_t, std::less<>> by_name_;  // the number of an entry
  std::shared_ptr<const void> owner_;
  std::shared_ptr<MemoryBudget> budget_;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};
// Writes stored (not compressed) entries; equal arrays make equal files.
Status write_npz(const std::string& path, const std::vector<NamedTensor>& tensors);

}  // namespace tenon::wire
