#include "artifact/bake.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "plan/fixed_sources.h"
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
  Recompile recompile(size_t model) const override { return base_->recompile(model); }
  Result<Tensor> packed(size_t index) const override {
    const Origin& origin = packed_[index];
    return origin.base ? base_->packed(*origin.base) : Result<Tensor>(origin.tensor);
  }
  Result<Tensor> source(size_t index) const override {
    const SourceRecord& record = contents_.sources[index];
    if (record.place == SourceRecord::Place::Packed) return packed(static_cast<size_t>(record.packed));
    if (record.place == SourceRecord::Place::Absent) return not_kept(record);
    const Origin& origin = sources_[index];
    return origin.base ? base_->source(*origin.base) : Result<Tensor>(origin.tensor);
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
  // The packed tensor that a source is, as some model uses it.
  void is_packed(int32_t source, int32_t packed) {
    SourceRecord& record = contents_.sources[static_cast<size_t>(source)];
    record.place = SourceRecord::Place::Packed;
    record.packed = packed;
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

// Makes the models of a changed image from those of the image below and new snapshots.
class Baker {
 public:
  Baker(ChangedImage& result, const Image& base) : result_(result), base_(base) {}

  Status add(const ModelRecord& model, const WeightSnapshot& before, const WeightSnapshot& after,
             const std::vector<bool>& changed, const WeightSource& source) {
    const Program& program = *model.program;
    ModelRecord record = model;
    std::vector<Hash128> hashes;
    std::vector<Tensor> tensors(program.sources.size());
    for (size_t i = 0; i < program.sources.size(); ++i) {
      hashes.push_back(base_source(model, i).content);
      if (!changed[i]) continue;
      TN_ASSIGN_OR_RETURN(tensors[i], after.sources[i]->value());
      hashes[i] = content_hash(tensors[i]);
    }
    for (size_t slot = 0; slot < record.slots.size(); ++slot)
      record.slots[slot] = add_slot(model, slot, before.slots[slot], after.slots[slot], hashes);
    for (size_t i = 0; i < record.sources.size(); ++i) {
      const auto [it, is_new] = known_sources_.emplace(std::pair(model.sources[i], hashes[i]), -1);
      if (is_new) it->second = add_source(model, i, hashes[i], changed[i] ? tensors[i] : Tensor(), source);
      record.sources[i] = it->second;
    }
    // One model may pack a source that another one uses as it is.
    for (size_t slot = 0; slot < record.slots.size(); ++slot) {
      const WeightEntry& entry = program.weight_program[slot];
      if (!entry.expression && record.slots[slot] >= 0)
        result_.is_packed(record.sources[static_cast<size_t>(entry.sources[0])], record.slots[slot]);
    }
    record.made_from = {};  // no compile of the source model would give this
    result_.editable().models.push_back(std::move(record));
    return {};
  }

 private:
  const SourceRecord& base_source(const ModelRecord& model, size_t i) const {
    return base_.contents().sources[static_cast<size_t>(model.sources[i])];
  }

  int32_t carry_over(int32_t packed) {
    const auto index = static_cast<size_t>(packed);
    return result_.add_packed(base_.contents().packed[index], index, {});
  }

  int32_t add_slot(const ModelRecord& model, size_t slot, const Tensor& before, const Tensor& after,
                   const std::vector<Hash128>& hashes) {
    const int32_t old = model.slots[slot];
    if (!after.defined()) return -1;
    if (old >= 0 && after.data() == before.data()) return carry_over(old);
    const WeightEntry& entry = model.program->weight_program[slot];
    PackedRecord record;
    record.key = packed_key(*model.program, entry, hashes);
    record.dtype = after.dtype();
    record.dims = after.dims();
    record.layout = entry.layout;
    return result_.add_packed(std::move(record), std::nullopt, after);
  }

  int32_t add_source(const ModelRecord& model, size_t i, const Hash128& content, Tensor tensor,
                     const WeightSource& source) {
    SourceRecord record = base_source(model, i);
    const bool is_new = tensor.defined();
    if (is_new) keep_as_before(record, source.place(record.info.name));
    record.content = content;
    record.offset = record.bytes = 0;
    if (!is_new && record.place == SourceRecord::Place::Packed) record.packed = carry_over(record.packed);
    const auto base = static_cast<size_t>(model.sources[i]);
    return result_.add_source(std::move(record), is_new ? std::nullopt : std::optional(base), std::move(tensor));
  }

  // The new elements are kept as the old ones were: inside, or as the name of a file that has them. A weight that was
  // left open had none, so it is kept as a compile would.
  static void keep_as_before(SourceRecord& record, const std::optional<FilePlace>& place) {
    using Place = SourceRecord::Place;
    const bool was_open = record.place == Place::Absent && record.content == Hash128();
    if (record.place == Place::Packed || was_open) record.place = place ? Place::InFile : Place::Embedded;
    if (record.place == Place::InFile && !place) record.place = Place::Absent;
    record.packed = -1;
    // Where they lie in no file, the layout of the old ones stays known.
    if (place) set_file_place(record, *place);
  }

  ChangedImage& result_;
  const Image& base_;
  std::map<std::pair<int32_t, Hash128>, int32_t> known_sources_;  // by record below and content
};

std::vector<bool> changed_sources(const Program& program, const SwapReport& report) {
  std::vector<bool> changed;
  for (const SourceInfo& source : program.sources)
    changed.push_back(!source.name.empty() && std::ranges::find(report.replaced, source.name) != report.replaced.end());
  return changed;
}

}  // namespace

Result<BakeResult> bake(const std::shared_ptr<const Image>& image, const SourceOfModel& source_of,
                        const SwapOptions& options, const std::shared_ptr<ThreadPool>& pool) {
  const auto& models = image->contents().models;
  auto result = std::make_shared<ChangedImage>(image);
  BakeResult baked;
  SharedSlots shared;
  const auto spare = SpareBuffers::make();
  SwapOptions keep = options;
  keep.keep_sources = true;
  for (const ModelRecord& model : models)
    for (const SourceInfo& info : model.program->sources) keep.elsewhere.insert(info.name);
  std::vector<std::shared_ptr<const WeightSnapshot>> before;
  std::vector<std::shared_ptr<const WeightSource>> sources;
  SwapChecks checks;
  for (size_t m = 0; m < models.size(); ++m) {
    TN_ASSIGN_OR_RETURN(before.emplace_back(), image_weights(image, m));
    TN_ASSIGN_OR_RETURN(sources.emplace_back(), source_of(*before[m]));
    checks.add("model '" + models[m].name + "'", plan_swap(*models[m].program, *before[m], *sources[m], keep).status());
  }
  TN_RETURN_IF_ERROR(checks.finish());
  Baker baker(*result, *image);
  for (size_t m = 0; m < models.size(); ++m) {
    TN_ASSIGN_OR_RETURN(const auto program, WeightProgram::make(models[m].program));
    const SwapTools tools{*program, *spare, std::make_shared<MemoryBudget>(Limits().memory_bytes), pool.get(), &shared};
    auto made = make_new_weights(tools, *before[m], sources[m], keep);
    if (!made.ok()) return std::move(made).status().in("model '" + models[m].name + "'");
    const auto changed = changed_sources(*models[m].program, made->report);
    TN_RETURN_IF_ERROR(baker.add(models[m], *before[m], *made->snapshot, changed, *sources[m]));
    baked.reports.push_back(std::move(made->report));
  }
  result->editable().made_by = image->contents().made_by;
  baked.image = std::move(result);
  return baked;
}

namespace {

// Records that some model needs as they are: what it was decided by, and what no set of weights brings.
std::vector<bool> records_that_stay(const ArtifactContents& contents) {
  std::vector<bool> stay(contents.sources.size(), false);
  for (const ModelRecord& model : contents.models) {
    const std::vector<bool> fixed = fixed_sources(*model.program);
    for (size_t i = 0; i < fixed.size(); ++i)
      if (fixed[i] || !model.program->sources[i].expected) stay[static_cast<size_t>(model.sources[i])] = true;
  }
  return stay;
}

}  // namespace

Result<std::shared_ptr<const Image>> strip(const std::shared_ptr<const Image>& image) {
  auto result = std::make_shared<ChangedImage>(image);
  const ArtifactContents& all = image->contents();
  const std::vector<bool> stay = records_that_stay(all);
  const auto carry_over = [&](int32_t packed) {
    const auto index = static_cast<size_t>(packed);
    return result->add_packed(all.packed[index], index, {});
  };
  std::map<int32_t, int32_t> sources;
  for (const ModelRecord& model : all.models) {
    ModelRecord record = model;
    for (size_t slot = 0; slot < record.slots.size(); ++slot) {
      const auto& needs = model.program->weight_program[slot].sources;
      const bool stays = std::ranges::all_of(
          needs, [&](int32_t id) { return stay[static_cast<size_t>(model.sources[static_cast<size_t>(id)])]; });
      int32_t& id = record.slots[slot];
      if (id >= 0) id = stays ? carry_over(id) : -1;
    }
    for (int32_t& id : record.sources) {
      const auto old = static_cast<size_t>(id);
      const auto [it, is_new] = sources.emplace(id, -1);
      if (is_new) {
        SourceRecord source = all.sources[old];
        if (!stay[old]) {
          source.place = SourceRecord::Place::Absent;
          source.content = {};
          source.offset = source.bytes = 0;
          source.packed = -1;
        } else if (source.packed >= 0) {
          source.packed = carry_over(source.packed);
        }
        it->second = result->add_source(std::move(source), old, {});
      }
      id = it->second;
    }
    record.made_from = {};
    result->editable().models.push_back(std::move(record));
  }
  result->editable().made_by = all.made_by;
  return std::shared_ptr<const Image>(std::move(result));
}

}  // namespace tenon
