#include "weights/weight_source.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/cpu.h"
#include "base/file.h"
#include "base/folder.h"
#include "tensor/canonical.h"
#include "weights/model_weights.h"
#include "wire/external_data.h"
#include "wire/npz.h"
#include "wire/onnx_tensor_storage.h"
#include "wire/safetensors.h"

namespace tenon {

namespace {

class MemorySource : public WeightSource {
 public:
  MemorySource(std::map<std::string, Tensor> tensors, bool lasting) : tensors_(std::move(tensors)), lasting_(lasting) {}

  std::string where() const override { return "memory"; }
  std::vector<std::string> names() const override {
    std::vector<std::string> result;
    for (const auto& [name, tensor] : tensors_) result.push_back(name);
    return result;
  }
  std::optional<Description> find(const std::string& name) const override {
    const auto it = tensors_.find(name);
    if (it == tensors_.end()) return std::nullopt;
    return Description{it->second.dtype(), it->second.dims(), true};
  }
  Result<Tensor> read(const std::string& name) const override {
    const auto it = tensors_.find(name);
    if (it == tensors_.end()) return error(Code::NotFound, "no tensor is named '{}'", name);
    return canonical(it->second, nullptr);
  }
  bool lasting() const override { return lasting_; }

 private:
  std::map<std::string, Tensor> tensors_;
  bool lasting_;
};

class SafetensorsSource final : public WeightSource {
 public:
  SafetensorsSource(std::string path, wire::SafetensorsFile file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string where() const override { return path_; }
  std::vector<std::string> names() const override {
    std::vector<std::string> result;
    for (const auto& entry : file_.entries()) result.push_back(entry.name);
    return result;
  }
  std::optional<Description> find(const std::string& name) const override {
    const auto* entry = file_.find(name);
    return entry ? std::optional(Description{entry->dtype, entry->dims, true}) : std::nullopt;
  }
  Result<Tensor> read(const std::string& name) const override {
    const auto* entry = file_.find(name);
    if (!entry) return error(Code::NotFound, "{} has no tensor '{}'", path_, name);
    return file_.read(*entry);
  }
  std::optional<FilePlace> place(const std::string& name) const override {
    const auto* entry = file_.find(name);
    return entry ? std::optional(FilePlace{file_name_of(path_), entry->offset, entry->bytes, true}) : std::nullopt;
  }

 private:
  std::string path_;
  wire::SafetensorsFile file_;
};

// Files that name their tensors are read as what they are; the others are elements, at the places of their predecessor.
class FolderSource final : public WeightSource {
 public:
  static Result<std::unique_ptr<WeightSource>> open(const std::string& folder,
                                                    std::map<std::string, FileRegion> layout) {
    std::unique_ptr<FolderSource> self(new FolderSource(folder));
    TN_ASSIGN_OR_RETURN(self->elements_, wire::FolderExternalData::in_folder(folder));
    std::set<std::string> missing;
    for (const auto& [name, region] : layout) {
      const std::string& file = region.place.file;
      if (missing.contains(file)) continue;
      if (!exists(folder + "/" + file)) {
        missing.insert(file);
      } else if (region.place.has_names && !self->named_.contains(file)) {
        TN_ASSIGN_OR_RETURN(self->named_[file], open_weight_source(folder + "/" + file));
      }
    }
    std::erase_if(layout, [&](const auto& named) { return missing.contains(named.second.place.file); });
    self->layout_ = std::move(layout);
    if (self->layout_.empty())
      return error(Code::NotFound, "'{}' contains none of the files that the weights came from: {}", folder,
                   fmt::join(missing, ", "));
    return std::unique_ptr<WeightSource>(std::move(self));
  }

  std::string where() const override { return folder_; }
  std::vector<std::string> names() const override {
    std::vector<std::string> result;
    for (const auto& [name, region] : layout_)
      if (find(name)) result.push_back(name);
    return result;
  }
  std::optional<Description> find(const std::string& name) const override {
    const auto it = layout_.find(name);
    if (it == layout_.end()) return std::nullopt;
    const WeightSource* named = named_file(it->second);
    return named ? named->find(name) : std::optional(it->second.description);
  }
  Result<Tensor> read(const std::string& name) const override {
    const auto it = layout_.find(name);
    if (it == layout_.end()) return error(Code::NotFound, "the tensor '{}' is unknown", name);
    if (const WeightSource* named = named_file(it->second)) return named->read(name);
    const auto& [description, place] = it->second;
    if (description.dtype == DType::String)
      return invalid_argument("the tensor '{}' holds strings, which cannot be read directly from a file", name);
    const auto elements = wire::count_elements(description.dtype, description.dims);
    if (!elements || storage_bytes(description.dtype, *elements) != place.bytes)
      return invalid_argument("{} bytes do not match the type and shape of the tensor '{}'", place.bytes, name);
    TN_ASSIGN_OR_RETURN(const auto region, elements_->read(place.file, place.offset, place.bytes));
    return wire::tensor_over_bytes({description.dtype, *elements, place.bytes}, description.dims, region.bytes,
                                   region.owner);
  }
  std::optional<FilePlace> place(const std::string& name) const override {
    const auto it = layout_.find(name);
    if (it == layout_.end()) return std::nullopt;
    const WeightSource* named = named_file(it->second);
    return named ? named->place(name) : std::optional(it->second.place);
  }

