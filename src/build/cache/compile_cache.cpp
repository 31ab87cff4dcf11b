#include "build/cache/compile_cache.h"

#include <algorithm>

#include "artifact/joined_image.h"
#include "artifact/write_image.h"
#include "base/build_id.h"
#include "base/file_clone.h"
#include "base/folder.h"
#include "base/temporaries.h"
#include "build/cache/small_file.h"

namespace tenon::build {

namespace {

// A model in the cache: its records in one file, its packed weights in another.
class CachedImage final : public Image {
 public:
  CachedImage(std::shared_ptr<const WeightsFile> records, std::shared_ptr<const WeightsFile> weights)
      : records_(std::move(records)), weights_(std::move(weights)) {}

  std::string where() const override { return records_->name(); }
  const ArtifactContents& contents() const override { return records_->contents(); }
  Result<Tensor> packed(size_t index) const override { return records_->packed(index, finder()); }
  Result<Tensor> source(size_t index) const override { return records_->source(index, finder()); }
  // A cache has models for what they compute, not for what their files said besides.
  const wire::Model& face(size_t) const override { return face_; }
  std::string source_file(size_t) const override { return ""; }
  Recompile recompile(size_t) const override { return nullptr; }

 private:
  FindWeightsFile finder() const {
    return [this](const Hash128&) -> Result<std::shared_ptr<const WeightsFile>> { return weights_; };
  }

  std::shared_ptr<const WeightsFile> records_, weights_;
  wire::Model face_;
};

std::optional<Hash128> weights_in(const Json& entry) { return Hash128::from_hex(text_in(entry, "weights")); }

// A file that gets its name when it is whole.
template <class Fill>
Status make_file(const std::string& path, Fill&& fill) {
  TN_ASSIGN_OR_RETURN(const FileHandle folder, open_folder(folder_of(path)));
  FileHandle unused;
  TN_ASSIGN_OR_RETURN(const auto name, TemporaryName::make_file(folder, unused));
  const std::string temporary = folder_of(path) + "/" + name->name();
  // Whoever fills it makes it anew.
  TN_RETURN_IF_ERROR(remove_file(temporary));
  Status status = fill(temporary);
  if (status.ok()) status = rename_file(temporary, path);
  if (!status.ok()) (void)remove_file(temporary).ok();
  return status;
}

Status write_records(const Image& image, const std::string& path, bool only_changes) {
  return make_file(path, [&](const std::string& temporary) -> Status {
    TN_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(temporary));
    TN_RETURN_IF_ERROR(write_image(image, sink, {true, only_changes}).status());
    return sink.finish();
  });
}

}  // namespace

Result<std::unique_ptr<CompileCache>> CompileCache::open(const CacheOptions& options) {
  TN_ASSIGN_OR_RETURN(std::string folder, make_cache_folder(options));
  return std::unique_ptr<CompileCache>(new CompileCache(std::move(folder), options));
}

std::optional<CompileCache::FoundModel> CompileCache::find(const Hash128& key) {
  if (!options_.finds) return std::nullopt;
  const Json entry = read_small_json(path(key, "json"));
  const auto id = weights_in(entry);
  auto weights = id ? weights_.find(*id) : nullptr;
  if (!weights) return std::nullopt;
  auto records = WeightsFile::open(path(key, "model"), {true, true, family_facts});
  if (!records.ok() || (*records)->contents().models.size() != 1) return std::nullopt;
  for (const PackedRecord& record : (*records)->contents().packed)
    if (record.file != *id) return std::nullopt;
  weights_.touch(*id);
  return FoundModel{std::make_shared<CachedImage>(std::move(*records), std::move(weights)),
                    text_in(entry, "validation")};
}

std::string CompileCache::find_group(const Hash128& key) {
  if (!options_.finds) return "";
  const auto id = weights_in(read_small_json(path(key, "group")));
  return id && weights_.find(*id) ? weights_.path(*id) : "";
}

Status CompileCache::keep(const GroupToKeep& group) {
  const bool is_known_group = !find_group(group.key).empty();
  const auto is_new = [](const ModelToKeep& model) { return !model.is_known; };
  TN_ASSIGN_OR_RETURN(const FileLock lock, FileLock::wait(folder_));
  remove_cache_leftovers(folder_);
  if (!is_known_group || std::ranges::any_of(group.models, is_new)) TN_RETURN_IF_ERROR(add(group));
  for (const ModelToKeep& model : group.models)
    if (model.is_known && !model.validation.empty()) TN_RETURN_IF_ERROR(note(model));
  trim_cache(folder_, cache_limit(options_.most_bytes, free_bytes_at(folder_)));
  return {};
}

Status CompileCache::add(const GroupToKeep& group) {
  if (image_bytes(*group.image) > cache_limit(options_.most_bytes, free_bytes_at(folder_))) return {};
  TN_ASSIGN_OR_RETURN(const auto weights, add_weights(group));
  const Hash128 id = weights->content_id();
  TN_RETURN_IF_ERROR(write_small_json(path(id, "seen"), Json::object()));
  for (const ModelToKeep& model : group.models) {
    if (model.is_known) continue;
    TN_RETURN_IF_ERROR(
        write_records(*place_in_file(model.image, id, weights->contents()), path(model.key, "model"), true));
    TN_RETURN_IF_ERROR(
        write_small_json(path(model.key, "json"), {{"weights", id.hex()}, {"validation", model.validation}}));
  }
  return write_small_json(path(group.key, "group"), {{"weights", id.hex()}});
}

// The group's own weights file is whole and durable, so that a link to it is as good as a copy.
Result<std::shared_ptr<const WeightsFile>> CompileCache::add_weights(const GroupToKeep& group) {
  const WeightsFileOptions options{true, false, family_facts};
  std::string from = group.weights_path;
  const std::string own = path(group.key, "bin");
  if (from.empty()) {
    TN_RETURN_IF_ERROR(write_records(*group.image, own, false));
    from = own;
  }
  TN_ASSIGN_OR_RETURN(auto weights, WeightsFile::open(from, options));
  const std::string to = weights_.path(weights->content_id());
  if (from == own) {
    TN_RETURN_IF_ERROR(rename_file(own, to));
  } else if (!exists(to)) {
    TN_RETURN_IF_ERROR(make_file(
        to, [&](const std::string& temporary) -> Status { return clone_or_link_file(from, temporary).status(); }));
  }
  return weights;
}

// How a model that was found was validated since.
Status CompileCache::note(const ModelToKeep& model) const {
  const std::string file = path(model.key, "json");
  Json entry = read_small_json(file);
  if (!entry.is_object() || text_in(entry, "validation") == model.validation) return {};
  entry["validation"] = model.validation;
  return write_small_json(file, entry);
}

std::string compile_version() {
  static const char here = 0;
  return fmt::format("{} {} {}", TENON_VERSION, build_id_at(&here), own_build_id());
}

}  // namespace tenon::build
