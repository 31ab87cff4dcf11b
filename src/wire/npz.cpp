#include "wire/npz.h"

#include <algorithm>
#include <deque>
#include <set>

#include "base/file.h"
#include "wire/npy_header.h"

namespace tenon::wire {

namespace {

constexpr std::string_view kSuffix = ".npy";

// A name in a zip archive has at most this many bytes.
constexpr size_t kMaxName = 0xFFFF - kSuffix.size();

// NumPy writes headers of about a hundred bytes; this holds one for every shape and type.
constexpr size_t kMaxHeader = 1 << 16;

Result<NpyDescription> describe_entry(const ZipEntry& entry, std::optional<DType> void_dtype) {
  TN_ASSIGN_OR_RETURN(const std::string beginning, entry_beginning(entry, kMaxHeader));
  return describe_npy(beginning, entry.size, void_dtype);
}

Result<Tensor> read_entry(const ZipEntry& entry, const std::shared_ptr<const void>& owner,
                          std::optional<DType> void_dtype, const std::shared_ptr<MemoryBudget>& budget) {
  if (!entry.deflated) {
    TN_RETURN_IF_ERROR(check_stored_entry(entry));
    return parse_npy(entry.stored, owner, void_dtype, budget);
  }
  // The header says how much there is to inflate; nothing else is given memory.
  TN_RETURN_IF_ERROR(describe_entry(entry, void_dtype).status());
  TN_ASSIGN_OR_RETURN(const auto inflated, inflate_entry(entry, budget));
  const Bytes bytes(reinterpret_cast<const char*>(inflated->data()), static_cast<size_t>(inflated->size()));
  return parse_npy(bytes, inflated, void_dtype, budget);
}

// Whether the elements are stored as a tensor has them.
bool is_plain(const NpyHeader& header) {
  const bool is_text = header.kind == 'U' || header.kind == 'S';
  return !is_text && !header.big_endian && (!header.fortran_order || header.shape.size() < 2);
}

}  // namespace

Result<NpzFile> NpzFile::open(const std::string& path) {
  TN_ASSIGN_OR_RETURN(const auto file, MappedFile::open(path));
  auto npz = parse(file->view(), file);
  if (npz.ok()) return npz;
  return std::move(npz).status().in(path);
}

Result<NpzFile> NpzFile::parse(Bytes bytes, std::shared_ptr<const void> owner) {
  NpzFile npz;
  npz.archive_ = bytes;
  npz.owner_ = std::move(owner);
  TN_ASSIGN_OR_RETURN(npz.entries_, parse_zip(bytes));
  for (const ZipEntry& entry : npz.entries_) {
    const std::string_view name = entry.name;
    npz.names_.emplace_back(name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name);
    // Of equal names the first one counts.
    npz.by_name_.emplace(npz.names_.back(), npz.names_.size() - 1);
  }
  return npz;
}

Result<NpyDescription> NpzFile::describe(std::string_view name, std::optional<DType> void_dtype) const {
  TN_ASSIGN_OR_RETURN(const ZipEntry* entry, find(name));
  auto description = describe_entry(*entry, void_dtype);
  if (description.ok()) return description;
  return std::move(description).status().in(fmt::format("array '{}'", name));
}

Result<Tensor> NpzFile::read(std::string_view name, std::optional<DType> void_dtype) const {
  TN_ASSIGN_OR_RETURN(const ZipEntry* entry, find(name));
  auto tensor = read_entry(*entry, owner_, void_dtype, budget_);
  if (tensor.ok()) return tensor;
  return std::move(tensor).status().in(fmt::format("array '{}'", name));
}

Result<const ZipEntry*> NpzFile::find(std::string_view name) const {
  if (const auto it = by_name_.find(name); it != by_name_.end()) return &entries_[it->second];
  constexpr size_t kMostShown = 20;
  std::string known;
  for (size_t i = 0; i < names_.size() && i < kMostShown; ++i) known += (i ? ", '" : "'") + names_[i] + "'";
  if (names_.size() > kMostShown) known += fmt::format(" and {} more", names_.size() - kMostShown);
  return error(Code::NotFound, "no array is named '{}'; the archive has: {}", name, known);
}

std::optional<std::pair<int64_t, int64_t>> NpzFile::place(std::string_view name) const {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return std::nullopt;
  const ZipEntry& entry = entries_[it->second];
  if (entry.deflated) return std::nullopt;
  const auto header = parse_npy_header(entry.stored);
  if (!header.ok() || !is_plain(*header)) return std::nullopt;
  const Bytes elements = entry.stored.substr(header->data_offset);
  return std::pair(elements.data() - archive_.data(), static_cast<int64_t>(elements.size()));
}

Status write_npz(const std::string& path, const std::vector<NamedTensor>& tensors) {
  std::deque<EncodedNpy> encoded;  // never moves what the archive refers to
  std::set<std::string_view> names;
  ZipWriter archive;
  for (const NamedTensor& named : tensors) {
    if (named.name.empty() || named.name.size() > kMaxName || !names.insert(named.name).second)
      return invalid_argument("'{}' cannot name an array because it is empty, too long or already used", named.name);
    auto npy = encode_npy(named.tensor);
    if (!npy.ok()) return std::move(npy).status().in(fmt::format("array '{}'", named.name)).in(path);
    const EncodedNpy& kept = encoded.emplace_back(std::move(npy).value());
    archive.add(named.name + std::string(kSuffix), {kept.header, kept.data()});
  }
  return write_file_atomically(path, archive.finish());
}

}  // namespace tenon::wire
