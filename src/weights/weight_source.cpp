#include "weights/weight_source.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/folder.h"
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
    if (it == tensors_.end()) return error(Code::NotFound, "there is no tensor '{}'", name);
    return it->second;
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
    return entry ? std::optional(FilePlace{file_name_of(path_), entry->offset, entry->bytes}) : std::nullopt;
  }

 private:
  std::string path_;
  wire::SafetensorsFile file_;
};

class FolderSource final : public WeightSource {
 public:
  FolderSource(std::string folder, std::shared_ptr<wire::FolderExternalData> files,
               std::map<std::string, FileRegion> layout)
      : folder_(std::move(folder)), files_(std::move(files)), layout_(std::move(layout)) {}

  std::string where() const override { return folder_; }
  std::vector<std::string> names() const override {
    std::vector<std::string> result;
    for (const auto& [name, region] : layout_) result.push_back(name);
    return result;
  }
  std::optional<Description> find(const std::string& name) const override {
    const auto it = layout_.find(name);
    return it == layout_.end() ? std::nullopt : std::optional(it->second.description);
  }
  Result<Tensor> read(const std::string& name) const override {
    const auto it = layout_.find(name);
    if (it == layout_.end()) return error(Code::NotFound, "nothing is known of a tensor '{}'", name);
    const auto& [description, place] = it->second;
    if (description.dtype == DType::String)
      return invalid_argument("the tensor '{}' holds strings, which do not lie in files as they are", name);
    const auto elements = wire::count_elements(description.dtype, description.dims);
    if (!elements || storage_bytes(description.dtype, *elements) != place.bytes)
      return invalid_argument("{} bytes do not fit the tensor '{}'", place.bytes, name);
    TN_ASSIGN_OR_RETURN(const auto region, files_->read(place.file, place.offset, place.bytes));
    return wire::tensor_over_bytes({description.dtype, *elements, place.bytes}, description.dims, region.bytes,
                                   region.owner);
  }
  std::optional<FilePlace> place(const std::string& name) const override {
    const auto it = layout_.find(name);
    return it == layout_.end() ? std::nullopt : std::optional(it->second.place);
  }

 private:
  std::string folder_;
  std::shared_ptr<wire::FolderExternalData> files_;
  std::map<std::string, FileRegion> layout_;
};

// What an array is stands in its own header, so all of them are read at once.
class NpzSource final : public MemorySource {
 public:
  static Result<std::unique_ptr<WeightSource>> open(const std::string& path) {
    TN_ASSIGN_OR_RETURN(auto npz, wire::NpzFile::open(path));
    std::map<std::string, Tensor> tensors;
    for (const std::string& name : npz.names()) {
      auto tensor = npz.read(name);
      if (!tensor.ok()) return std::move(tensor).status().in(path);
      tensors.emplace(name, std::move(*tensor));
    }
    return std::unique_ptr<WeightSource>(new NpzSource(path, std::move(npz), std::move(tensors)));
  }

  std::string where() const override { return path_; }
  std::optional<FilePlace> place(const std::string& name) const override {
    const auto found = npz_.place(name);
    return found ? std::optional(FilePlace{file_name_of(path_), found->first, found->second}) : std::nullopt;
  }

 private:
  NpzSource(std::string path, wire::NpzFile npz, std::map<std::string, Tensor> tensors)
      : MemorySource(std::move(tensors), true), path_(std::move(path)), npz_(std::move(npz)) {}

  std::string path_;
  wire::NpzFile npz_;
};

// A safetensors file begins with the length of a header that begins with a brace.
bool looks_like_safetensors(std::string_view bytes) { return bytes.size() > 8 && bytes[7] == 0 && bytes[8] == '{'; }

}  // namespace

std::unique_ptr<WeightSource> weights_in_memory(std::map<std::string, Tensor> tensors, bool lasting) {
  return std::make_unique<MemorySource>(std::move(tensors), lasting);
}

Result<std::unique_ptr<WeightSource>> weights_in_folder(const std::string& folder,
                                                        std::map<std::string, FileRegion> layout) {
  TN_ASSIGN_OR_RETURN(auto files, wire::FolderExternalData::in_folder(folder));
  return std::unique_ptr<WeightSource>(std::make_unique<FolderSource>(folder, std::move(files), std::move(layout)));
}

Result<std::unique_ptr<WeightSource>> open_weight_source(const std::string& path) {
  TN_ASSIGN_OR_RETURN(const auto mapped, MappedFile::open(path));
  const std::string_view bytes = mapped->view();
  if (bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6")) return NpzSource::open(path);
  if (looks_like_safetensors(bytes)) {
    TN_ASSIGN_OR_RETURN(auto file, wire::SafetensorsFile::open(path));
    return std::unique_ptr<WeightSource>(std::make_unique<SafetensorsSource>(path, std::move(file)));
  }
  return open_model_weights(path);
}

}  // namespace tenon