 private:
  explicit FolderSource(std::string folder) : folder_(std::move(folder)) {}
  const WeightSource* named_file(const FileRegion& region) const {
    const auto it = named_.find(region.place.file);
    return it == named_.end() ? nullptr : it->second.get();
  }

  std::string folder_;
  std::shared_ptr<wire::FolderExternalData> elements_;
  std::map<std::string, std::unique_ptr<WeightSource>> named_;  // by file
  std::map<std::string, FileRegion> layout_;                    // of files that are there
};

// What an array is stands in its own header; its elements are inflated when somebody wants them.
class NpzSource final : public WeightSource {
 public:
  static Result<std::unique_ptr<WeightSource>> open(const std::string& path) {
    TN_ASSIGN_OR_RETURN(auto npz, wire::NpzFile::open(path));
    npz.set_budget(std::make_shared<MemoryBudget>(machine_memory() / 4 * 3));
    std::map<std::string, Description> arrays;
    for (const std::string& name : npz.names()) {
      // Whoever wants an array that cannot be read is told why; the others do not mind.
      auto array = npz.describe(name, kUnnamed);
      arrays.emplace(name, array.ok() ? Description{array->dtype, array->dims} : Description{});
    }
    return std::unique_ptr<WeightSource>(new NpzSource(path, std::move(npz), std::move(arrays)));
  }

  std::string where() const override { return path_; }
  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const auto& [name, description] : arrays_) all.push_back(name);
    return all;
  }
  std::optional<Description> find(const std::string& name) const override {
    const auto it = arrays_.find(name);
    return it == arrays_.end() ? std::nullopt : std::optional(it->second);
  }
  Result<Tensor> read(const std::string& name) const override {
    auto tensor = npz_.read(name, kUnnamed);
    if (tensor.ok()) return tensor;
    return std::move(tensor).status().in(path_);
  }
  std::optional<FilePlace> place(const std::string& name) const override {
    const auto found = npz_.place(name);
    return found ? std::optional(FilePlace{file_name_of(path_), found->first, found->second, true}) : std::nullopt;
  }

 private:
  // The one type of two bytes that NumPy has no name for.
  static constexpr DType kUnnamed = DType::BFloat16;

  NpzSource(std::string path, wire::NpzFile npz, std::map<std::string, Description> arrays)
      : path_(std::move(path)), npz_(std::move(npz)), arrays_(std::move(arrays)) {}

  std::string path_;
  wire::NpzFile npz_;
  std::map<std::string, Description> arrays_;
};

// A safetensors file begins with the length of a header that begins with a brace.
bool looks_like_safetensors(std::string_view bytes) { return bytes.size() > 8 && bytes[7] == 0 && bytes[8] == '{'; }

}  // namespace

std::unique_ptr<WeightSource> weights_in_memory(std::map<std::string, Tensor> tensors, bool lasting) {
  return std::make_unique<MemorySource>(std::move(tensors), lasting);
}

Result<std::unique_ptr<WeightSource>> weights_in_folder(const std::string& folder,
                                                        std::map<std::string, FileRegion> layout) {
  return FolderSource::open(folder, std::move(layout));
}

Result<std::unique_ptr<WeightSource>> open_weight_source(const std::string& path) {
  TN_ASSIGN_OR_RETURN(const auto mapped, MappedFile::open(path));
  const std::string_view bytes = mapped->view();
  if (bytes.empty()) return invalid_argument("'{}' is empty", path);
  if (bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6")) return NpzSource::open(path);
  if (looks_like_safetensors(bytes)) {
    TN_ASSIGN_OR_RETURN(auto file, wire::SafetensorsFile::open(path));
    return std::unique_ptr<WeightSource>(std::make_unique<SafetensorsSource>(path, std::move(file)));
  }
  return open_model_weights(path);
}

}  // namespace tenon
