#include "runtime/bake.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "plan/keys.h"
#include "plan/tensor_bytes.h"

namespace tenon {

namespace {

// An image over another one, with some tensors of its own.
class ChangedImage final : public Image {
 public:
  explicit ChangedImage(std::shared_ptr<const Image> base) : base_(std::move(base)) {}

  std::string where() const override { return base_->where(); }
  const ArtifactContents& contents() const override { return contents_; }
  const wire::Model& face(size_t model) const override { return base_->face(model); }
  std::string source_file(size_t model) const override { return base_->source_file(model); }
  Result<Tensor> packed(size_t index) const override {
    const Origin& origin = packed_[index];
    return origin.base ? base_->packed(*origin.base) : Result<Tensor>(origin.tensor);
  }
  Result<Tensor> source(size_t index) const override {
    const SourceRecord& record = contents_.sources[index];
    if (record.place == SourceRecord::Place::Packed) return packed(static_cast<size_t>(record.packed));
    const Origin& origin = sources_[index];
    if (origin.base) return base_->source(*origin.base);
    if (origin.tensor.defined()) return origin.tensor;
    return error(Code::NotFound, "the bytes of the source '{}' were not kept", record.info.name);
  }
  Place place(size_t index) const override {
    return packed_[index].base ? base_->place(*packed_[index].base) : Place{};
  }

  // Records are shared by key, as in the image below.
  int32_t add_packed(PackedRecord record, std::optional<size_t> base, Tensor tensor) {
    const auto [it, is_new] = by_key_.emplace(record.key, static_cast<int32_t>(contents_.packed.size()));
    if (!is_new) return it->second;
    record.users.clear();
    contents_.packed.push_back(std::move(record));
    packed_.push_back({base, std::move(tensor)});
    return it->second;
  }
  int32_t add_source(SourceRecord record, std::optional<size_t> base, Tensor tensor) {
    contents_.sources.push_back(std::move(record));
    sources_.push_back({base, std::move(tensor)});
    return static_cast<int32_t>(contents_.sources.size() - 1);
  }
  ArtifactContents& editable() { return contents_; }

 private:
  struct Origin {
    std::optional<size_t> base;  // in the image below, or
    Tensor tensor;
  };
  std::shared_ptr<const Image> base_;
  ArtifactContents contents_;
  std::vector<Origin> packed_, sources_;
  std::map<Hash128, int32_t> by_key_;
};

// Makes one model of a changed image from that of the image below and a snapshot.
class ModelBaker {
 public:
  ModelBaker(ChangedImage& result, const Image& base, const ModelRecord& model, const WeightSnapshot& before,
             const WeightSnapshot& after, const WeightSource& source)
      : result_(result), base_(base), model_(model), before_(before), after_(after), source_(source) {}

  Status bake(const std::vector<bool>& changed, std::map<std::pair<int32_t, Hash128>, int32_t>& known_sources) {
    const Program& program = *model_.program;
    ModelRecord record = model_;
    std::vector<Hash128> hashes;
    std::vector<Tensor> tensors(program.sources.size());
    for (size_t i = 0; i < program.sources.size(); ++i) {
      hashes.push_back(base_source(i).content);
      if (!changed[i]) continue;
      TN_ASSIGN_OR_RETURN(tensors[i], after_.sources[i]->value());
      hashes[i] = content_hash(tensors[i]);
    }
    for (size_t slot = 0; slot < record.slots.size(); ++slot) record.slots[slot] = add_slot(slot, hashes);
    for (size_t i = 0; i < record.sources.size(); ++i) {
      const auto [it, is_new] = known_sources.emplace(std::pair(model_.sources[i], hashes[i]), -1);
      if (is_new) it->second = add_source(i, hashes[i], changed[i] ? tensors[i] : Tensor(), record);
      record.sources[i] = it->second;
    }
    record.made_from = {};  // no compile of the source model would give this
    result_.editable().models.push_back(std::move(record));
    return {};
  }

 private:
  const SourceRecord& base_source(size_t i) const {
    return base_.contents().sources[static_cast<size_t>(model_.sources[i])];
  }

  int32_t add_slot(size_t slot, const std::vector<Hash128>& hashes) {
    const Tensor& tensor = after_.slots[slot];
    const int32_t old = model_.slots[slot];
    if (!tensor.defined()) return -1;
    if (old >= 0 && tensor.data() == before_.slots[slot].data())
      return result_.add_packed(base_.contents().packed[static_cast<size_t>(old)], static_cast<size_t>(old), {});
    const WeightEntry& entry = model_.program->weight_program[slot];
    PackedRecord record;
    record.key = packed_key(*model_.program, entry, hashes);
    record.dtype = tensor.dtype();
    record.dims = tensor.dims();
    record.layout = entry.layout;
    return result_.add_packed(std::move(record), std::nullopt, tensor);
  }

  // The new one is kept as the old one was: inside, or as the name of a file that has it.
  int32_t add_source(size_t i, const Hash128& content, Tensor tensor, const ModelRecord& record) {
    SourceRecord source = base_source(i);
    const bool is_new = tensor.defined();
    source.content = content;
    source.packed = -1;
    for (size_t slot = 0; slot < record.slots.size(); ++slot) {
      const WeightEntry& entry = model_.program->weight_program[slot];
      if (!entry.expression && entry.sources[0] == static_cast<int32_t>(i)) source.packed = record.slots[slot];
    }
    if (source.packed >= 0) source.place = SourceRecord::Place::Packed;
    if (is_new) refer_to_file(source);
    source.offset = source.bytes = 0;
    const auto base = static_cast<size_t>(model_.sources[i]);
    return result_.add_source(std::move(source), is_new ? std::nullopt : std::optional(base), std::move(tensor));
  }

