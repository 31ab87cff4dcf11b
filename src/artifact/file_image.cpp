#include "artifact/file_image.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "artifact/source_model.h"
#include "artifact/weights_files.h"
#include "base/confined_folders.h"
#include "base/folder.h"
#include "plan/context_model.h"
#include "plan/tensor_bytes.h"
#include "plan/weights_file.h"
#include "swap/weight_program.h"
#include "wire/external_data.h"
#include "wire/onnx_tensor_storage.h"

namespace tenon {

namespace {

// A context model that was read, with what keeps its strings alive.
struct Face {
  std::string path;    // empty: from memory
  std::string folder;  // of its weights file; empty: they must be inside
  std::shared_ptr<const void> owner;
  wire::Model model;
  ContextNode context;
};

Result<Face> read_face(std::string_view bytes, std::shared_ptr<const void> owner, std::string path,
                       std::string folder) {
  Face face;
  face.path = std::move(path);
  face.folder = std::move(folder);
  face.owner = std::move(owner);
  TN_ASSIGN_OR_RETURN(face.model, wire::parse_model(bytes, {}));
  TN_ASSIGN_OR_RETURN(face.context, read_context_model(face.model));
  return face;
}

// The other weights files that a baked one refers to, each opened once. Thread-safe.
class OtherFiles {
 public:
  // `path` as for ConfinedFolders::around, or "": only the folder itself.
  OtherFiles(std::string path, std::string folder, WeightsFileOptions options)
      : path_(std::move(path)), folder_(std::move(folder)), options_(std::move(options)) {}

  Result<std::shared_ptr<const WeightsFile>> find(const Hash128& id) {
    const std::lock_guard lock(mutex_);
    for (const auto& known : opened_)
      if (known->content_id() == id) return known;
    TN_ASSIGN_OR_RETURN(const auto folders,
                        path_.empty() ? ConfinedFolders::at(folder_) : ConfinedFolders::around(path_));
    TN_ASSIGN_OR_RETURN(auto found, find_weights_file(folders, folder_, id, options_));
    opened_.push_back(found);
    return found;
  }

 private:
  std::string path_, folder_;
  WeightsFileOptions options_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const WeightsFile>> opened_;
};

class FileImage final : public Image {
 public:
  FileImage(std::string where, std::vector<Face> faces, std::shared_ptr<const WeightsFile> file,
            const std::string& folder, const OpenOptions& options)
      : where_(std::move(where)), faces_(std::move(faces)), file_(std::move(file)),
        others_(faces_[0].path, folder, {options.map, options.verify_weights, family_facts}), folders_{folder} {
    folders_.insert(folders_.end(), options.source_dirs.begin(), options.source_dirs.end());
  }

  Status select() {
    std::vector<size_t> models;
    for (const Face& face : faces_) {
      auto model = file_->find_model(face.context.plan_key, face.context.model_name);
      if (!model.ok()) return std::move(model).status().in(face.path);
      TN_RETURN_IF_ERROR(check_signature(face.model, file_->contents().models[*model].program->plan).in(face.path));
      models.push_back(*model);
    }
    selected_ = select_models(file_->contents(), models);
    return {};
  }

  std::string where() const override { return where_; }
  const ArtifactContents& contents() const override { return selected_.contents; }
  const wire::Model& face(size_t model) const override { return faces_[model].model; }
  std::string source_file(size_t model) const override { return std::string(faces_[model].context.source_model); }

  Recompile recompile(size_t model) const override {
    return recompile_source_model({source_file(model), selected_.contents.models[model], folders_});
  }

  Result<Tensor> packed(size_t index) const override {
    return file_->packed(selected_.packed_from[index], [this](const Hash128& id) { return others_.find(id); });
  }
  Place place(size_t index) const override {
    const PackedRecord& record = selected_.contents.packed[index];
    return {record.file == Hash128() ? file_->content_id() : record.file, record.offset};
  }

  Result<Tensor> source(size_t index) const override {
    const SourceRecord& record = selected_.contents.sources[index];
    if (record.place == SourceRecord::Place::Packed) return packed(static_cast<size_t>(record.packed));
    if (record.place == SourceRecord::Place::Embedded) return file_->source(selected_.sources_from[index]);
    if (record.place == SourceRecord::Place::Absent)
      return error(Code::NotFound, "the compiled model {} was made without the source '{}'", where_, record.info.name);
    return from_file(record);
  }

  Status verify_bytes() const override {
    return file_->verify([this](const Hash128& id) { return others_.find(id); });
  }

 private:
  // Looks beside the artifact and in the folders that the caller named, for bytes with the right hash.
  Result<Tensor> from_file(const SourceRecord& record) const {
    std::string reasons;
    for (const std::string& folder : folders_) {
      auto tensor = from_folder(folder, record);
      if (tensor.ok()) return tensor;
      reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", tensor.status().to_string());
    }
    return error(Code::NotFound, "the source '{}' was not found: {}", record.info.name, reasons);
  }
  Result<Tensor> from_folder(const std::string& folder, const SourceRecord& record) const {
    TN_ASSIGN_OR_RETURN(auto files, source_files(folder, record.file));
    TN_ASSIGN_OR_RETURN(auto region, files->read(record.file, record.file_offset, record.file_bytes));
    // A copy: elements must be aligned and booleans 0 or 1, which the bytes of somebody's file need not be.
    const auto elements = wire::count_elements(record.info.dtype, record.info.dims);
    if (!elements || storage_bytes(record.info.dtype, *elements) != static_cast<int64_t>(region.bytes.size()))
      return invalid_model("{} bytes do not match the type and shape of '{}'", region.bytes.size(), record.info.name);
    TN_ASSIGN_OR_RETURN(Tensor tensor, wire::tensor_over_bytes({record.info.dtype, *elements, record.file_bytes},
                                                               record.info.dims, region.bytes, nullptr));
    if (content_hash(tensor) != record.content)
      return invalid_argument("'{}/{}' has changed since the model was compiled", folder, record.file);
    return tensor;
  }

