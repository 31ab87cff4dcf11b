#include "artifact/joined_image.h"

#include <map>
#include <tuple>

#include "plan/fixed_sources.h"

namespace tenon {

namespace {

// A record of one of the images below.
struct Origin {
  size_t model = 0, index = 0;
};

class JoinedImage final : public Image {
 public:
  JoinedImage(std::vector<ModelToJoin> models, std::string weights_file)
      : models_(std::move(models)), weights_file_(std::move(weights_file)) {
    for (size_t m = 0; m < models_.size(); ++m) add_model(m);
    contents_.made_by = models_[0].image->contents().made_by;
  }

  std::string where() const override { return models_[0].image->where(); }
  const ArtifactContents& contents() const override { return contents_; }
  const wire::Model& face(size_t model) const override { return *models_[model].face; }
  std::string source_file(size_t model) const override { return models_[model].source_file; }
  std::string weights_file() const override { return weights_file_; }
  Recompile recompile(size_t model) const override { return models_[model].image->recompile(0); }
  double seconds_spent(size_t model) const override { return models_[model].image->seconds_spent(0); }
  Result<Tensor> packed(size_t index) const override {
    return models_[packed_[index].model].image->packed(packed_[index].index);
  }
  Result<Tensor> source(size_t index) const override {
    return models_[sources_[index].model].image->source(sources_[index].index);
  }
  Status verify_bytes() const override {
    for (const ModelToJoin& model : models_) TN_RETURN_IF_ERROR(model.image->verify_bytes());
    return {};
  }

 private:
  void add_model(size_t m) {
    const ArtifactContents& from = models_[m].image->contents();
    std::vector<int32_t> packed;
    for (size_t i = 0; i < from.packed.size(); ++i) packed.push_back(add_packed(from.packed[i], {m, i}));
    ModelRecord record = from.models[0];
    record.name = models_[m].name;
    for (int32_t& slot : record.slots)
      if (slot >= 0) slot = packed[static_cast<size_t>(slot)];
    const std::vector<bool> fixed = fixed_sources(*record.program);
    for (size_t i = 0; i < record.sources.size(); ++i) {
      const auto index = static_cast<size_t>(record.sources[i]);
      record.sources[i] = add_source(from.sources[index], packed, fixed[i], {m, index});
    }
    contents_.models.push_back(std::move(record));
  }

  int32_t add_packed(PackedRecord record, const Origin& origin) {
    const auto [it, is_new] = packed_by_key_.emplace(record.key, static_cast<int32_t>(contents_.packed.size()));
    if (!is_new) {
      Origin& known = packed_[static_cast<size_t>(it->second)];
      if (models_[origin.model].is_stored && !models_[known.model].is_stored) known = origin;
      return it->second;
    }
    record.file = {};
    record.offset = record.bytes = 0;
    record.users.clear();
    contents_.packed.push_back(std::move(record));
    packed_.push_back(origin);
    return it->second;
  }

  // One model may pack a source that another one uses as it is; for both it lies there then.
  int32_t add_source(SourceRecord record, const std::vector<int32_t>& packed, bool fixed, const Origin& origin) {
    using Place = SourceRecord::Place;
    const bool is_packed = record.place == Place::Packed;
    const auto key = std::make_tuple(record.info.name, record.info.dtype, record.info.dims, record.content, fixed,
                                     record.info.expected, record.file, record.file_offset);
    if (is_packed) record.packed = packed[static_cast<size_t>(record.packed)];
    record.offset = record.bytes = 0;
    const auto [it, is_new] = sources_by_key_.emplace(key, static_cast<int32_t>(contents_.sources.size()));
    const auto index = static_cast<size_t>(it->second);
    if (is_new) {
      contents_.sources.push_back(std::move(record));
      sources_.push_back(origin);
    } else if (is_packed && contents_.sources[index].place != Place::Packed) {
      contents_.sources[index] = std::move(record);
      sources_[index] = origin;
    }
    return it->second;
  }

  std::vector<ModelToJoin> models_;
  std::string weights_file_;
  ArtifactContents contents_;
  std::vector<Origin> packed_, sources_;
  std::map<Hash128, int32_t> packed_by_key_;
  std::map<std::tuple<std::string, DType, std::vector<int64_t>, Hash128, bool, bool, std::string, int64_t>, int32_t>
      sources_by_key_;
};

class PlacedImage final : public Image {
 public:
  PlacedImage(std::shared_ptr<const Image> image, const Hash128& file, const ArtifactContents& contents_of_file)
      : image_(std::move(image)), contents_(image_->contents()) {
    std::map<Hash128, const PackedRecord*> by_key;
    for (const PackedRecord& record : contents_of_file.packed) by_key.emplace(record.key, &record);
    for (PackedRecord& record : contents_.packed) {
      const auto found = by_key.find(record.key);
      places_.push_back({});
      if (found == by_key.end()) continue;
      places_.back() = {file, found->second->offset};
      record.content = found->second->content;
      record.bytes = found->second->bytes;
    }
  }

  std::string where() const override { return image_->where(); }
  const ArtifactContents& contents() const override { return contents_; }
  Result<Tensor> packed(size_t index) const override { return image_->packed(index); }
  Result<Tensor> source(size_t index) const override { return image_->source(index); }
  const wire::Model& face(size_t model) const override { return image_->face(model); }
  std::string source_file(size_t model) const override { return image_->source_file(model); }
  Recompile recompile(size_t model) const override { return image_->recompile(model); }
  Place place(size_t index) const override { return places_[index]; }

 private:
  std::shared_ptr<const Image> image_;
  ArtifactContents contents_;
  std::vector<Place> places_;
};

}  // namespace

std::shared_ptr<const Image> join_images(std::vector<ModelToJoin> models, std::string weights_file) {
  return std::make_shared<JoinedImage>(std::move(models), std::move(weights_file));
}

std::shared_ptr<const Image> place_in_file(std::shared_ptr<const Image> image, const Hash128& file,
                                           const ArtifactContents& contents_of_file) {
  return std::make_shared<PlacedImage>(std::move(image), file, contents_of_file);
}

}  // namespace tenon
