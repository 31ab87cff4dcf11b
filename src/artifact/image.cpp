#include "artifact/image.h"

namespace tenon {

namespace {

std::shared_ptr<const SourceBytes> source_bytes(const std::shared_ptr<const Image>& image, int32_t index) {
  const SourceRecord& record = image->contents().sources[static_cast<size_t>(index)];
  if (record.place == SourceRecord::Place::Absent) return nullptr;
  const auto load = [image, index] { return image->source(static_cast<size_t>(index)); };
  return std::make_shared<SourceBytes>(SourceBytes{{}, load, record.content});
}

// Numbers records in the order of first use.
class Renumbering {
 public:
  explicit Renumbering(size_t count) : numbers_(count, -1) {}
  void use(std::vector<int32_t>& ids) {
    for (int32_t& id : ids) use(id);
  }
  void use(int32_t& id) {
    if (id < 0) return;
    int32_t& number = numbers_[static_cast<size_t>(id)];
    if (number < 0) {
      number = static_cast<int32_t>(from_.size());
      from_.push_back(static_cast<size_t>(id));
    }
    id = number;
  }
  const std::vector<size_t>& from() const { return from_; }

 private:
  std::vector<int32_t> numbers_;
  std::vector<size_t> from_;
};

}  // namespace

Status not_kept(const SourceRecord& record) {
  return error(Code::NotFound, "the values of the source '{}' were not kept", record.info.name);
}

void set_file_place(SourceRecord& record, const FilePlace& place) {
  record.file = place.file;
  record.file_offset = place.offset;
  record.file_bytes = place.bytes;
  record.file_has_names = place.has_names;
}

std::shared_ptr<const SourceLayout> source_layout(const ArtifactContents& contents, const ModelRecord& model) {
  auto layout = std::make_shared<SourceLayout>();
  for (const int32_t id : model.sources) {
    const SourceRecord& record = contents.sources[static_cast<size_t>(id)];
    if (record.file.empty() || record.info.name.empty()) continue;
    (*layout)[record.info.name] = {{record.info.dtype, record.info.dims, true},
                                   {record.file, record.file_offset, record.file_bytes, record.file_has_names}};
  }
  return layout;
}

Result<std::shared_ptr<const WeightSnapshot>> image_weights(const std::shared_ptr<const Image>& image, size_t model) {
  const ModelRecord& record = image->contents().models[model];
  auto snapshot = std::make_shared<WeightSnapshot>();
  for (const int32_t index : record.slots) {
    Tensor tensor;
    if (index >= 0) {
      TN_ASSIGN_OR_RETURN(tensor, image->packed(static_cast<size_t>(index)));
    }
    snapshot->slots.push_back(std::move(tensor));
  }
  for (const int32_t index : record.sources) snapshot->sources.push_back(source_bytes(image, index));
  snapshot->layout = source_layout(image->contents(), record);
  return std::shared_ptr<const WeightSnapshot>(std::move(snapshot));
}

SelectedContents select_models(const ArtifactContents& contents, const std::vector<size_t>& models) {
  SelectedContents selected;
  selected.contents.made_by = contents.made_by;
  Renumbering packed(contents.packed.size()), sources(contents.sources.size());
  for (const size_t m : models) {
    ModelRecord record = contents.models[m];
    packed.use(record.slots);
    sources.use(record.sources);
    selected.contents.models.push_back(std::move(record));
  }
  for (size_t i = 0; i < sources.from().size(); ++i) {
    SourceRecord record = contents.sources[sources.from()[i]];
    packed.use(record.packed);
    selected.contents.sources.push_back(std::move(record));
  }
  for (const size_t i : packed.from()) {
    selected.contents.packed.push_back(contents.packed[i]);
    selected.contents.packed.back().users.clear();
  }
  selected.packed_from = packed.from();
  selected.sources_from = sources.from();
  return selected;
}

}  // namespace tenon