  // Opened once. The file itself may be a link to a folder of blobs, as a model may; what a longer name leads to must
  // be in the folder.
  Result<std::shared_ptr<wire::FolderExternalData>> source_files(const std::string& folder,
                                                                 const std::string& file) const {
    std::lock_guard lock(source_files_mutex_);
    auto& known = source_files_[{folder, file}];
    if (!known) {
      const bool is_plain = file.find('/') == std::string::npos;
      TN_ASSIGN_OR_RETURN(known, is_plain ? wire::FolderExternalData::of_model(folder + "/" + file)
                                          : wire::FolderExternalData::in_folder(folder));
    }
    return known;
  }

  std::string where_;
  std::vector<Face> faces_;
  std::shared_ptr<const WeightsFile> file_;
  mutable OtherFiles others_;
  mutable std::mutex source_files_mutex_;
  mutable std::map<std::pair<std::string, std::string>, std::shared_ptr<wire::FolderExternalData>> source_files_;
  std::vector<std::string> folders_;
  SelectedContents selected_;
};

WeightsFileOptions artifact_options(const OpenOptions& options) {
  return {options.map, options.verify_weights, family_facts};
}

Result<std::shared_ptr<const WeightsFile>> open_weights(const Face& face, const OpenOptions& options) {
  if (face.context.embedded)
    return WeightsFile::from_memory(face.context.payload, face.owner, face.path.empty() ? "memory" : face.path,
                                    artifact_options(options));
  TN_ASSIGN_OR_RETURN(const auto folders,
                      face.path.empty() ? ConfinedFolders::at(face.folder) : ConfinedFolders::around(face.path));
  auto file = folders.open(face.context.file_name);
  if (!file.ok()) return std::move(file).status().in(fmt::format("the weights file '{}'", face.context.file_name));
  TN_ASSIGN_OR_RETURN(auto weights, WeightsFile::open(*file, face.folder + "/" + std::string(face.context.file_name),
                                                      artifact_options(options)));
  if (weights->content_id() != face.context.content_id)
    return error(Code::Incompatible,
                 "the weights file '{}' is not the one the model was compiled with; compile the model again",
                 face.context.file_name);
  return weights;
}

Result<std::shared_ptr<const Image>> make_image(std::vector<Face> faces, std::shared_ptr<const WeightsFile> weights,
                                                const std::string& folder, const OpenOptions& options) {
  std::string where = faces[0].path.empty() ? "memory" : faces[0].path;
  auto image = std::make_shared<FileImage>(std::move(where), std::move(faces), std::move(weights), folder, options);
  TN_RETURN_IF_ERROR(image->select());
  return std::shared_ptr<const Image>(std::move(image));
}

Result<Face> open_face(const std::string& path, const OpenOptions& options) {
  std::shared_ptr<const void> owner;
  std::string_view bytes;
  if (options.map) {
    TN_ASSIGN_OR_RETURN(const auto file, MappedFile::open(path));
    bytes = file->view();
    owner = file;
  } else {
    TN_ASSIGN_OR_RETURN(const auto copy, read_whole_file(path));
    bytes = {reinterpret_cast<const char*>(copy->data()), static_cast<size_t>(copy->size())};
    owner = copy;
  }
  auto face = read_face(bytes, std::move(owner), path, folder_of(path));
  if (face.ok()) return face;
  return std::move(face).status().in(path);
}

Result<std::shared_ptr<const Image>> open_files(const std::vector<std::string>& paths, const OpenOptions& options) {
  std::vector<Face> faces;
  for (const std::string& path : paths) {
    TN_ASSIGN_OR_RETURN(Face face, open_face(path, options));
    if (!faces.empty() && face.context.content_id != faces[0].context.content_id)
      return invalid_argument("{} and {} do not share a weights file", faces[0].path, path);
    faces.push_back(std::move(face));
  }
  auto weights = open_weights(faces[0], options);
  if (!weights.ok()) return std::move(weights).status().in(paths[0]);
  return make_image(std::move(faces), std::move(*weights), folder_of(paths[0]), options);
}

}  // namespace

Result<std::shared_ptr<const Image>> open_image(const std::vector<std::string>& paths, const OpenOptions& options) {
  if (paths.empty()) return invalid_argument("no context model is given");
  auto image = open_files(paths, options);
  // A new group may have taken the place of the one whose context was just read, and its weights file with it.
  if (!image.ok() && image.status().code() == Code::NotFound) return open_files(paths, options);
  return image;
}

Result<std::shared_ptr<const Image>> open_image_in_memory(std::string_view bytes, std::shared_ptr<const void> owner,
                                                          const std::string& folder, const OpenOptions& options) {
  TN_ASSIGN_OR_RETURN(Face face, read_face(bytes, std::move(owner), "", folder));
  if (!face.context.embedded && folder.empty())
    return invalid_argument("the weights are in the file '{}'; name the folder that contains it",
                            face.context.file_name);
  TN_ASSIGN_OR_RETURN(auto weights, open_weights(face, options));
  std::vector<Face> faces;
  faces.push_back(std::move(face));
  return make_image(std::move(faces), std::move(weights), folder, options);
}

Result<bool> is_context_file(const std::string& path) {
  TN_ASSIGN_OR_RETURN(auto file, MappedFile::open(path));
  auto model = wire::parse_model(file->view(), {});
  if (!model.ok()) return std::move(model).status().in(path);
  return is_context_model(*model);
}

}  // namespace tenon