  void refer_to_file(SourceRecord& source) const {
    const auto place = source_.place(source.info.name);
    if (source.place == SourceRecord::Place::InFile && !place) source.place = SourceRecord::Place::Absent;
    // The layout stays known where the new elements lie in no file.
    if (place)
      std::tie(source.file, source.file_offset, source.file_bytes) = std::tie(place->file, place->offset, place->bytes);
  }

  ChangedImage& result_;
  const Image& base_;
  const ModelRecord& model_;
  const WeightSnapshot& before_;
  const WeightSnapshot& after_;
  const WeightSource& source_;
};

std::vector<bool> changed_sources(const Program& program, const SwapReport& report) {
  std::vector<bool> changed;
  for (const SourceInfo& source : program.sources)
    changed.push_back(!source.name.empty() && std::ranges::find(report.replaced, source.name) != report.replaced.end());
  return changed;
}

// Everything that is wrong with the new weights, for all models at once.
Status check_all(const std::shared_ptr<const Image>& image, const WeightSource& source, const SwapOptions& options) {
  std::optional<Code> code;
  std::string text;
  for (size_t m = 0; m < image->contents().models.size(); ++m) {
    const ModelRecord& model = image->contents().models[m];
    TN_ASSIGN_OR_RETURN(const auto before, image_weights(image, m));
    const auto planned = plan_swap(*model.program, *before, source, options);
    if (planned.ok()) continue;
    if (!code || planned.status().code() == Code::GuardViolated) code = planned.status().code();
    text += fmt::format("{}model '{}': {}", text.empty() ? "" : "\n", model.name, planned.status().to_string());
  }
  return code ? Status(*code, std::move(text)) : Status();
}

}  // namespace

Result<BakedImage> bake(const std::shared_ptr<const Image>& image, const std::shared_ptr<const WeightSource>& source,
                        const SwapOptions& options, const std::shared_ptr<ThreadPool>& pool) {
  auto result = std::make_shared<ChangedImage>(image);
  BakedImage baked;
  std::map<std::string, Tensor> shared;
  std::map<std::pair<int32_t, Hash128>, int32_t> known_sources;
  const auto spare = SpareBuffers::make();
  SwapOptions keep = options;
  keep.keep_sources = true;
  for (const ModelRecord& model : image->contents().models)
    for (const SourceInfo& info : model.program->sources) keep.elsewhere.insert(info.name);
  TN_RETURN_IF_ERROR(check_all(image, *source, keep));
  for (size_t m = 0; m < image->contents().models.size(); ++m) {
    const ModelRecord& model = image->contents().models[m];
    TN_ASSIGN_OR_RETURN(const auto before, image_weights(image, m));
    TN_ASSIGN_OR_RETURN(const auto program, WeightProgram::make(model.program));
    const SwapTools tools{*program, *spare, std::make_shared<MemoryBudget>(Limits().memory_bytes), pool.get(), &shared};
    auto made = make_new_weights(tools, *before, source, keep);
    if (!made.ok()) return std::move(made).status().in("model '" + model.name + "'");
    ModelBaker baker(*result, *image, model, *before, *made->snapshot, *source);
    TN_RETURN_IF_ERROR(baker.bake(changed_sources(*model.program, made->report), known_sources));
    baked.reports.push_back(std::move(made->report));
  }
  result->editable().made_by = image->contents().made_by;
  baked.image = std::move(result);
  return baked;
}

Result<std::shared_ptr<const Image>> strip(const std::shared_ptr<const Image>& image) {
  auto result = std::make_shared<ChangedImage>(image);
  const ArtifactContents& all = image->contents();
  std::map<int32_t, int32_t> sources;
  for (const ModelRecord& model : all.models) {
    const auto fixed = fixed_slots(*model.program);
    ModelRecord record = model;
    for (size_t slot = 0; slot < record.slots.size(); ++slot) {
      int32_t& id = record.slots[slot];
      if (id < 0) continue;
      id = (*fixed)[slot] ? result->add_packed(all.packed[static_cast<size_t>(id)], static_cast<size_t>(id), {}) : -1;
    }
    std::vector<bool> fixed_source(model.sources.size());
    for (size_t i = 0; i < model.sources.size(); ++i) fixed_source[i] = model.program->sources[i].name.empty();
    for (const Guard& guard : model.program->guards) fixed_source[static_cast<size_t>(guard.source)] = true;
    for (size_t i = 0; i < record.sources.size(); ++i) {
      const int32_t old = record.sources[i];
      const auto [it, is_new] = sources.emplace(old, -1);
      if (is_new) {
        SourceRecord source = all.sources[static_cast<size_t>(old)];
        if (!fixed_source[i]) {
          source.place = SourceRecord::Place::Absent;
          source.content = {};
          source.offset = source.bytes = 0;
          source.packed = -1;
        } else if (source.packed >= 0) {
          source.packed = result->add_packed(all.packed[static_cast<size_t>(source.packed)],
                                             static_cast<size_t>(source.packed), {});
        }
        it->second = result->add_source(std::move(source), static_cast<size_t>(old), {});
      }
      record.sources[i] = it->second;
    }
    record.made_from = {};
    result->editable().models.push_back(std::move(record));
  }
  result->editable().made_by = all.made_by;
  return std::shared_ptr<const Image>(std::move(result));
}

}  // namespace tenon
