#include "weights/weight_source.h"

#include <sys/stat.h>

#include "base/file.h"
#include "weights/model_weights.h"
#include "wire/external_data.h"
#include "wire/npz.h"
#include "wire/onnx_tensor_storage.h"
#include "wire/safetensors.h"

namespace tenon {

namespace {

class MemorySource final : public WeightSource {
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
    const FileRegion& r = it->second;
    const auto elements = wire::count_elements(r.description.dtype, r.description.dims);
    if (!elements || storage_bytes(r.description.dtype, *elements) != r.bytes)
      return invalid_argument("{} bytes do not fit the tensor '{}'", r.bytes, name);
    TN_ASSIGN_OR_RETURN(const auto region, files_->read(r.file, r.offset, r.bytes));
    return wire::tensor_over_bytes({r.description.dtype, *elements, r.bytes}, r.description.dims, region.bytes,
                                   region.owner);
  }

 private:
  std::string folder_;
  std::shared_ptr<wire::FolderExternalData> files_;
  std::map<std::string, FileRegion> layout_;
};

Result<std::map<std::string, Tensor>> read_npz(const std::string& path) {
  TN_ASSIGN_OR_RETURN(const auto npz, wire::NpzFile::open(path));
  std::map<std::string, Tensor> tensors;
  for (const std::string& name : npz.names()) {
    TN_ASSIGN_OR_RETURN(Tensor tensor, npz.read(name));
    tensors.emplace(name, std::move(tensor));
  }
  return tensors;
}

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
  if (bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6")) {
    TN_ASSIGN_OR_RETURN(auto tensors, read_npz(path));
    return weights_in_memory(std::move(tensors), true);
  }
  if (looks_like_safetensors(bytes)) {
    TN_ASSIGN_OR_RETURN(auto file, wire::SafetensorsFile::open(path));
    return std::unique_ptr<WeightSource>(std::make_unique<SafetensorsSource>(path, std::move(file)));
  }
  return open_model_weights(path);
}

}  // namespace tenon
